"""Read a statement once, with the fields that later comparisons need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from slowwave_server.domain.similarity.claims import claims_of
from slowwave_server.domain.similarity.clause import AUXILIARIES, Clause, parse
from slowwave_server.domain.similarity.lexicon import parts_of_speech
from slowwave_server.domain.similarity.polarity import Polarity, plainly, polarity
from slowwave_server.domain.similarity.quotes import with_speaker_for_we
from slowwave_server.domain.similarity.tokens import Token, tokenise
from slowwave_server.domain.similarity.verdicts import AttributeClaim
from slowwave_server.domain.statements import normal_form

MAX_LENGTH = 4000
"""Characters; text after this length is not read, because a statement is shorter."""
_CACHED = 20_000
_PORTIONS = frozenset(
    "piec slice bit group kind type sort pair coupl bodi cluster set amount lot bunch crowd number".split()
)
"""Stems without meaning of their own before "of"."""
_PRONOUNS = frozenset("it them that this these those her him something anything everything one ones so".split())
_UNFINISHED = AUXILIARIES | {"to", "not", "it", "them", "that", "this"}
_PARTICLES = frozenset("on off up down out in into away back over through".split())


@dataclass(frozen=True, slots=True)
class Doer:
    """The subject of a statement. names: its names, and "user"; stems: its content words; head: its last word."""

    names: frozenset[str]
    stems: frozenset[str]
    head: str


@dataclass(frozen=True, slots=True, eq=False)  # hashed by identity, so that caches of a reading are fast
class Reading:
    """The parsed content of `text`.

    stems: content words, stemmed, in order; names are in lower case; quantities, dates: in one spelling each; negated:
    True if the statement denies something.

    The other fields serve comparisons. normal: the text without differences that carry no meaning; content: the tokens
    of the stems; tokens, clause, polarity: its grammar; doer: the actor, also of a passive; phrases: verbs with their
    particles ("put on"); prepositions: their base forms; order: the stems, with a passive turned into active order;
    claimed: the claims as subject, attribute, value, if they cover the whole text; topics: (subject, attribute) of each
    claim; weight: the number of content words that do not name the doer; leans: True if the statement needs the
    preceding text ("she loves it", "he hasn't").
    """

    text: str
    stems: tuple[str, ...]
    names: frozenset[str]
    quantities: frozenset[str]
    dates: frozenset[str]
    negated: bool
    claims: tuple[AttributeClaim, ...]
    claimed: frozenset[tuple[str, str, str]]
    normal: str
    content: tuple[Token, ...]
    tokens: tuple[Token, ...]
    clause: Clause
    polarity: Polarity
    doer: Doer
    phrases: tuple[str, ...]
    prepositions: tuple[str, ...]
    order: tuple[str, ...]
    distinct_stems: frozenset[str]
    topics: frozenset[tuple[str, str]]
    weight: int
    leans: bool


@lru_cache(_CACHED)
def read(text: str) -> Reading:
    """Parse `text`. A cache keeps the last results."""
    said = text[:MAX_LENGTH]
    plain, of_speaker = plainly(said), with_speaker_for_we(said)
    tokens = tokenise(plain)
    content = tuple(_content(tokens))
    clause = parse(tokens)
    claims, whole = claims_of(plain if of_speaker == said else plainly(of_speaker))
    doer = _doer(tokens, clause)
    denial = polarity(tokens)
    return Reading(
        text=text,
        stems=tuple(token.stem for token in content),
        names=frozenset(token.lemma for token in tokens if token.kind == "name"),
        quantities=frozenset(token.lemma for token in tokens if token.kind == "number"),
        dates=frozenset(token.lemma for token in tokens if token.kind in {"date", "time"}),
        negated=denial.denied or bool(denial.without),
        claims=claims,
        claimed=frozenset((one.subject, one.attribute, one.value) for one in claims) if whole else frozenset(),
        normal=normal_form(text),
        content=content,
        tokens=tokens,
        clause=clause,
        polarity=denial,
        doer=doer,
        phrases=tuple(_phrases(tokens)),
        prepositions=tuple(token.lemma for token in tokens if token.kind == "preposition"),
        order=_order(content, tokens, clause, doer),
        distinct_stems=frozenset(token.stem for token in content),
        topics=frozenset((one.subject, one.attribute) for one in claims),
        weight=sum(token.stem not in doer.names for token in content),
        leans=_leans(tokens, clause),
    )


def _content(tokens: Sequence[Token]) -> Iterator[Token]:
    for at, token in enumerate(tokens):
        if token.carries_content and not (
            token.stem in _PORTIONS and at + 1 < len(tokens) and tokens[at + 1].lemma == "of"
        ):
            yield token


def _phrases(tokens: Sequence[Token]) -> Iterator[str]:
    """Return each verb with the particle after it, or with a particle at the end of the statement ("put
    make-up on").
    """
    verb = ""
    for at, token in enumerate(tokens):
        if token.kind == "word" and "v" in parts_of_speech(token.lemma):
            if not verb or (at + 1 < len(tokens) and tokens[at + 1].kind != "word"):
                verb = token.lemma
            behind = tokens[at + 1].lemma if at + 1 < len(tokens) else ""
            if behind in _PARTICLES:
                yield f"{token.lemma} {behind}"
        elif verb and at == len(tokens) - 1 and token.lemma in _PARTICLES:
            yield f"{verb} {token.lemma}"


def _leans(tokens: Sequence[Token], clause: Clause) -> bool:
    said = tokens[clause.end :]
    last = tokens[-1] if tokens else None
    return (
        last is None
        or last.lower in _UNFINISHED
        or (clause.start < len(tokens) and tokens[clause.start].lower in _PRONOUNS)
        or any(token.lower in _PRONOUNS and not _owns(said, at) for at, token in enumerate(said))
    )


def _owns(said: Sequence[Token], at: int) -> bool:
    """Return True if a noun follows the pronoun: "her coffee"."""
    return at + 1 < len(said) and said[at + 1].carries_content


def _doer(tokens: Sequence[Token], clause: Clause) -> Doer:
    acting = list(tokens[clause.start : clause.end])
    if clause.passive:
        acting = []
        by = next((at for at, token in enumerate(tokens) if at > clause.end and token.lemma == "by"), len(tokens))
        for token in tokens[by + 1 :]:
            if token.kind == "preposition":
                break
            acting.append(token)
    content = [token for token in acting if token.carries_content]
    names = frozenset(token.stem for token in content if token.kind == "name" or token.stem == "user")
    stems = frozenset(token.stem for token in content)
    head = next((token.stem for token in reversed(_before_preposition(acting)) if token.carries_content), "")
    return Doer(names, stems, head)


def _before_preposition(tokens: Sequence[Token]) -> Sequence[Token]:
    end = next((at for at, token in enumerate(tokens) if token.kind == "preposition"), len(tokens))
    return tokens[:end]


def _order(content: Sequence[Token], tokens: Sequence[Token], clause: Clause, doer: Doer) -> tuple[str, ...]:
    stems = [token.stem for token in content]
    if not clause.passive:
        return tuple(stems)
    done_to = {token.stem for token in tokens[clause.start : clause.end]}
    verb = next((token.stem for token in content if token.lemma == clause.verb), "")
    acting = [stem for stem in stems if stem in doer.stems]
    patient = [stem for stem in stems if stem in done_to and stem not in doer.stems]
    rest = [stem for stem in stems if stem not in doer.stems and stem not in done_to and stem != verb]
    return (*acting, verb, *patient, *rest)
