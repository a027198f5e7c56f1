"""Functions for texts that hosts send."""

from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.prompt_notice import NOTICE

_CUT = " […]"


def cut(text: str) -> str:
    """Cut the text to the limit of one event."""
    return text if len(text) <= MAX_CONTENT_CHARACTERS else text[: MAX_CONTENT_CHARACTERS - len(_CUT)] + _CUT


def is_recalled(text: str) -> bool:
    """Return True if the text came from the memory itself, which must not count it as new evidence."""
    return NOTICE in text
