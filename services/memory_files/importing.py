"""Import memory files into a scope, as a run that can be undone. An import overwrites nothing and is idempotent.

A line that an export wrote keeps its id, its status and its scores; any other statement becomes a fact with the trust
of an import. A known statement becomes evidence. If a line's text differs from its memory, the memory stays, and the
line becomes a new memory.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID
from zoneinfo import available_timezones

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from slowwave.errors import InvalidName, SlowwaveError
from slowwave.identity import check_name
from slowwave.settings import Days
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.review import tier_of
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.consolidation.scope_lock import lock_scope
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.memories.changes import Author, Ledger, changes_of_run
from slowwave_server.services.memory_files import import_rows
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.memory_files.folder_reading import DayPart, Folder, Problem, read_folder
from slowwave_server.services.memory_files.import_days import take_over
from slowwave_server.services.memory_files.import_plan import Plan, make_plan, once
from slowwave_server.services.memory_files.ownership import Forgotten, Owner, hold_fence, read_owner
from slowwave_server.services.review.conflicts import open_review
from slowwave_server.services.runs.store import LEASE_SECONDS, Run, finish_run, start_run

REASON = "imported from files"
WHY = "It waited for a decision where it was exported."
TRIES = 3
CHANGES_TOLD = 1000
COUNTED = ("added", "repeated", "unchanged", "rejected", "reworded", "summaries", "summaries_kept")

_NEW_SCOPE = text(
    "INSERT INTO slowwave.scopes (tenant, kind, name) VALUES (:tenant, :kind, :name) ON CONFLICT DO NOTHING"
)
_NEW_AGENT = text(
    "INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour) VALUES (:tenant, :name, :zone, :cutoff)"
    " ON CONFLICT DO NOTHING"
)
_AGENT = text("SELECT a.id FROM slowwave.agents a WHERE a.tenant = :tenant AND a.name = :name FOR SHARE")


@dataclass(frozen=True, slots=True)
class Target:
    """The scope of an import."""

    tenant: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. run: its number; None if nothing changed, and for a dry run.

    statements: the number of lines with a statement. added: the number of lines that became new memories. repeated: the
    number of lines that became evidence of existing memories. unchanged: the number of lines that were imported before.
    rejected: the number of lines whose text a person has rejected in this scope. reworded: the number of lines whose id
    belongs to a memory with another text in this scope. summaries: the number of imported summaries of days.
    summaries_kept: the number of days whose summary in this scope is kept. changes: the changes that a dry run would
    make.
    """

    folder: Path
    run: int | None
    files: int
    statements: int
    added: int
    repeated: int
    unchanged: int
    rejected: int
    reworded: int
    summaries: int
    summaries_kept: int
    problems: tuple[Problem, ...]
    changes: tuple[ChangeLine, ...] = ()

    @property
    def summary(self) -> str:
        """The counts as a sentence."""
        parts = [f"{self.added:,} new", f"{self.repeated:,} repeated", f"{self.unchanged:,} known"]
        parts += [f"{self.rejected:,} rejected before"] if self.rejected else []
        parts += [f"{pluralize(self.summaries, 'summary', 'summaries')} of days"] if self.summaries else []
        parts += [pluralize(len(self.problems), "line") + " not read"] if self.problems else []
        return f"{pluralize(self.statements, 'statement')}: {', '.join(parts)}"


def import_scope(
    engine: Engine,
    target: Target,
    root: Path,
    *,
    days: Days,
    by: str,
    now: datetime,
    dry_run: bool = False,
) -> ImportReport:
    """Import the memory files below `root` into a scope, which is created if needed. days: the day boundary of a new
    agent.

    Raises NoFiles, InvalidName, OSError, and SlowwaveError if a pass or a forget works on the scope; nothing is then
    changed.
    """
    check_name("tenant", target.tenant)
    check_name(target.kind, target.name)
    folder = read_folder(Disk(), root, target.tenant, target.kind, target.name)
    for _ in range(TRIES):
        try:
            # Start a transaction even if the engine is in autocommit, because all statements must succeed together.
            with (
                engine.connect().execution_options(isolation_level="READ COMMITTED") as connection,
                connection.begin() as transaction,
            ):
                report = _Import(connection, target, folder, by, now).run(days, dry_run=dry_run)
                if report.run is None:
                    transaction.rollback()
                return report
        except IntegrityError as error:
            # Another transaction stored the same statement in between: read again.
            last = error
        except Forgotten:
            raise SlowwaveError(
                "something of this tenant was forgotten meanwhile; import again if you mean it"
            ) from None
    raise last


