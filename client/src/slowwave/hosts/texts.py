"""Texts on their way from a host to the memory."""

from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.prompt_notice import NOTICE

_CUT = " […]"


def cut(text: str) -> str:
    """The text, shortened to the limit of one event."""
    return text if len(text) <= MAX_CONTENT_CHARACTERS else text[: MAX_CONTENT_CHARACTERS - len(_CUT)] + _CUT


def is_recalled(text: str) -> bool:
    """Whether the text came from the memory itself: it must not become evidence for itself."""
    return NOTICE in text
