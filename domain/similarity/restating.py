"""Decide whether a later statement gives a new value for an earlier statement.

"The checkout deployment has 3 replicas", "checkout is back down to 4 replicas": both speak of the same thing, each
gives one value of the same kind, and the later one tells of a change. Words of the topic that only one of them has
must not tell two things apart: "the trade fair budget" is not "the spring campaign budget".
"""

import re
from functools import lru_cache
from itertools import pairwise

from slowwave_server.domain.similarity.lexicon import stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.same_thing import owners
from slowwave_server.domain.similarity.topics import (
    OF_VERSION,
    ROLES,
    Topic,
    clauses,
    is_person,
    read_clause,
    subject_of,
)

MOST_CONTENT = 20
"""A statement of more content words tells several things."""
MOST_OWN = 3
MOST_VALUES = 6
"""A statement of more values, or of more than MOST_OWN that the other one lacks, is a list."""

_RECORD = re.compile(r"(?i)\b(?:best|record|pb|pr|max|fastest|highest|high ?score|top score|never been \w+er)\b")
_FAR = re.compile(r"(?i)\b(?:nowhere near|short of|slower than)\b")
_OF_RECORDS = frozenset("time person ever score fast high new".split())
_BESIDES = re.compile(
    r"(?i)\b(?:also|too(?=\W*$|[,.;!])|another|additional|as well|besides|both|each|plus|a (?:second|third))\b"
)
_TELLING_APART = frozenset(
    "half quarter double left right upper lower front rear guest backup old former previous test staging production "
    "prod dev mock sandbox demo spare main other".split()
)


@lru_cache(maxsize=8192)
def adds(text: str) -> bool:
    """Return True if a statement adds something to what holds: "also", "a second"."""
    return _BESIDES.search(text) is not None


def restates(older: Reading, newer: Reading, *, was_change: bool) -> bool:
    """Return True if `newer`, which tells of a change, gives another value of what `older` gives a value of.

    was_change: True if `older` tells of a change, too, so that its subject may be whoever made the change.
    """
    if "?" in newer.text or adds(newer.text):
        return False
    subject = subject_of(older)
    records = all(_RECORD.search(one.text) for one in (older, newer))
    if not was_change and not records and _tells_event(older):
        return False
    if records and (not _share_event(older, newer) or _FAR.search(older.text) or owners(older) - newer.distinct_stems):
        return False
    return any(
        _is_anew(before, after, subject, was_change=was_change, with_names=not records)
        for before in ([read_clause(older.text)] if records else clauses(older.text))
        for after in ([read_clause(newer.text)] if records else clauses(newer.text))
    )


def _share_event(older: Reading, newer: Reading) -> bool:
    """Return True if two bests share more than the word "best": the distance, the exercise, the game."""
    shared = set(read_clause(older.text).topic) & set(read_clause(newer.text).topic)
    return any(_RECORD.fullmatch(one) is None and one not in _OF_RECORDS for one in shared)


def _tells_event(reading: Reading) -> bool:
    """Return True if the verb is a past form: what happened once may happen again with another value."""
    verb = next((token for token in reading.tokens[reading.clause.end :] if token.kind != "negator"), None)
    if verb is None or verb.kind != "word" or verb.lower == verb.lemma:
        return False
    return not verb.lower.endswith(("s", "ing"))


def restates_owned(older: Reading, newer: Reading) -> bool:
    """Return True if both give a number of the same thing of one owner, in the same words: "my Elo is 1260"."""
    before, after = read_clause(older.text), read_clause(newer.text)
    if not (before.is_owned and after.is_owned) or "user" not in older.doer.stems & newer.doer.stems:
        return False
    mine, its = before.own(after, with_names=True), after.own(before, with_names=True)
    if len(mine) != 1 or len(its) != 1 or mine[0].kind != its[0].kind or not mine[0].kind.startswith("number"):
        return False
    shared = set(before.topic) & set(after.topic)
    left = set(before.topic) - shared - {mine[0].same}
    return bool(shared) and not left and restates(older, newer, was_change=False)