class _Import:
    def __init__(self, connection: Connection, target: Target, folder: Folder, by: str, now: datetime) -> None:
        self._connection = connection
        self._target = target
        self._folder = folder
        self._by = by
        self._now = now
        self._counts: Counter[str] = Counter()
        self._problems = folder.problems()

    def run(self, days: Days, *, dry_run: bool) -> ImportReport:
        owner = self._owner(days)
        run = start_run(
            self._connection,
            kind="import",
            now=self._now,
            lease_seconds=LEASE_SECONDS,
            scope_id=owner.scope_id,
            by=self._by,
            dry_run=dry_run,
        )
        ledger = Ledger(self._connection, Author(run.id, self._by), self._now)
        statements = list(once(self._folder.statements(owner.header, self._now)))
        plan = make_plan(self._connection, owner.scope_id, statements)
        self._counts.update(plan.counts)
        self._write(ledger, owner.scope_id, plan)
        for part in self._folder.summaries():
            self._take_day(owner, part, run)
        self._problems.sort(key=lambda problem: (problem.path, problem.line))
        return self._report(run, len(statements), dry_run=dry_run)

    def _owner(self, days: Days) -> Owner:
        target = self._target
        self._connection.execute(_NEW_SCOPE, asdict(target))
        header = self._folder.header
        zone, cutoff = (days.timezone, days.cutoff_hour) if header is None else (header.zone, header.cutoff_hour)
        if zone not in available_timezones() or not 0 <= cutoff <= 23:  # noqa: PLR2004 - hours of a day
            zone, cutoff = days.timezone, days.cutoff_hour
        self._clock = {"zone": zone, "cutoff": cutoff}
        if target.kind == "agent":
            self._connection.execute(_NEW_AGENT, {"tenant": target.tenant, "name": target.name, **self._clock})
        scope_id = find_scope(self._connection, target.tenant, target.kind, target.name)
        owner = None if scope_id is None else read_owner(self._connection, scope_id)
        if owner is None:
            raise Forgotten
        hold_fence(self._connection, owner)
        if not lock_scope(self._connection, owner.scope_id):
            raise SlowwaveError("a pass is running on this scope; import again when it has ended")
        return owner

    def _write(self, ledger: Ledger, scope_id: int, plan: Plan) -> None:
        import_rows.add_memories(ledger, scope_id, plan.new, reason=REASON)
        self._counts["added"] += len(plan.new)
        # Use a fixed order everywhere, so that two transactions that score the same memories never deadlock.
        for memory, said in sorted(plan.evidence, key=lambda pair: pair[0]):
            got = import_rows.add_evidence(ledger, scope_id, memory, said, reason=REASON)
            self._counts["repeated" if got else "unchanged"] += 1
        self._end(scope_id, plan)
        self._ask(ledger, scope_id, [memory for memory, said in plan.new if said.memory.status == "review"])

    def _end(self, scope_id: int, plan: Plan) -> None:
        pairs = []
        for memory, said in plan.ended:
            by = plan.placed.get(said.memory.superseded_by) if said.memory.superseded_by else None
            if by is None or by == memory:
                what = "it was superseded by a memory that is neither in the files nor here; it is kept as ended only"
                self._problems.append(Problem(said.path, said.line, what))
            else:
                pairs.append((memory, by))
        import_rows.supersede(self._connection, scope_id, pairs)

    def _ask(self, ledger: Ledger, scope_id: int, memories: Sequence[UUID]) -> None:
        """Open a review for each conflict, so that a person gets the question."""
        for known in load(self._connection, scope_id, memories).values():
            open_review(ledger, scope_id, memory=known.id, why=WHY, tier=tier_of(known))

    def _take_day(self, owner: Owner, part: DayPart, run: Run) -> None:
        name = self._target.name if self._target.kind == "agent" else part.summary.agent
        try:
            check_name("agent", name)
        except InvalidName as error:
            self._problems.append(Problem(part.path, part.line, str(error)))
            return
        who = {"tenant": self._target.tenant, "name": name}
        self._connection.execute(_NEW_AGENT, who | self._clock)
        agent_id: int = self._connection.execute(_AGENT, who).scalar_one()
        taken = take_over(self._connection, agent_id, owner.scope_id, part.day, part.summary, run.id)
        self._counts["summaries"] += taken is True
        self._counts["summaries_kept"] += taken is False

    def _report(self, run: Run, statements: int, *, dry_run: bool) -> ImportReport:
        counts = self._counts
        changed = counts["added"] + counts["repeated"] + counts["summaries"]
        changes = changes_of_run(self._connection, run.id, limit=CHANGES_TOLD) if dry_run else ()
        report = ImportReport(
            folder=self._folder.folder,
            run=run.id if changed and not dry_run else None,
            files=len(self._folder.documents),
            statements=statements,
            **{name: counts[name] for name in COUNTED},
            problems=tuple(self._problems),
            changes=changes,
        )
        stats = {name: counts[name] for name in sorted(counts)} | {"problems": len(self._problems)}
        finish_run(self._connection, run, status="completed", summary=report.summary, stats=stats, now=self._now)
        return report
