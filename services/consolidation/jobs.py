"""The maintenance jobs of consolidation: a pass over every scope in which memories are due, each a run of its own.

So that a tenant sees and takes back what was done to its own scopes, and nothing else (I8).

Must not know: when a job is due, Celery.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import Engine, TextClause, text

from domain.spoken_time import count_words
from services.consolidation.batches import DUE, PassKind
from services.consolidation.command_model import CallsPerRun, CommandModel
from services.consolidation.scope_pass import Order, PassReport, consolidate, in_words
from services.consolidation.synthesis import Synthesis
from services.maintenance import MAX_TIME, JobContext, JobOutcome, JobRunner
from services.review import expire_due

log = logging.getLogger(__name__)

_SCOPES_PAGE = 500


def page_scopes(engine: Engine, query: TextClause, values: Mapping[str, Any]) -> Iterator[int]:
    """The ids that `query` finds behind :after, at most :most of them, page by page: a million scopes are no list in
    memory.
    """
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
    """The scopes that hold a memory which is due."""
    query = text(
        "SELECT s.id FROM slowwave.scopes s WHERE s.id > :after AND EXISTS ("
        f"  SELECT FROM slowwave.memories m WHERE m.scope_id = s.id AND m.recorded_at <= :until AND {DUE[kind]})"
        " ORDER BY s.id LIMIT :most"
    )
    until = context.clock() - timedelta(days=context.settings.memory.consolidation.min_age_days)
    return page_scopes(engine, query, {"until": until})


def run_passes(context: JobContext, *, kind: PassKind) -> JobOutcome:
    """Pass over each scope that has something due. A scope that fails or stops keeps none of the others waiting."""
    settings = context.settings.memory.consolidation
    if not settings.enabled:
        return JobOutcome("consolidation is switched off (memory.consolidation.enabled)")
    counts: Counter[str] = Counter()
    stopped: list[str] = []
    synthesis = _synthesis(context)
    ends = context.clock() + MAX_TIME
    for scope_id in due_scopes(context.engine, context, kind):
        if context.clock() >= ends:
            stopped.append("out of time, the next run goes on")
            break
        if not context.still_ours():
            return JobOutcome("another worker has the job", dict(counts), "stopped")
        order = Order(
            scope_id,
            kind,
            by=f"{context.job.id}, run {context.run.id}",
            dry_run=context.dry_run,
            synthesis=synthesis,
        )
        try:
            report = consolidate(context.engine, order, settings=settings, clock=context.clock)
        except Exception:
            log.exception("scope %d could not be consolidated", scope_id)
            counts["scopes_failed"] += 1
            continue
        _count(counts, report)
        if report.state == "stopped":
            stopped.append(f"scope {scope_id}: {report.summary}")
    if not context.dry_run:
        counts["lapsed"] += expire_due(context.engine, now=context.clock(), by=context.by)
    summary = "; ".join([_summary(counts), *stopped])
    stats = {name: number for name, number in counts.items() if number}
    return JobOutcome(summary, stats, "stopped" if stopped else "completed")


def _synthesis(context: JobContext) -> Synthesis | None:
    """The model that the job names, with what one run may ask of it; None where it names none."""
    command = context.job.details.get("llm_command")
    return Synthesis(CommandModel(str(command)), CallsPerRun()) if command else None


def _count(counts: Counter[str], report: PassReport) -> None:
    counts["scopes"] += report.state in {"completed", "stopped"}
    counts["scopes_busy"] += report.state == "busy"
    counts["checked"] += report.checked
    counts["failed"] += report.failed
    counts.update(report.counts)


def _summary(counts: Counter[str]) -> str:
    apart = {"scopes", "checked"}
    done = in_words({name: number for name, number in sorted(counts.items()) if number and name not in apart})
    looked = f"{count_words(counts['checked'], 'memory', 'memories')} in {count_words(counts['scopes'], 'scope')}"
    return f"{looked} looked at: {done or 'nothing to change'}"


RUNNERS: Mapping[str, JobRunner] = {
    "consolidate_light": partial(run_passes, kind="light"),
    "consolidate_deep": partial(run_passes, kind="deep"),
}
"""By job type."""
