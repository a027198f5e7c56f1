"""Turn hand edits of a scope's files into changes of memories, all in one run that can be undone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

from slowwave_server.domain.hand_edits import Edited
from slowwave_server.domain.local_days import bounds_of, local_day
from slowwave_server.domain.memory_files import FileHeader
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.memories.changes import Author, Ledger
from slowwave_server.services.memory_files.changes import View, moved
from slowwave_server.services.memory_files.disk import CURATED, day_of_path
from slowwave_server.services.memory_files.hand_effects import HandEffects
from slowwave_server.services.memory_files.hand_store import Handwritten
from slowwave_server.services.memory_files.ownership import Owner, hold_fence
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run


@dataclass
class ReadBack:
    """The result of the edits.

    places: the memory of each line, by path and line number. run: the number of the run; None if no line has a
    statement. counts: the numbers of lines: typed, edited, removed, clashes, kept (removed lines whose memory got
    another text in the meantime).
    """

    places: dict[str, dict[int, UUID]] = field(default_factory=dict)
    run: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def place(self, path: str, number: int, memory: UUID) -> None:
        """Store the memory of a line."""
        self.places.setdefault(path, {})[number] = memory


def read_back(
    connection: Connection, owner: Owner, views: Mapping[str, View], *, by: str | None, now: datetime
) -> ReadBack:
    """Apply the edits, in the caller's transaction. Idempotent. Raises Forgotten and Stale."""
    done = ReadBack()
    for path, view in views.items():
        for number, memory in view.edits.marked.items():
            done.place(path, number, memory)
    if not any(view.edits.are_statements for view in views.values()):
        return done
    hold_fence(connection, owner)
    run = start_run(connection, kind="files", now=now, lease_seconds=LEASE_SECONDS, scope_id=owner.scope_id, by=by)
    effects = HandEffects(Ledger(connection, Author(run.id, by), now), owner.scope_id)
    _edit(effects, views, done)
    _remove(effects, views)
    _type(effects, owner.header, views, done)
    done.run, done.counts = run.id, dict(effects.counts)
    finish_run(connection, run, status="completed", summary=summary(done.counts), stats=done.counts, now=now)
    return done


def summary(counts: Mapping[str, int]) -> str:
    """Return the counts as a sentence."""
    said = {
        "typed": "typed",
        "edited": "edited",
        "removed": "removed",
        "clashes": "edited while it changed",
        "kept": "removed, and kept since it says something else by now",
    }
    parts = [f"{pluralize(counts[name], 'line')} {words}" for name, words in said.items() if counts.get(name)]
    return f"by hand: {', '.join(parts)}" if parts else "by hand: nothing that was not known"


def _edit(effects: HandEffects, views: Mapping[str, View], done: ReadBack) -> None:
    edits: dict[UUID, list[tuple[str, Edited]]] = {}
    for path, view in views.items():
        for edit in view.edits.edited:
            edits.setdefault(edit.memory, []).append((path, edit))
    for memory in sorted(edits):
        for (path, edit), became in zip(edits[memory], effects.edited(edits[memory]), strict=True):
            done.place(path, edit.number, became)


def _remove(effects: HandEffects, views: Mapping[str, View]) -> None:
    """Handle removed lines. A line that was edited in, or moved to, another file does not count as removed."""
    stays = moved(list(views.values())) | {e.memory for view in views.values() for e in view.edits.edited}
    removed = {
        memory: line for view in views.values() for memory, line in view.edits.removed.items() if memory not in stays
    }
    for memory in sorted(removed):
        effects.removed(memory, removed[memory])


def _type(effects: HandEffects, header: FileHeader, views: Mapping[str, View], done: ReadBack) -> None:
    for path, view in views.items():
        holds_from = _moment(path, header, effects.ledger.now)
        for typed in view.edits.typed:
            written = Handwritten(typed.text, typed.type, path, holds_from, active=path == CURATED)
            done.place(path, typed.number, effects.typed(written))


def _moment(path: str, header: FileHeader, now: datetime) -> datetime:
    """Return the time from which a typed line is valid: now, or, in another day's file, the start of this day."""
    day = day_of_path(path)
    if day is None or day == local_day(now, header.zone, header.cutoff_hour):
        return now
    return bounds_of(day, header.zone, header.cutoff_hour)[0]
