"""The texts that vectors are made of."""

from datetime import date


def memory_text(content: str, said_on: date) -> str:
    """A memory after its day, as "(7 May 2023) Maya moved to Lisbon"."""
    return f"({said_on:%-d %B %Y}) {content}"


def passage_text(content: str, speaker: str, heading: str) -> str:
    """A passage after its speaker and the heading above it."""
    return f"{speaker}: {heading}: {content}" if heading else f"{speaker}: {content}"
