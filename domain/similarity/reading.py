"""A statement, read once: what later comparisons need of it.

Must not know: any second statement.
"""

from dataclasses import dataclass
from functools import lru_cache

from domain.similarity.claims import claims_of, spelling
from domain.similarity.clause import Clause, parse
from domain.similarity.tokens import Token, tokenise
from domain.similarity.verdicts import Claim
from domain.statements import normal_form

MAX_LENGTH = 4000
"""Characters; what lies behind is no statement any more and isn't read."""
_CACHED = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What `text` says.

    stems: content words, stemmed, in their order; names in lower case; quantities, dates: in one spelling
    each; negated: whether it denies something; normal: the text without what carries no meaning; tokens, clause: its grammar.
    """

    text: str
    stems: tuple[str, ...]
    names: frozenset[str]
    quantities: frozenset[str]
    dates: frozenset[str]
    negated: bool
    claims: tuple[Claim, ...]
    normal: str
    tokens: tuple[Token, ...]
    clause: Clause


@lru_cache(_CACHED)
def read(text: str) -> Reading:
    """Read `text`. The last readings are kept."""
    plain = text[:MAX_LENGTH].replace("\u2019", "'")
    tokens = tokenise(plain)
    return Reading(
        text=text,
        stems=tuple(spelling(token) for token in tokens if token.carries_content),
        names=frozenset(token.lemma for token in tokens if token.kind == "name"),
        quantities=frozenset(token.lemma for token in tokens if token.kind == "number"),
        dates=frozenset(token.lemma for token in tokens if token.kind in {"date", "time"}),
        negated=any(token.kind == "negator" for token in tokens),
        claims=claims_of(plain),
        normal=normal_form(text),
        tokens=tokens,
        clause=parse(tokens),
    )
