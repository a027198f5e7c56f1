"""Apply a pass's decisions: merge, supersede or promote memories, register conflicts, ask a person, add links.

Each effect is stored as a change that can be explained.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from slowwave_server.domain.candidates import first_status
from slowwave_server.domain.consolidation.forms import shared_form
from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.consolidation.values import Ended
from slowwave_server.domain.review import Tier, doubtful, tier_of
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.consolidation.questions import MOST_ASKED, is_asked, is_settled_form, next_unasked
from slowwave_server.services.memories.changes import FieldChange, Ledger, change_memories, change_memory, note_change
from slowwave_server.services.memories.links import add_link, add_links, end_links
from slowwave_server.services.memories.merging import merge_into, part_again
from slowwave_server.services.review.conflicts import open_review, register_conflict

ENDED = "it ended: "
"""The beginning of a change's reason if the words of another memory ended the memory (domain.endings)."""
CHANGED = "it changed: "
"""The beginning of a change's reason if the model of pairs reads in a later memory that this one no longer holds."""
_UNSEEN = frozenset({"promoted", "demoted"})
"""Changes that no search shows: a memory with evidence ranks like any other."""
_CORRECTED = text(
    "SELECT EXISTS (SELECT FROM slowwave.memory_changes c WHERE c.memory_id = :id AND c.action = 'superseded'"
    f" AND (c.flush_id IS NOT NULL OR c.reason ^@ '{ENDED}' OR c.reason ^@ '{CHANGED}')"
    " AND c.after ->> 'superseded_by' = :by)"
)


def _is_earlier(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one < other)


