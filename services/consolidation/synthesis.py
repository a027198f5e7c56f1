"""Let a model write one sentence from two memories about the same matter: outside a transaction, within a budget.

The model's sentence is a proposal: a guard checks it before it is stored, and both memories must be unchanged since the
question (compare-and-swap). After any failure both memories stay as they are, linked as related.
"""

from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from slowwave_server.domain.consolidation.groups import survivor
from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.model_synthesis import may_stand_for, question, sentence_of
from slowwave_server.services.consolidation.asking import Asking
from slowwave_server.services.consolidation.neighbours import index_blocks
from slowwave_server.services.memories.changes import Ledger, change_memory
from slowwave_server.services.memories.merging import merge_into

REASON = "synthesised"
"""The beginning of a merge's reason if a model wrote the sentence."""

Outcome = Literal["synthesised", "refused"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories whose similarity is in the middle range, at the revisions at which they were read."""

    first: MemoryRevision
    second: MemoryRevision
    score: float


def propose(asking: Asking, pair: Pair) -> str | None:
    """Ask for one sentence that states both memories; None, with the reason counted, if none may replace both."""
    texts = (pair.first.content, pair.second.content)
    answer = asking.ask(question(*texts))
    if isinstance(answer, str):
        return None
    sentence = sentence_of(answer)
    if sentence is not None and may_stand_for(sentence, *texts):
        return sentence
    asking.counts["no_answer" if sentence is None else "refused"] += 1
    return None


def keep(ledger: Ledger, pair: Pair, content: str, *, model: str) -> UUID:
    """Replace the survivor's text with the text by `model`, merge the other into it, return its id. Raises Stale."""
    stays = survivor((pair.first, pair.second))
    part = pair.second if stays is pair.first else pair.first
    reason = f"{REASON} of two by {model}: {stays.content}"
    change_memory(ledger, stays.id, stays.revision, {"content": content}, action="synthesised", reason=reason)
    merge_into(ledger, part.id, part.revision, stays.id, reason=reason, confidence=pair.score)
    index_blocks(ledger.connection, stays.scope_id, [replace(stays, content=content)])
    return stays.id
