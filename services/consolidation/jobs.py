"""The maintenance jobs of consolidation: a pass over every scope that has due memories, each pass in a separate run.

Because the runs are separate, a tenant can see and undo only the changes of its own scopes (I8).
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Engine, TextClause, text

from slowwave.errors import InvalidSettings
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.consolidation.adjudication import adjudicate
from slowwave_server.services.consolidation.asking import ModelUse
from slowwave_server.services.consolidation.batches import DUE, OLD_ENOUGH, PassKind
from slowwave_server.services.consolidation.questions import WAITING
from slowwave_server.services.consolidation.scope_pass import Order, PassReport, consolidate, in_full, in_words
from slowwave_server.services.llm.build import with_command
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner
from slowwave_server.services.memories.use import learn_from_use
from slowwave_server.services.review.decisions import expire_due

log = logging.getLogger(__name__)

_SCOPES_PAGE = 500
_IN_CONFLICT = text(
    "SELECT s.id FROM slowwave.scopes s WHERE s.id > :after AND EXISTS ("
    "  SELECT FROM slowwave.memory_conflicts k WHERE k.scope_id = s.id AND"
    "   (k.status = 'open' OR (k.status = 'resolved' AND k.evidence -> 'asked' ->> 'run' IS NOT NULL)))"
    " ORDER BY s.id LIMIT :most"
)


def page_scopes(engine: Engine, query: TextClause, values: Mapping[str, Any]) -> Iterator[int]:
    """Yield the ids that `query` finds after :after, in pages of :most, so that a million ids are never in memory."""
    after = 0
    while True:
        with engine.connect() as connection:
            found = connection.execute(query, {**values, "after": after, "most": _SCOPES_PAGE})
            page = found.scalars().all()
        yield from page
        if len(page) < _SCOPES_PAGE:
            return
        after = page[-1]


def due_scopes(engine: Engine, context: JobContext, kind: PassKind) -> Iterator[int]:
    """Return the scopes with a due memory, or with a contradiction that waits for a question to a person."""
    query = text(
        "SELECT s.id FROM slowwave.scopes s WHERE s.id > :after AND (EXISTS ("
        f"  SELECT FROM slowwave.memories m WHERE m.scope_id = s.id AND {OLD_ENOUGH} AND {DUE[kind]})"
        f" OR EXISTS ({WAITING}))"
        " ORDER BY s.id LIMIT :most"
    )
    until = context.clock() - timedelta(days=context.settings.memory.consolidation.min_age_days)
    return page_scopes(engine, query, {"until": until})


def run_passes(context: JobContext, *, kind: PassKind) -> JobOutcome:
    """Learn importance from use, run a pass over each scope with due work, then ask a model about open conflicts.

    If the pass over one scope fails or stops, the job continues with the other scopes.
    """
    settings = context.settings.memory.consolidation
    if not settings.enabled:
        return JobOutcome("consolidation is switched off (memory.consolidation.enabled)")
    work, go_on = _Work(context, kind), context.patience()
    if not context.dry_run:
        on = settings.learn_from_use
        work.counts["learned"] = learn_from_use(context.engine, on=on, now=context.clock(), go_on=go_on)
    for scope_id in due_scopes(context.engine, context, kind):
        if not go_on():
            break
        work.consolidate(scope_id)
    work.adjudicate_all(go_on)
    if not context.still_ours():
        return JobOutcome("another worker has the job", dict(work.counts), "stopped")
    if not go_on():
        work.stopped.append("out of time, the next run goes on")
    if not context.dry_run:
        work.counts["lapsed"] += expire_due(context.engine, now=context.clock(), by=context.by, part_of=context.run.id)
    return work.outcome()


@dataclass
class _Work:
    """The progress of a run. use: the model, or None; stopped: the scopes whose pass ended early, with the reasons."""

    context: JobContext
    kind: PassKind
    use: ModelUse | None = None
    counts: Counter[str] = field(default_factory=Counter)
    stopped: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.use = _model_use(self.context)
        except InvalidSettings as error:
            # Invalid model settings count as no model: passes do not do the model's work.
            self.not_asked.append(str(error))

    def consolidate(self, scope_id: int) -> None:
        context = self.context
        by = f"{context.job.id}, run {context.run.id}"
        order = Order(scope_id, self.kind, by=by, dry_run=context.dry_run, model=self.use, part_of=context.run.id)
        try:
            report = consolidate(
                context.engine, order, settings=context.settings.memory.consolidation, clock=context.clock
            )
        except Exception:
            log.exception("scope %d could not be consolidated", scope_id)
            self.counts["scopes_failed"] += 1
            return
        _count(self.counts, report)
        self.not_asked.append(report.not_asked)
        if report.state == "stopped":
            self.stopped.append(f"scope {scope_id}: {report.summary}")

    def adjudicate_all(self, go_on: Callable[[], bool]) -> None:
        if self.use is None or not self.use.adjudicate:
            return
        for scope_id in page_scopes(self.context.engine, _IN_CONFLICT, {}):
            if not go_on():
                return
            self._adjudicate(scope_id, go_on)

    def _adjudicate(self, scope_id: int, go_on: Callable[[], bool]) -> None:
        context = self.context
        try:
            asking = adjudicate(context.engine, scope_id, self.use, clock=context.clock, go_on=go_on)
        except Exception:
            log.exception("conflicts of scope %d could not be put to a model", scope_id)
            self.counts["scopes_failed"] += 1
            return
        if asking is not None:
            self.counts.update(asking.counts)
            self.not_asked.append(asking.reached)

    def outcome(self) -> JobOutcome:
        summary = in_full("; ".join([_summary(self.counts), *self.stopped]), *self.not_asked)
        stats = {name: number for name, number in self.counts.items() if number}
        return JobOutcome(summary, stats, "stopped" if self.stopped else "completed")


def _model_use(context: JobContext) -> ModelUse | None:
    """Return the model of the settings or the job's command, charged to this run. Raises InvalidSettings."""
    settings, command = context.settings, context.job.details.get("llm_command")
    if command:
        settings = with_command(settings, str(command))
    model = None if context.dry_run else context.build_model(settings)
    return ModelUse.of(model, settings.memory.llm, run=context.run.id)


def _count(counts: Counter[str], report: PassReport) -> None:
    counts["scopes"] += report.state in {"completed", "rolled_back", "stopped"}
    counts["scopes_busy"] += report.state == "busy"
    counts["checked"] += report.checked
    counts["failed"] += report.failed
    counts.update(report.counts)


def _summary(counts: Counter[str]) -> str:
    apart = {"scopes", "checked"}
    done = in_words({name: number for name, number in sorted(counts.items()) if number and name not in apart})
    looked = f"{pluralize(counts['checked'], 'memory', 'memories')} in {pluralize(counts['scopes'], 'scope')}"
    return f"{looked} looked at: {done or 'nothing to change'}"


RUNNERS: Mapping[str, JobRunner] = {
    "consolidate_light": partial(run_passes, kind="light"),
    "consolidate_deep": partial(run_passes, kind="deep"),
}
"""The runner of each job type."""
