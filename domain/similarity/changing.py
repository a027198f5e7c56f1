"""Decide whether a later statement says that the state in an earlier statement has changed.

The later statement must contain a word for a change: "now", "switched to", "no longer". In addition, one of three
conditions must hold: the model of meaning sees a contradiction; both statements give different numbers of one unit for
the same subject; or the later one says that a thing has ended on which the earlier one depends.
"""

import re
from collections.abc import Sequence

from slowwave_server.domain.similarity.meaning import CHANGED_FROM, Meaning
from slowwave_server.domain.similarity.quotes import plain_words
from slowwave_server.domain.similarity.reading import Reading, read
from slowwave_server.domain.similarity.tokens import Token

_CHANGE = re.compile(
    r"(?i)\b(?:now(?:adays)?|these days|no longer|any ?(?:more|longer)|from now on|from (?:today|this|next|\w+day)|"
    r"as of|since|starting|instead|again|by now|at the moment|new|personal best|record|ever|already|gone|"
    r"moved|shifted|switched|changed|upgraded|updated|raised|increased|lowered|reduced|cut|replaced|renewed|extended|"
    r"postponed|pushed|bumped|scaled|doubled|halved|dropped|reached|climbed|handed over|swapped|took over|"
    r"rolled (?:out|back)|migrated|renamed|retired|grew|outgrown|goes up|went up|up to|down to|back (?:to|down|up|at)|"
    r"extension|left|quit|stopped|gave up|cancell?ed|joined|started|sold|broke up|took .{1,30} off)\b"
)
_ENDED = re.compile(
    r"(?i)\b(?:left|quit|cancell?ed|sold|closed|retired|broke up|split up|gone|no longer|stopped|any ?(?:more|longer)|"
    r"replaced|dropped|rejected|withdrew|switched off|moved (?:back|away|out)|took .{1,20} off|frozen|outgrown|"
    r"gave up|resigned)\b"
)
_BEFORE, _AFTER = 25, 30
"""Characters around the words of an end in which the name of the ended thing stands."""
_MOST_NUMBERS = 2
"""A statement with more numbers is a list or a plan."""
_NOW = frozenset("am is are has have 's 'm 're".split())
_ONCE = frozenset(("was", "always"))
_BESIDE = (-1, 1, 2)
"""Places of the word that may be the unit of a number: "Python 3.12", "29 dollars", "1,000 requests"."""


def tells_change(text: str) -> bool:
    """Return True if a statement says that something is new or has ended."""
    return _CHANGE.search(text) is not None


def changes(newer: Reading, older: Reading, told: Meaning | None) -> bool:
    """Return True if `newer`, said later, says that `older` is no longer true. told: the model's answer, or None."""
    if not tells_change(newer.text):
        return False
    if told is not None and told.contradiction >= CHANGED_FROM:
        return True
    one, other = read(plain_words(older.text)), read(plain_words(newer.text))
    return _measures_anew(one, other) or _ends_named(one, other)


def _measures_anew(older: Reading, newer: Reading) -> bool:
    """Return True if both name the subject of the older one, and give different numbers of one unit."""
    subject = older.doer.stems - {"user"}
    if not subject or not subject <= newer.distinct_stems:
        return False
    before, after = _numbers(older.tokens), _numbers(newer.tokens)
    if max(len(older.quantities), len(newer.quantities)) > _MOST_NUMBERS:
        return False
    return any(unit in after and numbers.isdisjoint(after[unit]) for unit, numbers in before.items())


def _numbers(tokens: Sequence[Token]) -> dict[str, set[str]]:
    """Return the numbers of a statement by the words beside them."""
    found: dict[str, set[str]] = {}
    for at, token in enumerate(tokens):
        if token.kind in {"number", "time"}:
            for beside in _BESIDE:
                if 0 <= at + beside < len(tokens) and tokens[at + beside].kind in {"word", "name"}:
                    found.setdefault(tokens[at + beside].stem, set()).add(token.lemma)
    return found


def _ends_named(older: Reading, newer: Reading) -> bool:
    """Return True if the newer one says that a named thing has ended, and the older one states something about this
    thing.
    """
    words = newer.text.lower()
    end = _ENDED.search(words)
    if end is None or not (_is_present(older) or tells_change(older.text)):
        return False
    around = words[max(0, end.start() - _BEFORE) : end.end() + _AFTER]
    # A person of whom both tell has not ended.
    names = older.names & newer.names - (older.doer.names & newer.doer.names) - {"user"}
    return any(name in around for name in names)


def _is_present(reading: Reading) -> bool:
    verb = next((token.lower for token in reading.tokens[reading.clause.end :] if token.kind != "negator"), "")
    return verb in _NOW or (verb.endswith("s") and verb not in _ONCE)
