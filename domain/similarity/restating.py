"""Decide whether a later statement gives a new value of what an earlier statement says.

"The checkout deployment has 3 replicas", "checkout is back down to 4 replicas": both speak of the same thing, each
gives one value of the same kind, and the later one tells of a change. Words of the topic that only one of them has
must not tell two things apart: "the trade fair budget" is not "the spring campaign budget".
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile

from slowwave_server.domain.similarity.amounts import unit_of
from slowwave_server.domain.similarity.lexicon import is_common_word, parts_of_speech, stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.tokens import Token, tokenise

MOST_CONTENT = 20
"""A statement of more content words tells several things."""
MOST_OWN = 3
MOST_VALUES = 6
"""A statement of more values, or of more than MOST_OWN that the other one lacks, is a list."""

_CLAUSES = re.compile(
    r"(?<=[\w)\"'%])[.;!?]\s+|,\s+(?:(?:so|and|but|because|since|which|as|no|still)\s+)?|\s[\u2013\u2014-]\s|"
    r"\s+(?:because|since|so that|so|after|ahead of|until|before|while|although|though|now that|thanks to|due to)\s+"
)
_RECORD = re.compile(r"(?i)\b(?:best|record|pb|pr|max|fastest|highest|high ?score|top score)\b")
OPEN = re.compile(
    r"(?i)\b(?:if|would|could|might|(?-i:may)|should|maybe|perhaps|wants?|wish(?:es)?|hop(?:es?|ing)|plan(?:s|"
    r"ned)? (?:to|"
    r"on)|planning|"
    r"consider(?:s|ing)?|thinking|goal|aims?|needs? to|trying|asked|wonder\w*|proposed?|suggest\w*|recommend\w*|"
    r"options?|instead of (?:just|only)|about to|going to|delivered \W)\b"
)
"""Words of a wish, a plan, a question or a proposal, which change nothing yet."""
BESIDES = re.compile(r"(?i)\b(?:also|too|another|additional|as well|besides|both|each|plus|second|third)\b")
_TELLING_APART = frozenset(
    "half quarter double left right upper lower front rear guest backup old former previous test staging production "
    "prod dev mock sandbox demo spare main other".split()
)
_KIN = frozenset(
    "friend colleague coworker roommate flatmate neighbour neighbor boss partner girlfriend boyfriend mate mum mom "
    "mother dad father brother sister son daughter husband wife nephew niece cousin uncle aunt grandma grandpa "
    "grandmother "
    "grandfather parent kid baby dog cat".split()
)
_TIMES = frozenset(
    "last next today yesterday tomorrow tonight morning evening afternoon night noon day week weekend weekday month "
    "year "
    "quarter summer winter spring autumn time moment hour minute second daily weekly monthly again now once "
    "twice".split()
)
_LIGHT = frozenset(
    "be have do get go come make take put set keep give say need use run work live start move change switch raise "
    "lower increase reduce cut bump push shift upgrade update climb drop reach hit scale double halve extend renew "
    "replace "
    "hand finish pass fall rise stand lose win new old just already back down up finally currently recently please big "
    "personal good only revise resize reschedule reassign grow jump exceed measure set land".split()
)
ROLES = frozenset(
    stem(word)
    for word in "manager manage lead leader owner own belong contact call charge responsible pager chair captain head "
    "host judge counsel doctor gp dentist nanny advisor adviser coach teacher trainer tutor landlord supplier provider "
    "master maintainer treasurer president director editor secretary representative sponsor mentor supervisor report "
    "reviewer".split()
)
"""Stems of words for a place that one person has at a time."""
_ACRONYMS = frozenset("api ci cd db url ip id sla slo ui os vm cpu gpu ram hr it ttl vat pr".split())
"""Capitals that name no certain thing."""
_LETTERS, _DIGITS = re.compile(r"[a-z]+"), re.compile(r"\d+")
_VERSION = re.compile(r"v?\d[\d.]*\Z")
_IDENTIFIER = re.compile(r"\w[-_./]\w")
_PARTS = re.compile(r"[-/]")
_NO_TOPIC = _LIGHT | _TIMES | {"user", "on", "in", "by", "up"}
_SHORT = 3
_OF_VERSION = "id v0"
_SECONDS = re.compile(r"\b(\d{1,2}:\d\d):\d\d\b")


@dataclass(frozen=True, slots=True)
class _Value:
    """A value with its kind: only values of one kind replace each other. same: its spelling in comparisons."""

    kind: str
    same: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A clause. values: its values; topic: the stems and the values in it, in order; verbs: those stems that
    are verbs; kin: the relatives in it.
    """

    words: frozenset[str]
    values: tuple[_Value, ...]
    topic: tuple[str, ...]
    verbs: frozenset[str]
    kin: frozenset[str]

    def own(self, other: "_Said", *, with_names: bool) -> list[_Value]:
        """Return the values that the other clause does not give."""
        known = {value.same for value in other.values} | other.words
        return [one for one in self.values if one.same not in known and (with_names or one.kind != "name")]


