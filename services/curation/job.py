"""The maintenance job `curate`: a pass over every scope with notes to curate, each in its own run."""

import logging
from collections import Counter
from collections.abc import Mapping

from sqlalchemy import text

from slowwave_server.domain.curation import LEAST_WORTH
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.consolidation.jobs import page_scopes
from slowwave_server.services.curation.curate import CurationRules, curate
from slowwave_server.services.curation.notes import ELIGIBLE
from slowwave_server.services.maintenance.scheduler import JobContext, JobOutcome, JobRunner

log = logging.getLogger(__name__)

_SCOPES = text(
    "SELECT s.id FROM slowwave.scopes s WHERE s.id > :after AND EXISTS ("
    f"  SELECT FROM slowwave.memories m WHERE m.scope_id = s.id AND {ELIGIBLE})"
    " ORDER BY s.id LIMIT :most"
)


def run_curation(context: JobContext) -> JobOutcome:
    """Curate each scope that has notes. If one scope fails, the job continues with the others."""
    settings = context.settings.memory
    if not settings.auto_flush.curation.enabled:
        return JobOutcome("curation is switched off (memory.auto_flush.curation.enabled)")
    rules = CurationRules(settings.auto_flush.curation, settings.consolidation)
    counts: Counter[str] = Counter()
    go_on = context.patience()
    for scope_id in page_scopes(context.engine, _SCOPES, {"now": context.clock(), "least": LEAST_WORTH}):
        if not go_on():
            return JobOutcome(f"{_summary(counts)}; stopped early, the next run goes on", dict(counts), "stopped")
        by = f"{context.job.id}, run {context.run.id}"
        try:
            report = curate(
                context.engine,
                scope_id,
                rules=rules,
                clock=context.clock,
                by=by,
                dry_run=context.dry_run,
                part_of=context.run.id,
            )
        except Exception:
            log.exception("scope %d could not be curated", scope_id)
            counts["scopes_failed"] += 1
            continue
        counts["scopes" if report.state == "completed" else f"scopes_{report.state}"] += 1
        counts["curated"] += report.curated
    return JobOutcome(_summary(counts), {name: number for name, number in counts.items() if number})


def _summary(counts: Counter[str]) -> str:
    parts = [f"{pluralize(counts['curated'], 'note')} curated in {pluralize(counts['scopes'], 'scope')}"]
    words = {"scopes_spent": "had their passes of the day", "scopes_busy": "in use", "scopes_failed": "failed"}
    parts += [f"{counts[name]:,} {said}" for name, said in words.items() if counts[name]]
    return ", ".join(parts)


RUNNERS: Mapping[str, JobRunner] = {"curate": run_curation}
"""By job type."""
