"""Strip invisible characters that programs and models still read from text."""

import re
import unicodedata

from slowwave.lazy_patterns import lazy_pattern

# Never useful here: direction marks, fillers, soft hyphens, tags, ideograph selectors, lone surrogates.
_ALWAYS = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SOMETIMES = "\u200c\u200d\ufe0e\ufe0f"
"""Joiners and the two selectors of emoji: they belong inside emoji and between letters of scripts that join."""
INVISIBLE = lazy_pattern(f"[{_ALWAYS}{_SOMETIMES}]")
_GONE = lazy_pattern(f"[{_ALWAYS}]+")
_RUN = re.compile(f"[{_SOMETIMES}]+")
_KEYCAP = "\u20e3"
_JOINING = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x18AF), (0x1A20, 0x1AAF))
"""Scripts whose letters joiners connect or keep apart: Arabic, those of India and its neighbours, Khmer, Mongolian."""


def strip_invisible(text: str) -> str:
    """Return the text without invisible characters. Characters inside an emoji stay, as do joiners between two letters
    that may be joined.

    A second call changes nothing.
    """
    seen = _GONE.sub("", text)
    return _RUN.sub(_kept, seen)


def _kept(match: re.Match[str]) -> str:
    """Return the part of a run of joiners and selectors that is legitimate at its position."""
    run, text = match[0], match.string
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if run in {"\ufe0e", "\ufe0f"}:
        return run if _is_emoji(before) or after == _KEYCAP else ""
    if run in {"\u200d", "\ufe0f\u200d"} and _is_emoji(before) and _is_emoji(after):
        return run
    return run if run in {"\u200c", "\u200d"} and _joins(before) and _joins(after) else ""


def _is_emoji(sign: str) -> bool:
    return sign != "" and unicodedata.category(sign) in {"So", "Sk"} and not sign.isascii()


def _joins(sign: str) -> bool:
    if not sign or unicodedata.category(sign)[0] not in "LM":
        return False
    return any(first <= ord(sign) <= last for first, last in _JOINING)
