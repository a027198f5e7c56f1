"""The texts that vectors are made of.

Must not know: where they come from, what makes vectors of them.
"""

from datetime import date

# Of the turn before: enough for a question, and room is left for the answer to it.
BEFORE_CHARACTERS = 400


def memory_text(content: str, said_on: date) -> str:
    """A memory after its day, as "(7 May 2023) Maya moved to Lisbon"."""
    return f"({said_on:%-d %B %Y}) {content}"


def event_text(content: str, speaker: str, before: str | None) -> str:
    """An event after the end of the turn before it: "Yes, in May!" is found by the question that it answers."""
    said = f"{speaker}: {content}"
    return f"{before[-BEFORE_CHARACTERS:]} {said}" if before else said
