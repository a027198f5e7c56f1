"""The maintenance job of days: every ended day becomes final."""

import logging
from collections import Counter
from collections.abc import Mapping

from slowwave.errors import InvalidSettings
from slowwave_server.domain.model_calls import AskModel
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.days.book import ended_days
from slowwave_server.services.days.finalize import FinalizeReport, finalize_ended
from slowwave_server.services.days.model_summarizer import choose_summarizer
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner

log = logging.getLogger(__name__)

MAX_DAYS = 100_000


def run_finalize_days(context: JobContext) -> JobOutcome:
    """Make ended days final, one by one. A failed day is reported and does not delay the others."""
    now = context.clock()
    if context.dry_run:
        with context.engine.connect() as connection:
            days = ended_days(connection, now=now, limit=MAX_DAYS)
        return JobOutcome(f"{pluralize(len(days), 'day')} would be made final", {"ended": len(days)})
    go_on = context.patience()
    report = finalize_ended(
        context.engine,
        context.settings.memory.days,
        now=now,
        limit=MAX_DAYS,
        go_on=go_on,
        choose=choose_summarizer(context.settings.memory.days, _model(context)),
    )
    return JobOutcome(_summary(report), _stats(report), "completed" if go_on() else "stopped")


def _model(context: JobContext) -> AskModel | None:
    if not context.settings.memory.days.daily_summary_use_model:
        return None
    try:
        return context.build_model(context.settings)
    except InvalidSettings as error:
        # A model with invalid settings counts as no model: the rules summarise.
        log.warning("days are summarised by the rules: %s", error)
        return None


def _stats(report: FinalizeReport) -> dict[str, int]:
    counts: Counter[str] = Counter(day.outcome for day in report.days)
    stats: dict[str, int] = {"ended": len(report.days), "finalized": report.finalized, **counts}
    return {name: number for name, number in stats.items() if number}


def _summary(report: FinalizeReport) -> str:
    if not report.days:
        return "every ended day is final"
    said = f"{pluralize(report.finalized, 'day')} of {len(report.days)} made final"
    if report.failed:
        said += f", {len(report.failed)} failed and are tried again"
    return said


RUNNERS: Mapping[str, JobRunner] = {"finalize_days": run_finalize_days}
"""By job type."""
