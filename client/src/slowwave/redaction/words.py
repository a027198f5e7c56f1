"""Load `words.toml`: words by which people announce a secret, and words that never are a secret."""

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, NamedTuple

from slowwave.lazy_patterns import lazy_pattern

CJK = "\u3040-\u30ff\u3400-\u9fff"
"""Chinese and Japanese, whose words stand without blanks: a set of characters for a regular expression."""
WORD = lazy_pattern(rf"[^\W_{CJK}]+")
"""A word, but of Chinese and Japanese."""
_BOUNDS = {r"\<": rf"(?<![^\W_{CJK}])", r"\>": rf"(?![^\W_{CJK}])"}


class Noun(NamedTuple):
    """Words for one kind of secret; the fields are explained in `words.toml`."""

    kind: str
    value: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    pattern: re.Pattern[str]


def any_of(parts: Iterable[str]) -> str:
    """Return a regular expression that matches any of the words."""
    return f"(?:{'|'.join(parts)})"


def _noun(entry: dict[str, Any]) -> Noun:
    pattern = any_of(entry["patterns"])
    for mark, bound in _BOUNDS.items():
        pattern = pattern.replace(mark, bound)
    return Noun(entry["kind"], entry["value"], tuple(entry["words"]), tuple(entry["stems"]), lazy_pattern(pattern))


_DATA = tomllib.loads(files("slowwave.redaction").joinpath("words.toml").read_text("utf-8"))
_LANGUAGES = ("en", "de", "fr", "es_pt", "it", "ru")

NOUNS: tuple[Noun, ...] = tuple(map(_noun, _DATA["noun"]))
BEHIND: dict[str, list[str]] = _DATA["behind"]
AHEAD: dict[str, list[str]] = _DATA["ahead"]
PROSE = frozenset(word for language in _LANGUAGES for word in _DATA["prose"][language])
"""Words that stand behind "the password is" and are no password."""
ENDINGS = lazy_pattern(rf"{any_of(_DATA['prose']['endings'])}$")
UNITS = any_of(_DATA["prose"]["units"])
FOLLOW = any_of(_DATA["prose"]["follow"])
PHRASES = tuple(_DATA["prose"]["phrases"])
"""How words for a password of several words begin."""
GRAMMAR = frozenset(_DATA["prose"]["grammar"])