def restates(older: Reading, newer: Reading, *, was_change: bool) -> bool:
    """Return True if `newer`, which tells of a change, gives another value of what `older` gives a value of.

    was_change: True if `older` tells of a change, too, so that its subject may be whoever made the change.
    """
    if "?" in newer.text or BESIDES.search(newer.text):
        return False
    subject = subject_of(older)
    records = all(_RECORD.search(one.text) for one in (older, newer))
    if not was_change and not records and _tells_event(older):
        return False
    return any(
        _is_anew(before, after, subject, was_change=was_change, with_names=not records)
        for before in ([read_clause(older.text)] if records else _clauses(older.text))
        for after in ([read_clause(newer.text)] if records else _clauses(newer.text))
    )


def _tells_event(reading: Reading) -> bool:
    """Return True if the verb is a past form: what happened once may happen again with another value."""
    verb = next((token for token in reading.tokens[reading.clause.end :] if token.kind != "negator"), None)
    if verb is None or verb.kind != "word" or verb.lower == verb.lemma:
        return False
    return not verb.lower.endswith(("s", "ing"))


def are_plain(older: Reading, newer: Reading) -> bool:
    """Return True if both are short and give few values, so that neither is a list or a plan, and speak of the same
    relatives.
    """
    before, after = read_clause(older.text), read_clause(newer.text)
    short = all(len(one.content) <= MOST_CONTENT for one in (older, newer))
    return short and max(len(before.values), len(after.values)) <= MOST_VALUES and before.kin == after.kin


def subject_of(reading: Reading) -> frozenset[str]:
    """Return the stems of the subject; none if the statement has no verb or begins with one ("Raised the limit")."""
    if reading.clause.end == len(reading.tokens):
        return frozenset()
    words = reading.tokens[reading.clause.start : reading.clause.end]
    return frozenset(stem(token.lower) for token in takewhile(lambda token: token.lemma not in _LIGHT, words))


def _is_anew(before: _Said, after: _Said, subject: frozenset[str], *, was_change: bool, with_names: bool) -> bool:
    mine, its = before.own(after, with_names=with_names), after.own(before, with_names=with_names)
    kinds = {one.kind for one in mine}
    if len(kinds) > 1:
        kinds -= {"date"}
    if len(kinds) != 1 or max(len(mine), len(its)) > MOST_OWN or before.kin != after.kin:
        return False
    kind = next(iter(kinds))
    mine = [one for one in mine if one.kind == kind]
    if kind == "name":
        return bool(its) and {one.kind for one in its} <= {"name", "date"} and _speak_of_one_role(before, after)
    shared = set(before.topic) & set(after.topic)
    rivals = [one for one in its if _is_alternative(kind, one.kind, many=len(shared) > 1)]
    others = {one.kind.partition(" ")[0] for one in its if one not in rivals} - {"date", "time"}
    if not rivals or others or (kind not in {"date", "time"} and len(mine) > 1):
        return False
    named = subject & set(before.topic)
    if (named and not was_change and named.isdisjoint(shared)) or any(one.same in named for one in mine):
        return False
    return _speak_of_one_thing(before, after, shared)


