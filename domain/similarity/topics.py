"""Read the topic and the values of a statement's clauses, for the comparison of two values of one thing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from slowwave_server.domain.similarity.amounts import unit_of
from slowwave_server.domain.similarity.lexicon import is_common_word, is_kind_of, parts_of_speech, stem
from slowwave_server.domain.similarity.reading import Reading
from slowwave_server.domain.similarity.stopwords import ORDINALS
from slowwave_server.domain.similarity.tokens import Token, tokenise

_CLAUSES = re.compile(
    r"(?<=[\w)\"'%])[.;!?]\s+|,\s+(?:(?:so|and|but|because|since|which|as|no|still)\s+)?|\s[\u2013\u2014-]\s|"
    r"\s+(?:because|since|so that|so|after|ahead of|until (?=[a-z])|before|while|although|though|now that|thanks to|"
    r"due to)\s+"
)
_OPEN = re.compile(
    r"(?i)\b(?:if|would|could|might|(?-i:may)|should(?!.{1,60}from now on)|maybe|perhaps|wants?|wish(?:es)?|"
    r"hop(?:es?|ing)|plan(?:s|ned)? (?:to|on) (?![\d$€£A-Z]|the |our |my )|planning|"
    r"consider(?:s|ing)?|thinking|goal|aims?|needs? to|trying|asked|wonder\w*|proposed?|suggest\w*|recommend\w*|"
    r"options?|instead of (?:just|only)|about to|going to|gonna|delivered \W)\b"
)
"""Words of a wish, a plan, a question or a proposal, which change nothing yet."""
ROLES = frozenset(
    stem(word)
    for word in "manager manage lead leader owner own belong contact call charge responsible pager chair captain head "
    "host judge counsel doctor gp dentist nanny advisor adviser coach teacher trainer tutor landlord supplier provider "
    "master maintainer physio physiotherapist therapist vet agent accountant handle treasurer president director "
    "editor secretary representative sponsor mentor supervisor report "
    "reviewer plan tier subscription tariff bank insurer insurance employer school venue ceo cto cfo coo".split()
)
"""Stems of words for a place that one person has at a time."""
_KIN = frozenset(
    "friend colleague coworker roommate flatmate neighbour neighbor boss partner girlfriend boyfriend mate mum mom "
    "mother dad father brother sister son daughter husband wife nephew niece cousin uncle aunt grandma grandpa "
    "grandmother grandfather parent kid baby dog cat".split()
)
_CALLED = frozenset("mum mom dad grandma grandpa aunt uncle".split())
"""Relatives whose word serves as a name."""
_TIMES = frozenset(
    "ever january february march april june july august september october november december "
    "last next today yesterday tomorrow tonight morning evening afternoon night noon day week weekend weekday month "
    "year quarter summer winter spring autumn time moment hour minute second daily weekly monthly again now once "
    "twice".split()
)
_LIGHT = frozenset(
    "be have do get go come make take put set keep give say need use run work live start move change switch raise "
    "lower increase reduce cut bump push shift upgrade update climb drop reach hit scale double halve extend renew "
    "replace hand finish pass fall rise stand lose win new old just already back down up finally currently recently "
    "please big personal good only revise resize reschedule reassign grow jump exceed measure set land".split()
)
_ACRONYMS = frozenset(
    "api ci cd db url ip id sla slo ui os vm cpu gpu ram hr it ttl vat pr btw fyi lol omg um umm uh hmm hey hi".split()
)
"""Capitals that name no certain thing."""
_LETTERS, _DIGITS = re.compile(r"[a-z]+"), re.compile(r"\d+")
_VERSION = re.compile(r"v?\d[\d.]*\Z")
_IDENTIFIER = re.compile(r"\w[-_./]\w")
_TRANSFER = re.compile(
    r"(?i)\b(?:moved|migrated|switched|rewrote|rewritten|ported|converted|transferred|relocated|shifted|upgraded)\b"
    r"[^,;]{0,40}\b(?:to|in|into|onto)\b"
)
"""Something was taken from one place or form to another one."""
_OWNED = re.compile(r"(?i)(?:the user's|my|our|\w+'s) [\w -]{2,40}? (?:is|are)\b")
_PARTS = re.compile(r"[-/]")
_NO_TOPIC = _LIGHT | _TIMES | {"user", "on", "in", "by", "up"}
_PERIODS = frozenset("day week weekday weekend month year quarter daily weekly monthly yearly".split())
_SHORT = 3
OF_VERSION = "id v0"
NUMBER = "number "
"""The kind of a number without a unit."""
_MAIL = re.compile(r"(?<![\w.+-])([\w.+-]{1,64})@(?=\w)")
_SECONDS = re.compile(r"\b(\d{1,2}:\d\d)(?::\d\d|\.\d{1,2})\b")


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its kind: only values of one kind replace each other. same: its spelling in comparisons."""

    kind: str
    same: str


