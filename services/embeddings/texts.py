"""Build the texts to embed."""

from datetime import date


def memory_text(content: str, said_on: date) -> str:
    """Return a memory after its day, as "(7 May 2023) Maya moved to Lisbon"."""
    return f"({said_on:%-d %B %Y}) {content}"


def passage_text(content: str, speaker: str, heading: str) -> str:
    """Return a passage after its speaker and the heading above it."""
    return f"{speaker}: {heading}: {content}" if heading else f"{speaker}: {content}"