def _is_alternative(kind: str, other: str, *, many: bool) -> bool:
    both_identify = kind.startswith("id ") and other.startswith("id ") and _OF_VERSION not in {kind, other}
    return kind == other or (many and both_identify)


def _speak_of_one_thing(before: _Said, after: _Said, shared: set[str]) -> bool:
    if not shared or not _TELLING_APART.isdisjoint(set(before.topic) ^ set(after.topic)):
        return False
    return not (_beside(before, shared) and _beside(after, shared))


def _speak_of_one_role(before: _Said, after: _Said) -> bool:
    """Return True if both name the person of one place: "Dana is on call for payments", "payments on-call: Felix"."""
    mine, its = (set(said.topic) - said.verbs - {value.same for value in said.values} for said in (before, after))
    if ROLES.isdisjoint(mine) or not (mine & its) - ROLES:
        return False
    return not (its - mine) - ROLES and (not (mine - its) - ROLES or not ROLES.isdisjoint(its))


def _beside(said: _Said, shared: set[str]) -> set[str]:
    """Return the words beside a shared word that may tell it from another one."""
    values = {value.same for value in said.values}
    found = set()
    for one, other in pairwise(said.topic):
        if (one in shared) != (other in shared):
            found.add(other if one in shared else one)
    return found - values - said.verbs


def _clauses(text: str) -> list[_Said]:
    """Return each clause that gives a value; a clause of a value alone joins the clause before it."""
    found, before = [], ""
    for part in _CLAUSES.split(text):
        if not part or not part.strip() or OPEN.search(part):
            continue
        said = read_clause(part)
        if said.values and before and set(said.topic) <= {value.same for value in said.values}:
            said = read_clause(f"{before} {part}")
        if said.values:
            found.append(said)
        before = part
    return found


@lru_cache(8192)
def read_clause(text: str) -> _Said:
    """Read the values and the topic of a clause."""
    tokens = tokenise(_SECONDS.sub(r"\1", text))
    values: list[_Value] = []
    topic: list[str] = []
    verbs: set[str] = set()
    for at, token in enumerate(tokens):
        value = _value(tokens, at)
        if value is not None:
            values.append(value)
            topic.append(value.same)
        elif token.kind in {"word", "name"} and not (at and tokens[at - 1].kind == "number"):
            topic += [stem(part) for part in _PARTS.split(token.lemma) if part not in _NO_TOPIC]
            verbs |= (
                {topic[-1]}
                if topic and token.lower != token.lemma and parts_of_speech(token.lemma).startswith("v")
                else set()
            )
    words = frozenset(token.lower for token in tokens) | frozenset(topic)
    return _Said(words, tuple(values), tuple(topic), frozenset(verbs), words & _KIN)


def _value(tokens: Sequence[Token], at: int) -> _Value | None:
    token = tokens[at]
    if token.kind == "number":
        unit = unit_of(token.lemma, tokens[at + 1 : at + 3])
        return _Value(f"number {'' if unit in _NO_TOPIC else unit}", token.lemma)
    if token.kind in {"date", "time"}:
        return _Value(token.kind, token.lemma)
    if token.kind not in {"word", "name"}:
        return None
    if _DIGITS.search(token.lower) or (_IDENTIFIER.search(token.lower) and not _is_compound(token.lower)):
        return _Value(_shape(token.lower), token.lower)
    if token.kind == "word" or token.lower in _ACRONYMS or (at + 1 < len(tokens) and tokens[at + 1].kind == "number"):
        return None
    return _Value("name", stem(token.lower))


def _is_compound(word: str) -> bool:
    """Return True for "on-call" and "part-time", which are no identifiers."""
    return is_common_word(word) or all(is_common_word(part) or len(part) < _SHORT for part in _PARTS.split(word))


def _shape(word: str) -> str:
    return _OF_VERSION if _VERSION.match(word) else "id " + _DIGITS.sub("0", _LETTERS.sub("a", word))
