"""Curation: promote the best notes of days to long-term memory; a few notes per pass, and a few passes per day.

Each pass is one transaction and one run that can be undone: the notes with the highest scores become active, and
nothing else changes. The transaction also counts the passes of the day under the scope's lock, so that neither a crash
nor a second worker exceeds the cap. Until the pass ends, the rows of the agents that write to the scope are locked
against a forget (I10).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from slowwave.settings_sections import Consolidation, Curation
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.curation import LEAST_WORTH, Note, by_worth, worth
from slowwave_server.domain.local_days import bounds_of, local_day
from slowwave_server.domain.similarity import judge, read
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.consolidation.batch import thresholds_of
from slowwave_server.services.consolidation.neighbours import candidates, index_blocks, load
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.consolidation.witnesses import WITNESSES
from slowwave_server.services.curation.notes import ELIGIBLE, IMPORTANCE, why_none
from slowwave_server.services.memories.changes import Author, Ledger, Stale, change_memory, changes_of_run
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, finish_run, start_run

LOOKED_AT = 10
"""The largest number of notes that are compared for one line, so that known notes do not make a pass ever slower."""
_PAGE = 200
_MOST_UNINDEXED = 2000

_NOTES = text(
    f"SELECT m.id, m.revision, m.status, m.confidence, {IMPORTANCE} AS importance, ({WITNESSES}) AS witnesses"
    f" FROM slowwave.memories m WHERE m.scope_id = :scope AND {ELIGIBLE}"
    f" ORDER BY {IMPORTANCE} * m.confidence DESC, m.id"
).execution_options(yield_per=_PAGE)
_CLOCK = text(
    "SELECT coalesce(a.time_zone, 'UTC') AS zone, coalesce(a.cutoff_hour, 0) AS cutoff_hour FROM slowwave.scopes k"
    " LEFT JOIN slowwave.agents a ON k.kind = 'agent' AND a.tenant = k.tenant AND a.name = k.name WHERE k.id = :scope"
)
_PASSES = text(
    "SELECT count(*) FROM slowwave.maintenance_runs r WHERE r.scope_id = :scope AND r.kind = 'curation'"
    " AND r.started_at >= :start AND r.started_at < :end"
)
_HOLD_AGENTS = text(
    "SELECT a.id FROM slowwave.agents a WHERE a.id IN ("
    "   SELECT s.agent_id FROM slowwave.sessions s WHERE s.scope_id = :scope"
    "   UNION SELECT w.agent_id FROM slowwave.working_memory w WHERE w.scope_id = :scope"
    "   UNION SELECT n.id FROM slowwave.agents n JOIN slowwave.scopes k"
    "     ON k.kind = 'agent' AND k.tenant = n.tenant AND k.name = n.name WHERE k.id = :scope)"
    " ORDER BY a.id FOR SHARE OF a"
)
_UNINDEXED = text(
    "SELECT m.id FROM slowwave.memories m WHERE m.scope_id = :scope AND m.status = 'active'"
    " AND NOT EXISTS (SELECT FROM slowwave.memory_blocks b WHERE b.memory_id = m.id) ORDER BY m.id LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class CurationReport:
    """The result of a curation pass.

    state: completed; nothing (no note is good enough, and the summary has the reason); spent (the scope's passes of the
    day are used up); busy (another pass works on this scope). curated: the number of notes that became active. known:
    the number of notes that were skipped because an active memory says the same. contested: the number of notes that
    were skipped because an active memory contradicts them. more: True if the cap on lines ended the pass. changes: the
    changes that a dry run would make.
    """

    state: Literal["completed", "nothing", "spent", "busy"]
    run: int | None = None
    curated: int = 0
    known: int = 0
    contested: int = 0
    more: bool = False
    summary: str = ""
    changes: tuple[ChangeLine, ...] = ()


@dataclass(frozen=True, slots=True)
class CurationRules:
    """The settings of a curation pass."""

    curation: Curation
    consolidation: Consolidation


def curate(
    engine: Engine,
    scope_id: int,
    *,
    rules: CurationRules,
    clock: Callable[[], datetime],
    by: str | None = None,
    dry_run: bool = False,
    part_of: int | None = None,
) -> CurationReport:
    """Make the best notes of one scope active, at most `max_lines_per_pass`, unless the day's passes are used up.

    dry_run: True to run the same pass in a transaction that is rolled back, even if the day's passes are used up.
    part_of: the run that starts the pass.
    """
    # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
    connecting = engine.connect().execution_options(isolation_level="READ COMMITTED")
    with connecting as connection, connection.begin() as whole:
        connection.execute(_HOLD_AGENTS, {"scope": scope_id})
        # Take this lock after the other one, which may wait. This one never waits, so no deadlock is possible.
        if not lock_scope(connection, scope_id):
            return CurationReport("busy", summary="another pass is running on this scope")
        now = clock()
        spent = None if dry_run else _spent(connection, scope_id, rules.curation, now)
        if spent is not None:
            return spent
        run = start_run(
            connection,
            kind="curation",
            now=now,
            lease_seconds=LEASE_SECONDS,
            scope_id=scope_id,
            by=by,
            part_of=part_of,
            dry_run=dry_run,
        )
        work = _Pass(connection, scope_id, rules, now)
        work.choose()
        report = work.apply(run, by)
        if dry_run:
            report = replace(report, run=None, changes=changes_of_run(connection, run.id, scope_id=scope_id))
        if dry_run or report.state != "completed":
            whole.rollback()
    return report


class _Pass:
    """One pass: the chosen notes, and the reasons why other notes were skipped."""

    def __init__(self, connection: Connection, scope_id: int, rules: CurationRules, now: datetime) -> None:
        self._connection = connection
        self._scope_id = scope_id
        self._rules = rules
        self._thresholds = thresholds_of(rules.consolidation)
        self._now = now
        self._chosen: dict[UUID, tuple[Note, MemoryRevision]] = {}
        self._known = self._contested = 0
        self._more = False

    def choose(self) -> None:
        """Choose the best notes that no active memory repeats or contradicts, up to the cap of lines."""
        self._index_active()
        most = self._rules.curation.max_lines_per_pass
        for looked, note in enumerate(by_worth(self._notes())):
            if len(self._chosen) == most or looked == most * LOOKED_AT:
                self._more = True
                return
            self._look(note)

    def apply(self, run: Run, by: str | None) -> CurationReport:
        """Make the notes active, and end the run. Rows are locked in the same order as by flushes."""
        curated, author = 0, Author(run.id, by)
        for note, _ in sorted(self._chosen.values(), key=lambda one: (one[1].type, one[1].content_hash)):
            try:
                change_memory(
                    Ledger(self._connection, author, self._now),
                    note.id,
                    note.revision,
                    {"status": "active"},
                    action="curated",
                    reason=_reason(note),
                )
            except Stale:
                continue  # the note was said again just now, so the next pass scores it again
            curated += 1
        summary = self._summary(curated)
        stats = {"curated": curated, "known": self._known, "contested": self._contested}
        finish_run(self._connection, run, status="completed", summary=summary, stats=stats, now=self._now)
        return CurationReport(
            "completed" if curated else "nothing", run.id, curated, self._known, self._contested, self._more, summary
        )

    def _notes(self) -> Iterator[Note]:
        values = {"scope": self._scope_id, "now": self._now, "least": LEAST_WORTH}
        for row in self._connection.execute(_NOTES, values).mappings():
            yield Note(**row)

    def _look(self, note: Note) -> None:
        memory = load(self._connection, self._scope_id, [note.id]).get(note.id)
        if memory is None:
            return
        reading = read(memory.content)
        verdicts = set()
        for other in candidates(self._connection, self._scope_id, [reading])[0]:
            if other.id == note.id or not self._counts(other):
                continue
            apart = abs((memory.own_from - other.own_from).total_seconds())
            same_type = memory.type == other.type
            found = judge(
                reading, read(other.content), thresholds=self._thresholds, same_type=same_type, seconds_apart=apart
            )
            verdicts.add(found.verdict)
        if verdicts & {"duplicate", "merge"}:
            self._known += 1
        elif "conflict" in verdicts:
            self._contested += 1
        else:
            self._chosen[note.id] = note, memory
            index_blocks(self._connection, self._scope_id, [memory])

    def _counts(self, other: MemoryRevision) -> bool:
        """Return True if a memory is, or is about to be, a valid line of the curated memory."""
        holds = other.superseded_by is None and (other.valid_to is None or other.valid_to > self._now)
        return holds and (other.status == "active" or other.id in self._chosen)

    def _index_active(self) -> None:
        """Index memories that became active without a pass (by hand, from a file): lookups can't find them yet."""
        values = {"scope": self._scope_id, "most": _MOST_UNINDEXED}
        unindexed = self._connection.execute(_UNINDEXED, values).scalars().all()
        if unindexed:
            index_blocks(self._connection, self._scope_id, load(self._connection, self._scope_id, unindexed).values())

    def _why(self) -> str:
        passed_over = self._known + self._contested
        return why_none(self._connection, self._scope_id, passed_over=passed_over, now=self._now)

    def _summary(self, curated: int) -> str:
        parts = (
            [f"{pluralize(curated, 'note')} curated"] if curated else [f"no note qualifies for a line: {self._why()}"]
        )
        if self._known:
            parts.append(f"{self._known:,} known already")
        if self._contested:
            parts.append(f"{self._contested:,} against what is known")
        if self._more:
            parts.append("more wait")
        return ", ".join(parts)


def _reason(note: Note) -> str:
    said = pluralize(note.witnesses, "independent source")
    return f"worth {worth(note):.2f}: importance {note.importance:.2f}, confidence {note.confidence:.2f}, {said}"


def _spent(connection: Connection, scope_id: int, rules: Curation, now: datetime) -> CurationReport | None:
    if _passes_today(connection, scope_id, now) < rules.max_passes_per_day:
        return None
    made = pluralize(rules.max_passes_per_day, "pass", "passes")
    return CurationReport("spent", summary=f"{made} a day may be made here, and were made today")


def _passes_today(connection: Connection, scope_id: int, now: datetime) -> int:
    """Count the scope's passes on its agent's local day (UTC for rooms and teams), including undone ones."""
    where = connection.execute(_CLOCK, {"scope": scope_id}).one()
    start, end = bounds_of(local_day(now, where.zone, where.cutoff_hour), where.zone, where.cutoff_hour)
    passes: int = connection.execute(_PASSES, {"scope": scope_id, "start": start, "end": end}).scalar_one()
    return passes