@dataclass(frozen=True, slots=True, eq=False)  # hashed by identity, like a reading
class Topic:
    """A clause. values: its values; topic: the stems and the values in it, in order; verbs: those stems that
    are verbs; kin: the relatives in it.
    """

    words: frozenset[str]
    values: tuple[Value, ...]
    topic: tuple[str, ...]
    verbs: frozenset[str]
    kin: frozenset[str]
    is_transfer: bool
    is_owned: bool

    def own(self, other: "Topic", *, with_names: bool) -> list[Value]:
        """Return the values that the other clause does not give."""
        given = {value.same for value in other.values}
        own = (one for one in self.values if one.same not in given and one.same not in other.words)
        return [one for one in own if with_names or one.kind != "name"]


@lru_cache(8192)
def is_open(text: str) -> bool:
    """Return True if a text leaves open whether it holds: a wish, a plan, a condition."""
    return _OPEN.search(text) is not None


@lru_cache(8192)
def clauses(text: str) -> tuple[Topic, ...]:
    """Return each clause that gives a value; a clause of a value alone joins the clause before it."""
    found, before = [], ""
    for part in parts_of(text):
        if is_open(part):
            continue
        said = read_clause(part)
        if said.values and before and set(said.topic) <= {value.same for value in said.values}:
            said = read_clause(f"{before} {part}")
        if said.values:
            found.append(said)
        before = part
    return tuple(found)


def parts_of(text: str) -> list[str]:
    """Return the clauses of a text."""
    return [part for part in _CLAUSES.split(text) if part and part.strip()]


@lru_cache(8192)
def read_clause(text: str) -> Topic:
    """Read the values and the topic of a clause."""
    tokens = tokenise(_MAIL.sub(r"\1_at_", _SECONDS.sub(r"\1", text)))
    values: list[Value] = []
    topic: list[str] = []
    verbs: set[str] = set()
    for at, token in enumerate(tokens):
        value = _value(tokens, at)
        if value is not None:
            values.append(value)
            topic.append(value.same)
        elif token.kind in {"word", "name"} and not (at and tokens[at - 1].kind == "number"):
            topic += [stem(part) for part in _PARTS.split(token.lemma) if not _is_light(part, tokens, at)]
            if token.lower != token.lemma and parts_of_speech(token.lemma).startswith("v"):
                verbs |= {stem(token.lemma)} - ROLES
    words = frozenset(token.lower for token in tokens) | frozenset(topic)
    kin = {form for one in tokens if one.kind == "word" or one.lower in _CALLED for form in (one.lower, one.lemma)}
    marks = (_TRANSFER.search(text) is not None, _OWNED.match(text) is not None)
    return Topic(words, tuple(values), tuple(topic), frozenset(verbs), _KIN & kin, *marks)


@lru_cache(8192)
def subject_of(reading: Reading) -> frozenset[str]:
    """Return the stems of the subject; none if the statement has no verb or begins with one ("Raised the limit")."""
    if reading.clause.end == len(reading.tokens):
        return frozenset()
    words = reading.tokens[reading.clause.start : reading.clause.end]
    return frozenset(stem(token.lower) for token in takewhile(lambda token: token.lemma not in _LIGHT, words))


def is_person(token: Token) -> bool:
    """Return True for "assistant" and "co-founder"."""
    return (
        token.kind == "word"
        and token.lemma != "user"
        and any(is_kind_of(part, kind) for part in token.lemma.split("-") for kind in ("person", "relative"))
    )


def _value(tokens: Sequence[Token], at: int) -> Value | None:
    token = tokens[at]
    if token.kind == "number" and token.lower not in ORDINALS:  # not "the first draft"
        unit = unit_of(token.lemma, tokens[at + 1 : at + 3])
        return Value(NUMBER if unit in _NO_TOPIC else f"{NUMBER}{unit}", token.lemma)
    if token.kind in {"date", "time"}:
        return Value(token.kind, token.lemma)
    if token.kind not in {"word", "name"}:
        return None
    if _DIGITS.search(token.lower) or (_IDENTIFIER.search(token.lower) and not _is_compound(token.lower)):
        return Value(_shape(token.lower), token.lower)
    if (
        token.kind == "word"
        or token.lower in _ACRONYMS
        or (at and tokens[at - 1].kind == "number")
        or (at + 1 < len(tokens) and tokens[at + 1].kind == "number")
    ):
        return None
    return Value("name", stem(token.lower))


def _is_light(part: str, tokens: Sequence[Token], at: int) -> bool:
    return part in _NO_TOPIC and (part not in _PERIODS or _stands_alone(tokens, at))


def _stands_alone(tokens: Sequence[Token], at: int) -> bool:
    """Return False for a period that tells things apart: "a day ticket", "the best sales month", "weekly sync"."""
    around = (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
    return not any(one.kind == "word" and one.lower not in _TIMES and one.lower not in _LIGHT for one in around)


def _is_compound(word: str) -> bool:
    """Return True for "on-call" and "part-time": these words identify nothing."""
    return is_common_word(word) or all(is_common_word(part) or len(part) < _SHORT for part in _PARTS.split(word))


def _shape(word: str) -> str:
    if "_at_" in word:
        return "id mail"
    return OF_VERSION if _VERSION.match(word) else "id " + _DIGITS.sub("0", _LETTERS.sub("a", word))
