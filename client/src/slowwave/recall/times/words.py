"""A query as tokens: each word with its meaning for times, in the language of the query.

The words of each language are data, in `languages/CODE.json`:

    marks       frequent words that identify the language of a query
    articles    words without meaning for a time, which are skipped
    tags        a tag with its value, and its words; "_" joins the words of one expression; "=": replacement words
    compounds   words that follow a season in another meaning ("spring boot")
    hints       words that ask for a time or an order; a query without one, and without a time, is not parsed further
    ordered, when, first, latest, ahead, strict     the kind of a query, as regular expressions
    anchor      words that begin a clause with an event that limits the time
    says        a text that gives a time, as a regular expression

Tags are letters, so that the grammar (grammar.py) is regular expressions over them: M month, W day of the week, S
season, U unit, N number, O ordinal, Y year, D date, T day from today, n part of a day, L last, p past, C this, X next,
A ago, G ago (before the number), B before, F after, Z since, V until, v by, K between, R from, J and, Q to, I in, f
for, E of, e third, H half, h half a year, q quarter, d decade, t "this time", "." any other word.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from slowwave.recall.times.hints import LANGUAGES, data

LONGEST_EXPRESSION = 4
_TOKEN = re.compile(
    r"(?<![\w.])(?P<iso>\d{4}[-/]\d{1,2}[-/]\d{1,2})(?![\w/-]|\.\d)"
    r"|(?<![\w.])(?P<dotted>\d{1,2}\.\d{1,2}\.\d{4})(?!\.?\w)"
    r"|(?<![\w./])(?P<slashed>\d{1,2}/\d{1,2}(?:/\d{4})?)(?![\w/])"
    r"|(?<![\w.])(?P<decade>(?:19|20)?\d0)['\u2019]?s\b"
    r"|\bq(?P<quarter>[1-4])\b"
    r"|\w+(?:[.@:/]\w+)+"
    r"|(?<![\w.])(?P<number>\d{1,4})(?P<ordinal>st|nd|rd|th|er|º|ª|\.(?=\s\w))?(?!\w)"
    r"|[^\W_]+"
    r"|(?P<mark>[,;:?!.()\n])",
    re.IGNORECASE,
)
_FIRST_YEAR, _LAST_YEAR = 1900, 2099


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number, a date or an expression of a query.

    tag: its meaning for times, as a letter (see the module). value: its value for this tag, such as 3 for
    March (tag M); "" for tag ".". start, end: its offsets in the text.
    """

    tag: str
    value: int | str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language."""

    code: str
    marks: frozenset[str]
    articles: frozenset[str]
    meanings: Mapping[str, tuple[str, int | str]]
    compounds: frozenset[str]
    patterns: Mapping[str, re.Pattern[str]]
    anchors: tuple[tuple[str, str], ...]

    def knows(self, word: str) -> int:
        """Return a score for this language: two points for each frequent word, one for each word about time."""
        return 2 * (word in self.marks) + (word in self.meanings)

    def has(self, what: str, text: str) -> bool:
        """Return True if the text matches the pattern with this name."""
        return self.patterns[what].search(text) is not None


@cache
def language(code: str) -> Language:
    """Read a language's data."""
    known = data(code)
    meanings: dict[str, tuple[str, int | str]] = {}
    for key, words in known["tags"].items():
        tag, value = key[0], key[1:]
        meaning = (tag, int(value) if re.fullmatch(r"-?\d+", value) else value)
        for word in words.split():
            meanings.setdefault(word, meaning)
    anchors = [
        (word.replace("_", " "), relation) for relation, said in known["anchor"].items() for word in said.split()
    ]
    return Language(
        code,
        frozenset(known["marks"].split()),
        frozenset(known["articles"].split()),
        meanings,
        frozenset(known["compounds"].split()),
        {name: re.compile(known[name]) for name in ("ordered", "when", "first", "latest", "ahead", "strict", "says")},
        tuple(sorted(anchors, key=lambda anchor: -len(anchor[0]))),
    )


def language_of(text: str) -> Language:
    """Return the language with the most words in the text (in lower case); English if the text does not tell."""
    words = re.findall(r"[^\W\d_]+", text)
    return max((language(code) for code in LANGUAGES), key=lambda known: sum(map(known.knows, words)))


def tokens(text: str, spoken: Language) -> list[Token]:
    """Split a text in lower case into tokens. Articles are skipped; an expression of several words is one token."""
    raw = list(_TOKEN.finditer(text))
    found: list[Token] = []
    place = 0
    while place < len(raw):
        for length in range(min(LONGEST_EXPRESSION, len(raw) - place), 0, -1):
            words = "_".join(match[0] for match in raw[place : place + length])
            if words in spoken.meanings:
                break
        start, end = raw[place].start(), raw[place + length - 1].end()
        if words in spoken.meanings:
            tag, value = spoken.meanings[words]
            if tag == "=":
                found += [Token(t.tag, t.value, start, end) for t in tokens(str(value), spoken)]
            else:
                found.append(Token(tag, value, start, end))
        elif words not in spoken.articles and not (words == "." and found and found[-1].tag in "MW"):
            found.append(_unknown(raw[place]))
        place += length
    return found


def _unknown(match: re.Match[str]) -> Token:
    """Return a token for a word that the language does not list: a number, a date, or any other word."""
    tag, value = ".", ""
    if (written := match["iso"] or match["dotted"] or match["slashed"]) is not None:
        tag, value = "/" if written.count("/") == 1 else "D", written
    elif match["decade"] is not None:
        tag, value = "d", match["decade"]
    elif match["quarter"] is not None:
        tag, value = "q", match["quarter"]
    elif (number := match["number"]) is not None:
        year = _FIRST_YEAR <= int(number) <= _LAST_YEAR
        tag, value = ("Y" if year else "N") if match["ordinal"] is None else "O", number
    elif match["mark"] is not None:
        tag = "," if match["mark"] == "," else ";"
    return Token(tag, int(value) if value.isdigit() else value, match.start(), match.end())
