"""Apply edits of memory files to memories. Each edit is a change of a run, so that it can be explained and undone.

No text that a person wrote is lost, and no memory that changed in the meantime is overwritten. If a person edited a
line whose memory has changed since it was written, both texts are kept, and a question asks a person.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import select

from slowwave_server.domain.hand_edits import Edited, KnownLine, said_as, says_the_same
from slowwave_server.models import Memory
from slowwave_server.services.memories.changes import Ledger, change_memory
from slowwave_server.services.memories.links import add_link
from slowwave_server.services.memory_files.disk import CURATED
from slowwave_server.services.memory_files.hand_store import Handwritten, keep_handwritten
from slowwave_server.services.review.cases import open_conflicts, open_items
from slowwave_server.services.review.closing import close_conflict, close_item
from slowwave_server.services.review.conflicts import open_review, register_conflict

EDITED = "edited by hand"
REMOVED = "removed by hand"
CLASH = "edited by hand while it changed"
_LOCKED = (
    "id type content status importance entities valid_from valid_to superseded_by merged_into archive_reason revision"
).split()


@dataclass
class HandEffects:
    """Carries out edits of one scope in one transaction, as part of one run, and counts them."""

    ledger: Ledger
    scope_id: int
    counts: Counter[str] = field(default_factory=Counter)

    def typed(self, written: Handwritten) -> UUID:
        """Store a new line; return the memory that states it."""
        memory, is_new = self._keep(written, "typed by hand")
        self.counts["typed"] += is_new
        return memory

    def edited(self, edits: Sequence[tuple[str, Edited]]) -> list[UUID]:
        """Edit one memory's lines. edits: (file, edit) for each line. Return the memory to which each line belongs from
        now on.

        The first text replaces the memory; a different second text contradicts the first.
        """
        memory = edits[0][1].memory
        row = self._lock(memory)
        if row is None:
            return [self._in_place_of_none(file, edit) for file, edit in edits]
        texts: dict[str, UUID] = {}
        for file, edit in edits:
            text = edit.shown.content
            if says_the_same(text, row.content):
                texts[text] = self._put_back(row, file, text) if row.archive_reason in {EDITED, REMOVED} else memory
            elif text not in texts:
                first = not set(texts.values()) - {memory}
                written = self._instead_of(row, text, file, active=row.status == "active")
                texts[text] = self._edit(self._lock(memory), written, edit, first=first)
        return [texts[edit.shown.content] for _, edit in edits]

    def removed(self, memory: UUID, written: KnownLine) -> None:
        """Handle a removed line. If its memory's text has changed since, the removal does not count."""
        row = self._lock(memory)
        if row is None or row.status == "archived":
            return
        if row.revision != written.revision and not said_as(row.content, written):
            self.counts["kept"] += 1
            return
        self._archive(row, {"archive_reason": REMOVED}, REMOVED)
        self.counts["removed"] += 1

    def corrected(self, memory: UUID, words: str, kind: str, place: str) -> UUID:
        """Correct a memory's text and type for a person who saw its current revision; return the memory that holds the
        text from now on.

        place: the position where the person typed the text. The caller has locked the memory, which is not archived.
        """
        row = self._lock(memory)
        written = replace(self._instead_of(row, words, place, active=row.status == "active"), type=kind)
        became, _ = self._keep(written, EDITED)
        if became != memory:
            self._replace(row, became)
        self.counts["edited"] += 1
        return became

    def withdrawn(self, memory: UUID) -> None:
        """Archive a memory that a person no longer wants in answers; locked and not archived, as in corrected()."""
        self._archive(self._lock(memory), {"archive_reason": REMOVED}, REMOVED)
        self.counts["removed"] += 1

    def _edit(self, row: Any, written: Handwritten, edit: Edited, *, first: bool) -> UUID:
        """Apply one edited text. The first replaces the memory, unless it changed after the line was written."""
        before = self._edited_before(row, written.text)
        if before is not None:
            return before
        clash = not first or _has_changed(row, edit)
        memory, _ = self._keep(written, CLASH if clash else EDITED)
        if memory == row.id:
            self.counts["edited"] += 1
        elif clash:
            self._clash(memory, row)
        else:
            self._replace(row, memory)
            self.counts["edited"] += 1
        return memory

    def _replace(self, row: Any, memory: UUID) -> None:
        self._archive(row, {"archive_reason": EDITED, "superseded_by": memory}, EDITED)
        add_link(self.ledger, memory, row.id, "supersedes")

    def _edited_before(self, row: Any, text: str) -> UUID | None:
        """Return the memory that this edit already made, if its file has not been written again since."""
        if row.archive_reason != EDITED or row.superseded_by is None:
            return None
        successor = self._lock(row.superseded_by)
        if successor is None or successor.status == "archived" or not says_the_same(text, successor.content):
            return None
        memory: UUID = successor.id
        return memory

    def _put_back(self, row: Any, file: str, text: str) -> UUID:
        """Handle a line that a person removed and wrote again, as an editor's undo does: the memory is stated again."""
        return self.typed(self._instead_of(row, text, file, active=file == CURATED))

    def _instead_of(self, row: Any, text: str, file: str, *, active: bool) -> Handwritten:
        names = tuple(row.entities)
        return Handwritten(text, row.type, file, row.valid_from, row.importance, active=active, names=names)

    def _in_place_of_none(self, file: str, edit: Edited) -> UUID:
        """Handle a memory that was deleted after it was checked: the line is a new statement."""
        shown = edit.shown
        return self.typed(Handwritten(shown.content, shown.type, file, shown.valid_from, shown.importance))

    def _clash(self, memory: UUID, row: Any) -> None:
        """Register a contradiction, for a person to decide. An archived memory can't be in conflict."""
        self.counts["clashes"] += 1
        other = row if row.merged_into is None else self._lock(row.merged_into)
        if row.archive_reason == EDITED and row.superseded_by is not None:
            other = self._lock(row.superseded_by)
        if other is None or other.id == memory or other.status == "archived":
            return
        written = self._lock(memory)
        conflict = register_conflict(
            self.ledger,
            self.scope_id,
            memory,
            other.id,
            reason=CLASH,
            evidence={"newer": "" if written is None else written.content, "older": other.content},
        )
        if conflict is not None:
            open_review(self.ledger, self.scope_id, conflict=conflict, why=CLASH, tier="high")

    def _keep(self, written: Handwritten, reason: str) -> tuple[UUID, bool]:
        reason = f"{reason} in {written.file}"
        return keep_handwritten(self.ledger, self.scope_id, written, reason=reason)

    def _archive(self, row: Any, fields: dict[str, Any], reason: str) -> None:
        """Archive a memory, and close its open questions and conflicts."""
        change_memory(
            self.ledger, row.id, row.revision, {"status": "archived"} | fields, action="by hand", reason=reason
        )
        for conflict in open_conflicts(self.ledger.connection, self.scope_id, row.id):
            noted = row.id if row.id in conflict.pair else conflict.pair[0]
            self._close(noted, conflict=conflict.id, reason=reason)
        for item in open_items(self.ledger.connection, self.scope_id, memory=row.id):
            self._close(row.id, item=item, reason=reason)

    def _close(self, noted: UUID, *, conflict: int | None = None, item: int | None = None, reason: str) -> None:
        items = [item] if item is not None else []
        if conflict is not None:
            close_conflict(self.ledger, self.scope_id, conflict, status="resolved", resolution=reason, memory=noted)
            items += open_items(self.ledger.connection, self.scope_id, conflict=conflict)
        for one in items:
            close_item(
                self.ledger,
                self.scope_id,
                one,
                state="accepted" if conflict is not None else "expired",
                reason=reason,
                memory=noted,
            )

    def _lock(self, memory: UUID) -> Any:
        query = select(*(getattr(Memory, name) for name in _LOCKED))
        mine = (Memory.scope_id == self.scope_id, Memory.id == memory)
        return self.ledger.connection.execute(query.where(*mine).with_for_update()).first()


def _has_changed(row: Any, edit: Edited) -> bool:
    """Return True if a decision about the memory was made after the line was written; a promotion does not count."""
    if row.status in {"archived", "review"}:
        return True
    if edit.written is None or edit.written.revision == row.revision:
        return False
    shown = edit.shown
    decided = (row.valid_to, row.superseded_by) != (shown.valid_to, shown.superseded_by)
    return decided or not said_as(row.content, edit.written)
