"""Apply an answer to memories, conflicts and questions, in the transaction of its run."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from slowwave_server.domain.review import Answer, ConflictStatus, ItemState, tier_of
from slowwave_server.services.memories.changes import Ledger, change_memory
from slowwave_server.services.memories.links import add_link
from slowwave_server.services.memories.merging import merge_into
from slowwave_server.services.review.cases import Case, OpenConflict, open_conflicts, open_items
from slowwave_server.services.review.closing import close_conflict, close_item
from slowwave_server.services.review.conflicts import open_review

_CLOSES: dict[str, ItemState] = {
    "accepted": "accepted",
    "superseded": "accepted",
    "rejected": "rejected",
    "archived": "expired",
    "merged": "merged",
}
"""The new state of open questions about a memory, by the change of this memory."""


def carry_out(ledger: Ledger, case: Case, answer: Answer) -> None:
    """Apply the answer. The caller holds the scope's lock. Raises Stale."""
    effects = _Effects(ledger, case.scope_id)
    done = effects.change(answer)
    noted = _noted_on(case, done)
    if answer.conflict != "open":
        for conflict in _settled(case, answer):
            effects.close(conflict, answer.conflict, answer.state, answer.resolution, noted)
    if case.item is not None:
        effects.answer(case.item, answer.state, answer.resolution, noted)
    for memory, action in done.items():
        effects.follow(memory, action, answer.resolution)


def _noted_on(case: Case, done: Mapping[UUID, str]) -> UUID:
    """Return the memory whose history records the decision."""
    return case.memory.id if case.memory is not None else next(iter(done), case.conflicts[0].a.id)


def _settled(case: Case, answer: Answer) -> list[OpenConflict]:
    """Return the settled conflicts: for a merge, those between the two; for any other answer, all of the case."""
    if answer.merge is None:
        return list(case.conflicts)
    pair = {statement.id for statement in answer.merge}
    return [conflict for conflict in case.conflicts if {conflict.a.id, conflict.b.id} == pair]


@dataclass(frozen=True, slots=True)
class _Effects:
    ledger: Ledger
    scope_id: int

    def change(self, answer: Answer) -> dict[UUID, str]:
        """Change the memories. Return the action for each."""
        done: dict[UUID, str] = {}
        for change in answer.changes:
            change_memory(
                self.ledger, change.memory, change.revision, change.fields, action=change.action, reason=change.reason
            )
            done[change.memory] = change.action
            if change.successor is not None:
                add_link(self.ledger, change.successor, change.memory, "supersedes")
        if answer.merge is not None:
            survivor, part = answer.merge
            merge_into(self.ledger, part.id, part.revision, survivor.id, reason=answer.resolution)
            done[part.id] = "merged"
        return done

    def close(self, conflict: OpenConflict, status: ConflictStatus, state: ItemState, reason: str, noted: UUID) -> None:
        """Close a conflict and its questions, as a change of one of its two memories, where it can be found."""
        noted = noted if noted in conflict.pair else conflict.pair[0]
        close_conflict(self.ledger, self.scope_id, conflict.id, status=status, resolution=reason, memory=noted)
        for item in open_items(self.ledger.connection, self.scope_id, conflict=conflict.id):
            self.answer(item, state, reason, noted)

    def answer(self, item: int, state: ItemState, reason: str, noted: UUID) -> None:
        """Close a question, unless an earlier step has closed it."""
        close_item(self.ledger, self.scope_id, item, state=state, reason=reason, memory=noted)

    def follow(self, memory: UUID, action: str, reason: str) -> None:
        """Apply a memory's change to all other open questions and conflicts about it."""
        for item in open_items(self.ledger.connection, self.scope_id, memory=memory):
            self.answer(item, _CLOSES[action], reason, memory)
        for conflict in open_conflicts(self.ledger.connection, self.scope_id, memory):
            if action in {"rejected", "archived"}:
                # A memory that is not in answers contradicts nothing.
                self.close(conflict, "resolved", "accepted", reason, memory)
            elif action == "accepted":
                # Answers contain the memory again beside a contradicting one, so this pair is the new question.
                open_review(
                    self.ledger,
                    self.scope_id,
                    conflict=conflict.id,
                    why="contradicts what was accepted in review",
                    tier=tier_of(conflict.a, conflict.b),
                )