def told_apart(older: Reading, newer: Reading) -> bool:
    """Return True if the subjects are two kinds of one thing ("the upload limit", "the download limit"), if the
    older one is about somebody whom the newer one does not mention ("the user's assistant"), or if both a name and
    another value differ ("30 people in Porto", "22 people in Lisbon").
    """
    mine, its = (subject_of(reading) & set(read_clause(reading.text).topic) for reading in (older, newer))
    people = {token.stem for token in older.tokens[older.clause.start : older.clause.end] if is_person(token)}
    is_other = newer.doer.head == "user" and not people <= newer.distinct_stems
    before, after = read_clause(older.text), read_clause(newer.text)
    verbs = before.verbs | after.verbs
    if _gives_name_and_more(before, after) and _gives_name_and_more(after, before):
        return True
    return is_other or bool(mine & its and mine - its - verbs and its - mine - verbs)


def _gives_name_and_more(said: Topic, other: Topic) -> bool:
    kinds = {value.kind for value in said.own(other, with_names=True)}
    return "name" in kinds and len(kinds) > 1


def are_plain(older: Reading, newer: Reading) -> bool:
    """Return True if both are short and give few values, so that neither is a list or a plan, and speak of the same
    relatives.
    """
    before, after = read_clause(older.text), read_clause(newer.text)
    short = all(len(one.content) <= MOST_CONTENT for one in (older, newer))
    return short and max(len(before.values), len(after.values)) <= MOST_VALUES and before.kin == after.kin


def _is_anew(before: Topic, after: Topic, subject: frozenset[str], *, was_change: bool, with_names: bool) -> bool:
    mine, its = before.own(after, with_names=with_names), after.own(before, with_names=with_names)
    kinds = {one.kind for one in mine}
    if len(kinds) > 1:
        kinds -= {"date"}
    if len(kinds) != 1 or max(len(mine), len(its)) > MOST_OWN or before.kin != after.kin:
        return False
    kind = next(iter(kinds))
    mine = [one for one in mine if one.kind == kind]
    if kind == "name" and not after.is_transfer:
        return bool(its) and {one.kind for one in its} <= {"name", "date"} and _speak_of_one_role(before, after)
    shared = set(before.topic) & set(after.topic)
    rivals = [one for one in its if _is_alternative(kind, one.kind, many=len(shared) > 1)]
    others = {one.kind.partition(" ")[0] for one in its if one not in rivals} - {"date", "time"}
    if not rivals or others or (kind not in {"date", "time"} and len(mine) > 1):
        return False
    if kind == "name" and shared <= {one.same for one in before.values}:
        return False
    named = subject & {*before.topic, *(stem(one.same) for one in before.values)}
    if (named and not was_change and named.isdisjoint(shared)) or any(
        one.same in named or stem(one.same) in named for one in mine
    ):
        return False
    return _speak_of_one_thing(before, after, shared)


def _is_alternative(kind: str, other: str, *, many: bool) -> bool:
    both_identify = kind.startswith("id ") and other.startswith("id ") and OF_VERSION not in {kind, other}
    return kind == other or (many and both_identify)


def _speak_of_one_thing(before: Topic, after: Topic, shared: set[str]) -> bool:
    if not shared or not _TELLING_APART.isdisjoint(set(before.topic) ^ set(after.topic)):
        return False
    return not words_apart(before, after, shared)


def _speak_of_one_role(before: Topic, after: Topic) -> bool:
    """Return True if both name the person of one place: "Dana is on call for payments", "payments on-call: Felix"."""
    mine, its = (set(said.topic) - said.verbs - {value.same for value in said.values} for said in (before, after))
    if ROLES.isdisjoint(mine) or not mine & its:
        return False
    if mine & its <= ROLES:
        return mine == its and before.is_owned and after.is_owned
    return not (its - mine) - ROLES and (not (mine - its) - ROLES or not ROLES.isdisjoint(its))


def words_apart(before: Topic, after: Topic, shared: set[str]) -> bool:
    """Return True if each has a word beside a shared one that may tell it from the other: "trade fair", "spring"."""
    return bool(_beside(before, shared) and _beside(after, shared))


def _beside(said: Topic, shared: set[str]) -> set[str]:
    """Return the words beside a shared word that may tell it from another one."""
    values = {value.same for value in said.values}
    found = set()
    for one, other in pairwise(said.topic):
        if (one in shared) != (other in shared):
            found.add(other if one in shared else one)
    return found - values - said.verbs
