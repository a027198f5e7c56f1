"""Ask a model about conflicts that the rules could not decide: once for each state of a conflict's two memories.

    open conflict ── already asked in this state, or not a decision for a model ──▶ skipped
         │
    ask, with no transaction open ── no answer, unclear, not supported by events ──▶ stays open; the answer is stored
         │ one transaction, if both memories are unchanged: a run as for a person's decision, by "model …"; the run can
         be explained and undone

If a model decided by event order and the losing memory is said again later than the other, the decision is reverted
(I9). The conflict's evidence keeps each question and answer under "asked", also after an undo, so that a model does not
repeat a decision that a person has reverted.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text
from sqlalchemy.exc import OperationalError

from slowwave_server.domain.model_adjudication import (
    VERSION,
    Evidence,
    Ruling,
    Verdict,
    may_replace,
    may_stand_together,
    question,
    ruling,
    state_of,
    verdict_of,
)
from slowwave_server.domain.review import Answer, ReviewedMemory, keep_both, keep_one, newer_first
from slowwave_server.services.consolidation.asking import Asking, ModelUse, spender_of
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.changes import Author, Ledger, Stale
from slowwave_server.services.review.cases import Case, conflict_case, lock_scopes, statements
from slowwave_server.services.review.conflict_sides import read_sides
from slowwave_server.services.review.effects import carry_out
from slowwave_server.services.runs.store import LEASE_SECONDS, finish_run, start_run
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.undo import undo

log = logging.getLogger(__name__)

ASKED_AT_ONCE = 20
"""The largest number of conflicts of a scope about which one run asks a model; the next run continues."""

_PAGE = 100
_OPEN = text(
    "SELECT k.id, k.memory_id, k.conflicting_memory_id, k.evidence -> 'asked' ->> 'state' AS asked"
    " FROM slowwave.memory_conflicts k"
    " WHERE k.scope_id = :scope AND k.status = 'open' AND k.id > :after ORDER BY k.id LIMIT :most"
)
_DECIDED = text(
    "SELECT k.memory_id, k.conflicting_memory_id, CAST(k.evidence -> 'asked' ->> 'run' AS bigint) AS run"
    " FROM slowwave.memory_conflicts k JOIN slowwave.maintenance_runs r"
    "  ON r.id = CAST(k.evidence -> 'asked' ->> 'run' AS bigint) AND r.status = 'completed'"
    " WHERE k.scope_id = :scope AND k.status = 'resolved' AND k.evidence -> 'asked' ->> 'run' IS NOT NULL ORDER BY k.id"
)
_NOTE = text(
    "UPDATE slowwave.memory_conflicts k SET evidence = k.evidence || jsonb_build_object('asked', jsonb_build_object("
    " 'state', CAST(:state AS text), 'by', CAST(:by AS text), 'prompt', CAST(:prompt AS text),"
    " 'holds', CAST(:holds AS text), 'why', CAST(:why AS text), 'at', CAST(:at AS text), 'run', CAST(:run AS bigint)))"
    " WHERE k.scope_id = :scope AND k.id = :conflict"
)


def adjudicate(
    engine: Engine,
    scope_id: int,
    use: ModelUse | None,
    *,
    run: int | None = None,
    clock: Callable[[], datetime],
    go_on: Callable[[], bool] = lambda: True,
) -> Asking | None:
    """Ask the model about a scope's open conflicts. Return the calls and their outcomes; None if no model may decide.

    run: the run to which the calls are charged, unless `use` names one. go_on: checked before each call; False ends the
    calls. This process must not run a pass over the scope at the same time, because an undo needs the lock of the
    scope.
    """
    if use is None or not use.adjudicate:
        return None
    asking = Asking(use.model, spender_of(engine, scope_id, use.run or run))
    Court(engine, scope_id, asking, clock, part_of=use.run).sit(go_on)
    return asking


@dataclass(frozen=True, slots=True)
class Docket:
    """A conflict for the model. conflict: its number; older, newer: its memories at the revisions that were read."""

    conflict: int
    older: ReviewedMemory
    newer: ReviewedMemory

    @property
    def state(self) -> str:
        return state_of(self.older, self.newer)


@dataclass(frozen=True, slots=True)
class Court:
    """Asks the model about the open conflicts of one scope. part_of: the run of the job that requested the call."""

    engine: Engine
    scope_id: int
    asking: Asking
    clock: Callable[[], datetime]
    part_of: int | None = None

    @property
    def by(self) -> str:
        """The name of the deciding model, as runs and conflicts store it."""
        return f"model {self.asking.model.name}"

    def sit(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Undo decisions that event order no longer supports, then ask about open conflicts until a cap is reached."""
        self._retract()
        for docket in islice(self._dockets(), ASKED_AT_ONCE):
            if self.asking.reached or not go_on():
                return
            try:
                self._hear(docket)
            except (Stale, OperationalError) as error:
                log.info("conflict %d is left for later: %s", docket.conflict, type(error).__name__)

    def _dockets(self) -> Iterator[Docket]:
        after = 0
        while True:
            with self.engine.connect() as connection:
                rows = connection.execute(_OPEN, {"scope": self.scope_id, "after": after, "most": _PAGE}).all()
                sides = statements(connection, self.scope_id, _ends(rows))
            for row in rows:
                newer, older = newer_first(sides[row.memory_id], sides[row.conflicting_memory_id])
                docket = Docket(row.id, older, newer)
                allowed = may_replace(older, newer) or may_stand_together(older, newer)
                if older.id != newer.id and allowed and docket.state != row.asked:
                    yield docket
            if len(rows) < _PAGE:
                return
            after = rows[-1].id

    def _hear(self, docket: Docket) -> None:
        with self.engine.connect() as connection:
            evidence = _evidence(connection, self.asking.spender.tenant, docket)
        answer = self.asking.ask(question(docket.older, docket.newer, evidence))
        if answer == "no_answer":
            self._conclude(docket, Verdict("unclear", "the model gave no usable answer", ()), "open")
        elif not isinstance(answer, str):
            verdict = verdict_of(answer)
            self._conclude(docket, verdict, ruling(verdict, docket.older, docket.newer, evidence))

    def _conclude(self, docket: Docket, verdict: Verdict, outcome: Ruling) -> None:
        """Store the model's answer. Carry it out if both memories are unchanged since the model was asked."""
        # One transaction for the decision and its note, whatever isolation level the engine has.
        engine = self.engine.execution_options(isolation_level="READ COMMITTED")
        with engine.begin() as connection:
            lock_scopes(connection, [self.scope_id])
            case = conflict_case(connection, self.scope_id, docket.conflict)
            if case.closed is not None or _docket(case).state != docket.state:
                self.asking.counts["too_late"] += 1
                return
            run = None if outcome == "open" else self._decide(connection, case, verdict, outcome)
            self._note(connection, docket, verdict, run)
        self.asking.counts["left_open" if run is None else "adjudicated"] += 1

    def _decide(self, connection: Connection, case: Case, verdict: Verdict, outcome: Ruling) -> int:
        docket, now = _docket(case), self.clock()
        run = start_run(
            connection,
            kind="review",
            now=now,
            lease_seconds=LEASE_SECONDS,
            scope_id=self.scope_id,
            by=self.by,
            part_of=self.part_of,
        )
        answer = _answer(docket, outcome)
        # Only the conflict's evidence stores the model's reason, so that a forget finds it.
        said = replace(answer, resolution=f"{answer.resolution}, says {self.by}")
        carry_out(Ledger(connection, Author(run.id, self.by), now), case, said)
        stats = {"decision": verdict.holds, "decided": 1, "prompt": VERSION}
        summary = f"conflict {docket.conflict} decided: {'both hold' if outcome == 'both' else 'the later holds'}"
        finish_run(connection, run, status="completed", summary=summary, stats=stats, now=now)
        return run.id

    def _note(self, connection: Connection, docket: Docket, verdict: Verdict, run: int | None) -> None:
        values: dict[str, Any] = {
            "scope": self.scope_id,
            "conflict": docket.conflict,
            "state": docket.state,
            "by": self.asking.model.name,
            "prompt": VERSION,
            "holds": verdict.holds,
            "why": verdict.why,
            "at": self.clock().isoformat(),
            "run": run,
        }
        connection.execute(_NOTE, values)

    def _retract(self) -> None:
        """Undo decisions whose losing memory was later said again. The conflicts reopen for new questions."""
        with self.engine.connect() as connection:
            rows = connection.execute(_DECIDED, {"scope": self.scope_id}).all()
            sides = statements(connection, self.scope_id, _ends(rows))
        for row in rows:
            newer, older = newer_first(sides[row.memory_id], sides[row.conflicting_memory_id])
            if newer.superseded_by != older.id:
                continue
            try:
                undo(self.engine, self.asking.spender.tenant, row.run, by=self.by, now=self.clock())
            except (CannotUndo, UnknownName) as error:
                log.info("run %d of a model stays: %s", row.run, type(error).__name__)
            else:
                self.asking.counts["retracted"] += 1


def _ends(rows: Sequence[Row[Any]]) -> list[UUID]:
    return [memory for row in rows for memory in (row.memory_id, row.conflicting_memory_id)]


def _docket(case: Case) -> Docket:
    conflict = case.conflicts[0]
    newer, older = newer_first(conflict.a, conflict.b)
    return Docket(conflict.id, older, newer)


def _answer(docket: Docket, outcome: Ruling) -> Answer:
    if outcome == "both":
        return keep_both(docket.older, docket.newer)
    return keep_one(docket.older, docket.newer, docket.newer.id)


def _evidence(connection: Connection, tenant: str, docket: Docket) -> list[Evidence]:
    """Return the newest events of both memories: the older memory's events, then the newer one's, in event order."""
    sides = read_sides(connection, tenant, [docket.older.id, docket.newer.id])
    return [
        Evidence(of_newer, said.speaker, said.content, said.happened_at)
        for of_newer, statement in ((False, docket.older), (True, docket.newer))
        for said in reversed(sides[statement.id].sources)
    ]
