"""Decide whether a later statement gives the next value of a thing, also in other words.

The later statement does one of four things. It names the earlier value and gives another one in another clause
("Stockholm was too slow, the resizer runs in Milan"). It repeats subject and verb with another value ("we keep 55 sheep
now"). It says that something is as it was before ("is on call again"). Or it tells of something new and gives another
value of the same kind, and both share two words of the topic ("the canteen refit"). The times of the two tell which one
holds now, so both directions of an update in the model of meaning count.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from slowwave_server.domain.similarity.amounts import values_differ
from slowwave_server.domain.similarity.lexicon import stem
from slowwave_server.domain.similarity.meaning import MeaningOf
from slowwave_server.domain.similarity.moving_on import is_present
from slowwave_server.domain.similarity.reading import Reading, read
from slowwave_server.domain.similarity.restating import BESIDES, told_apart, words_apart
from slowwave_server.domain.similarity.topics import OF_VERSION, OPEN, Topic, Value, parts_of, read_clause

_GIVES_UP = re.compile(
    r"(?i)\b(?:too|gone|left|retire[ds]|emigrated|forget|instead|no longer|not|never|any ?more|replaced|made way|"
    r"died|broke|broken|dead|closed|sold|stopped|quits?|gave|given|handed|joke|out of|over|expired|"
    r"resigned|stepped down|on (?:\w+ )?leave|moved|went|flooded|horrible|awful)\b"
)
"""Words with which a clause takes leave of the value that it names."""
_RETURNS = re.compile(r"(?i)\b(?:again|once more|back|re(?:joined|turned)|as (?:it was )?before|has become|is over)\b")
_CHANGED_TO = re.compile(
    r"(?i)\b(?:(?!used)\w{3,}ed|lift|lifts|raise|cut|put|went|fell|rose|risen|grew|come|came|is (?:down|up))\b"
    r"(?: (?!to\b)[\w'-]+){0,8} to (?:about |only |just )?[$€£]?\d"
)
"""A verb of the past that ends at a number: "trimmed the canteen refit budget to 34,000"."""
_NEWS = re.compile(
    r"(?i)\b(?:latest|went live|became|becomes?|becoming|capped|squeezed|promoted|for now|for the time being|"
    r"until further notice|today|tonight|this morning|last night|yesterday|and not|rather than|made way)\b"
)
"""Words that tell of something new, beside those of `tells_change`."""
_NEVER, _BARELY, _POSSIBLE, _LIKELY, _SURE = 0.0, 0.05, 0.35, 0.45, 0.7
"""The least probability, by the model, that only one of two statements holds now."""
_MANY = 2
_MOST_VALUES = 4
_ROOT = 6
"""Letters of a stem that two forms share: "statistics", "statistical"."""


def succeeds(
    older: Reading, newer: Reading, meaning: MeaningOf | None, speakers: set[str], *, is_change: bool, was_change: bool
) -> bool:
    """Return True if `newer` gives the value that follows the one in `older`.

    speakers: the names of those who spoke; is_change, was_change: True if the newer, the older one tells of a change.
    """
    was_new = was_change or _tells_news(older.text)
    if "?" in newer.text or not (was_new or is_present(older)):
        return False
    before, after = read_clause(older.text), read_clause(newer.text)
    if max(len(before.values), len(after.values)) > _MOST_VALUES:
        return False
    least = _SURE if BESIDES.search(newer.text) else _NEVER
    if is_change and least == _NEVER and _fills_the_frame(older, newer):
        return True
    is_new = is_change or _tells_news(newer.text)
    speakers = {stem(name) for name in speakers}
    needed = [_names_the_old(before, newer.text, speakers, is_new=is_new)]
    if OPEN.search(newer.text) is None and len(_shared(before, after) - {name[:_ROOT] for name in speakers}) >= _MANY:
        if was_new and _RETURNS.search(newer.text):
            needed.append(_LIKELY)
        needed.append(_measures_again(older, newer, is_new=is_new))
    wanted = max(least, min(needed))
    return wanted == _NEVER or (wanted < 1 and _excludes(older, newer, meaning) > wanted)


def _excludes(older: Reading, newer: Reading, meaning: MeaningOf | None) -> float:
    told = None if meaning is None else meaning(older.text, newer.text)
    return 0.0 if told is None else told.contradiction


def _names_the_old(before: Topic, newer: str, speakers: set[str], *, is_new: bool) -> float:
    """Return the probability that is needed if a clause names the earlier value, and another one gives the next;
    otherwise 1.
    """
    known = {value.same: value.kind for value in before.values if value.same not in speakers}
    parts = [(part, read_clause(part)) for part in parts_of(newer) if not OPEN.search(part)]
    for words, left in parts:
        old = {same: kind for same, kind in known.items() if same in left.words}
        given_up = _GIVES_UP.search(words) is not None
        for _, said in parts:
            if not old or said is left or not old.keys().isdisjoint(said.words):
                continue
            fits = _rivals(old.values(), said.own(before, with_names=True))
            shared = (set(before.topic) & {*said.topic, *left.topic}) - known.keys() - speakers
            if fits and shared and (given_up or is_new):
                return _BARELY if given_up else _POSSIBLE
    return 1.0


def _fills_the_frame(older: Reading, newer: Reading) -> bool:
    """Return True if a clause of the newer one has the subject and the verb of the older one, and another value."""
    before, frame = read_clause(older.text), _frame(older)
    for part in parts_of(newer.text) if frame else ():
        after = read_clause(part)
        mine, its = before.own(after, with_names=True), after.own(before, with_names=True)
        if _frame(read(part)) != frame or len(mine) != 1 or len(its) != 1:
            continue
        # Names may hold beside each other: "knows Pim", "knows Ines now".
        if mine[0].kind != its[0].kind or mine[0].kind == "name":
            continue
        left, right = (set(said.topic) - said.verbs - {one.same for one in said.values} for said in (before, after))
        if left <= right or right <= left:
            return True
    return False


def _frame(reading: Reading) -> tuple[str, ...]:
    """Return the subject and the verb, "user" for "we"; nothing if the statement has none."""
    tokens = reading.tokens[reading.clause.start :]
    if tokens and tokens[0].lower.partition("'")[0] in {"we", "i"}:
        return next((("user", token.lemma) for token in tokens if token.kind == "word"), ())
    verb = reading.clause.verb
    return () if verb in {"", "be"} else (*sorted(reading.doer.stems), verb)


def _measures_again(older: Reading, newer: Reading, *, is_new: bool) -> float:
    """Return the probability that is needed if both give a value of one kind; otherwise 1.

    is_new: True if the newer one tells of something new.
    """
    before, after = read_clause(older.text), read_clause(newer.text)
    mine, its = before.own(after, with_names=True), after.own(before, with_names=True)
    kinds = _rivals((one.kind for one in mine), its)
    if not kinds - {"name"} or not is_new or told_apart(older, newer):
        return 1.0
    if kinds == {"number"} and not values_differ(older.tokens, newer.tokens):
        return 1.0
    if words_apart(before, after, set(before.topic) & set(after.topic)):
        return _SURE
    return _BARELY if _CHANGED_TO.search(newer.text) else _POSSIBLE


@lru_cache(maxsize=8192)
def _tells_news(text: str) -> bool:
    return any(sign.search(text) for sign in (_NEWS, _CHANGED_TO))


def _shared(before: Topic, after: Topic) -> set[str]:
    """Return the roots of the words that both topics share, without values; a name counts."""
    mine, its = (
        {stem[:_ROOT] for stem in set(said.topic) - {value.same for value in said.values if value.kind != "name"}}
        for said in (before, after)
    )
    return mine & its


def _rivals(kinds: Iterable[str], values: Iterable[Value]) -> set[str]:
    """Return the kinds of the values that may replace a value of one of `kinds`."""
    known = list(kinds)
    return {one.kind.partition(" ")[0] for one in values if any(_alike(kind, one.kind) for kind in known)}


def _alike(one: str, other: str) -> bool:
    """Return True if two values may replace each other: a bare number fits any unit, a name fits an identifier."""
    if one == other:
        return True
    kinds = {one.partition(" ")[0], other.partition(" ")[0]}
    if kinds == {"number"}:
        return "number " in {one, other}
    return kinds <= {"name", "id"} and OF_VERSION not in {one, other}
