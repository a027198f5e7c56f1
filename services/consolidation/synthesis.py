"""Two memories that are about the same, made one sentence by a model: outside of any transaction, within a budget.

What a model says is a proposal: the guard reads it before it is kept, and both memories must still be what they were
when it was asked (compare-and-swap). Whatever goes wrong leaves the two as they are, linked as related.

Must not know: which model, how it is called, where a budget is kept.
"""

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol
from uuid import UUID

from sqlalchemy import Connection

from domain.consolidation.groups import survivor
from domain.consolidation.known import Known
from domain.similarity import judge, read
from services.consolidation.neighbours import index_blocks
from services.memory_changes import Author, change_memory
from services.merging import merge_into

log = logging.getLogger(__name__)

REASON = "synthesised"
"""What the reason of a merge begins with that a model's sentence made."""
_LOST = frozenset({"conflict", "distinct"})
_TOKENS_A_CHARACTER = 0.5
_TOKENS_AROUND = 400

Outcome = Literal["synthesised", "no_budget", "no_answer", "refused"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a model answered, and what it cost in tokens, question and answer."""

    content: str
    tokens: int


class ModelFailed(Exception):
    """The model gave no answer that is of use. tokens: what it cost all the same."""

    def __init__(self, message: str, tokens: int = 0) -> None:
        super().__init__(message)
        self.tokens = tokens


class Synthesiser(Protocol):
    """Makes one sentence of two. Raises ModelFailed."""

    def synthesise(self, first: str, second: str) -> Sentence: ...


class Reservation(Protocol):
    """Tokens that were set aside; settled once, with what the call cost, whether it succeeded or not."""

    def settle(self, tokens: int) -> None: ...


class Budget(Protocol):
    """Hands out what may be spent. None: the cap is reached (I7)."""

    def reserve(self, tokens: int) -> Reservation | None: ...


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories in the middle band, at the revisions at which they were read."""

    first: Known
    second: Known
    score: float


@dataclass(frozen=True, slots=True)
class Synthesis:
    """A model and what it may spend."""

    model: Synthesiser
    budget: Budget

    def propose(self, pair: Pair) -> tuple[Outcome, str | None]:
        """Ask for one sentence; reserved before, settled after, failures included (mistake 17). No transaction is open.

        The sentence says what both say, or it is refused.
        """
        texts = (pair.first.content, pair.second.content)
        reserved = self.budget.reserve(round(sum(map(len, texts)) * _TOKENS_A_CHARACTER) + _TOKENS_AROUND)
        if reserved is None:
            return "no_budget", None
        spent = 0
        try:
            sentence = self.model.synthesise(*texts)
            spent = sentence.tokens
        except ModelFailed as error:
            spent = error.tokens
            log.warning("two memories could not be made one: %s", error)
            return "no_answer", None
        finally:
            reserved.settle(spent)
        content = " ".join(sentence.content.split())
        if not content or any(judge(read(content), read(text)).verdict in _LOST for text in texts):
            return "refused", None
        return "synthesised", content


def keep(connection: Connection, pair: Pair, content: str, *, author: Author, now: datetime) -> UUID:
    """Let the survivor say `content`, with the other one merged into it; answer its id. Raises Stale."""
    stays = survivor((pair.first, pair.second))
    part = pair.second if stays is pair.first else pair.first
    reason = f"{REASON} of two: {stays.content}"
    change_memory(
        connection,
        stays.id,
        stays.revision,
        {"content": content},
        author=author,
        action="synthesised",
        reason=reason,
        now=now,
    )
    merge_into(
        connection, part.id, part.revision, stays.id, author=author, reason=reason, now=now, confidence=pair.score
    )
    index_blocks(connection, stays.scope_id, [replace(stays, content=content)])
    return stays.id