@dataclass
class Effects:
    """Carries out the decisions of one run in one transaction, and counts them.

    may_ask: the number of further questions about contradictions that the run may add to the inbox. touched: the
    memories that changed; shown_otherwise: those of them that search shows differently or no more.
    """

    ledger: Ledger
    scope_id: int
    may_ask: int = MOST_ASKED
    counts: Counter[str] = field(default_factory=Counter)
    touched: set[UUID] = field(default_factory=set)
    shown_otherwise: set[UUID] = field(default_factory=set)
    # Pairs about the same matter. A model may write one sentence from each pair.
    middle: set[frozenset[UUID]] = field(default_factory=set)

    def merge(self, part: MemoryRevision, into: MemoryRevision, reason: str, score: float) -> None:
        """Archive `part` and the memories merged into it, and copy their sources to `into`.

        Nothing happens if an earlier merge of this batch already moved `part` into `into`.
        """
        part = self._fresh(part)
        if part.merged_into == into.id:
            return
        moved = merge_into(self.ledger, part.id, part.revision, into.id, reason=reason, confidence=score)
        # Every memory that lost or gained evidence by this merge now has a new revision.
        before = () if part.merged_into is None else (part.merged_into,)
        self._did("moved" if before else "merged", part.id, into.id, *before)
        for along in moved:
            self._did("moved", along)

    def part(self, part: MemoryRevision, reason: str) -> None:
        """Revert a merge: `part` becomes independent again."""
        part = self._fresh(part)
        part_again(self.ledger, part.id, part.revision, first_status(part.type), reason=reason)
        self._did("unmerged", part.id, *((part.merged_into,) if part.merged_into else ()))

    def end(self, ended: Ended) -> None:
        """End a statement when another value began, or make it valid again if no statement ended it."""
        older, newer = ended.older, ended.newer
        if (older.superseded_by, older.valid_to) == (newer.id if newer else None, ended.valid_to):
            return
        fields = {"valid_to": ended.valid_to, "superseded_by": newer.id if newer else None}
        if self._corrected(older) and not _is_earlier(ended.valid_to, older.valid_to):
            return
        if newer is None:
            self._change(older, fields, "holding", "nothing that is known ended it")
            end_links(self.ledger, "supersedes", targets=[older.id])
            return
        self._change(older, fields, "superseded", ended.reason)
        end_links(self.ledger, "supersedes", targets=[older.id])
        add_link(self.ledger, newer.id, older.id, "supersedes")
        self._register(newer, older, ended.reason, f"{newer.id} was said later and holds")

    def take_back(self, planned: Sequence[Ended]) -> None:
        """End memories because other memories say so, and reopen those that no known memory ends any more."""
        again = [ended.older.id for ended in planned if ended.older.id in self.touched]
        known = load(self.ledger.connection, self.scope_id, again) if again else {}
        changes = []
        for ended in planned:
            memory, newer = known.get(ended.older.id, ended.older), ended.newer
            fields = {"valid_to": ended.valid_to, "superseded_by": newer.id if newer else None}
            action, reason = ("superseded", ended.reason) if newer else ("reopened", "nothing ends it any more")
            changes.append(FieldChange(memory.id, memory.revision, fields, action, reason))
        change_memories(self.ledger, changes)
        end_links(self.ledger, "supersedes", targets=[one.memory for one in changes])
        add_links(self.ledger, "supersedes", [(one.newer.id, one.older.id) for one in planned if one.newer])
        for one in changes:
            self._did(one.action, one.memory)

    def _corrected(self, older: MemoryRevision) -> bool:
        """Return True if a conversation itself said that the memory ended. Such an end needs no newer value."""
        by = {"id": older.id, "by": str(older.superseded_by)}
        return bool(self.ledger.connection.execute(_CORRECTED, by).scalar())

    def dispute(self, newer: MemoryRevision, older: MemoryRevision, reason: str) -> None:
        """Register an open conflict, once, and ask a person about it.

        The run asks nobody if it has asked enough questions, or if the conflict's group has an open question and the
        conflict is no claim against a person's own words. If statements differ only in numbers, dates or times, like
        the lines of a list, only one pair is registered.
        """
        newer, older = self._fresh(newer), self._fresh(older)
        if not (newer.live and older.live):
            return
        is_claim = doubtful(newer, older) is not None
        form = None if is_claim else shared_form(newer.content, older.content)
        if form is not None and is_settled_form(self.ledger.connection, self.scope_id, form):
            return
        if form is not None:
            reason = f"{reason}; of statements that differ in numbers, dates or times alone this pair is asked about"
        conflict = self._register(newer, older, reason, None, form=form)
        if conflict is not None and (is_claim or not is_asked(self.ledger.connection, (newer.id, older.id))):
            self.put(conflict, newer, older, reason)

    def put(self, conflict: int, newer: MemoryRevision, older: MemoryRevision, reason: str) -> None:
        """Ask a person about a conflict, if the run may ask more questions.

        Otherwise the conflict waits for the next run, and answers still contain both memories. A claim that contradicts
        a person's own words gets the status `review`, and answers omit it. In other conflicts both statuses stay.
        """
        if self.may_ask <= 0:
            self.counts["to_ask_later"] += 1
            return
        self.may_ask -= 1
        tier, claim = tier_of(newer, older), doubtful(newer, older)
        if claim is None:
            self.ask(reason, tier, conflict=conflict)
            return
        why = f"contradicts what a person said: {reason}"
        self._change(claim, {"status": "review"}, "review", why)
        self.ask(why, tier, memory=claim.id)

    def put_waiting(self) -> None:
        """Ask a person about contradictions that earlier runs left without a question, the oldest first."""
        after = 0
        while self.may_ask > 0 and (row := next_unasked(self.ledger.connection, self.scope_id, after)) is not None:
            after = row.id
            known = load(self.ledger.connection, self.scope_id, [row.memory_id, row.conflicting_memory_id])
            older, newer = sorted(known.values(), key=lambda one: (one.reaffirmed_at, one.order))
            self.put(row.id, newer, older, row.reason)

    def ask(self, why: str, tier: Tier, *, memory: UUID | None = None, conflict: int | None = None) -> None:
        """Add a question to the inbox of a person, once."""
        item = open_review(self.ledger, self.scope_id, memory=memory, conflict=conflict, why=why, tier=tier)
        self.counts["asked"] += item is not None

    def link(self, source: UUID, target: UUID, score: float) -> None:
        """Link two related memories, at `score` (0..1)."""
        if add_link(self.ledger, source, target, "related_to", confidence=score):
            after = {"target": str(target), "predicate": "related_to", "confidence": score}
            note_change(self.ledger, source, action="linked", before=None, after=after, reason="related")
            self.counts["linked"] += 1

    def promote(self, memory: MemoryRevision, evidence: str) -> None:
        """Make the memory active. evidence: the evidence for this, in words."""
        self._change(memory, {"status": "active"}, "promoted", f"confidence {memory.confidence:.2f}, {evidence}")

    def demote(self, memory: MemoryRevision) -> None:
        """Revert a promotion: the memory gets the first status of its type again."""
        self._change(
            memory,
            {"status": first_status(memory.type)},
            "demoted",
            f"confidence {memory.confidence:.2f}, the evidence for it is gone",
        )

    def _register(
        self,
        newer: MemoryRevision,
        older: MemoryRevision,
        reason: str,
        resolution: str | None,
        *,
        form: str | None = None,
    ) -> int | None:
        """Return the conflict's number, or None if the pair was decided before. form: the shared form of both texts."""
        return register_conflict(
            self.ledger,
            self.scope_id,
            newer.id,
            older.id,
            reason=reason,
            evidence={"newer": newer.content, "older": older.content} | ({} if form is None else {"form": form}),
            resolution=resolution,
        )

    def _change(self, memory: MemoryRevision, fields: Mapping[str, object], action: str, reason: str) -> None:
        change_memory(self.ledger, memory.id, self._fresh(memory).revision, fields, action=action, reason=reason)
        self._did(action, memory.id)

    def _fresh(self, memory: MemoryRevision) -> MemoryRevision:
        """Return the memory in its known state, or read anew if this batch has changed it (its row is then locked)."""
        if memory.id not in self.touched:
            return memory
        return load(self.ledger.connection, self.scope_id, [memory.id])[memory.id]

    def _did(self, what: str, *memories: UUID) -> None:
        self.counts[what] += 1
        self.touched.update(memories)
        if what not in _UNSEEN:
            self.shown_otherwise.update(memories)
