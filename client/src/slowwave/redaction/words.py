r"""Load `words.json`: words by which people announce a secret, and words that never are a secret, in small letters.

Every list applies to texts of every language.

noun      kinds of secrets. value: the form of such a secret, a name of `values.VALUES`; it is searched near a whole
          word of `words`, or near a part of a word in `stems`. patterns: its phrases as regular expressions, in which
          \< and \> are the bounds of a word
behind    words in front of a value. signs: a value follows, also after several signs ("is still"); turns: a value may
          follow if it looks like one ("change my password to …"); of: the owner of the secret follows ("the password of
          the router …"); changes: a plain word after "to" is a password; uses, used_with: words in front of the noun
          ("log in with my password …"); glued: signs of Chinese and Japanese, which have no blanks
ahead     words between a value and its noun ("… is my PIN", "use … as the password")
prose     words after "the password is" that are no password, by language. endings: of adjectives and participles ("the
          password is expired"); units: a number of these is no PIN; follow: words that may follow a plain password;
          phrases: the beginnings of words for a passphrase; grammar: words of which a wallet's phrase has few
"""

import json
import re
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
    """Words for one kind of secret; the module's docstring explains the fields."""

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


_DATA = json.loads(files("slowwave.redaction").joinpath("words.json").read_text("utf-8"))
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
