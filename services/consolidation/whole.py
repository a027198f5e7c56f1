"""Run a pass over one scope, then ask a model, if one is configured, about the scope's open conflicts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Engine

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.adjudication import adjudicate
from slowwave_server.services.consolidation.scope_pass import Order, PassReport, consolidate, in_full, in_words


def consolidate_whole(
    engine: Engine, order: Order, *, settings: Consolidation, clock: Callable[[], datetime]
) -> PassReport:
    """Run `consolidate`. After the last pass of a series, ask the model about conflicts and report the outcomes."""
    report = consolidate(engine, order, settings=settings, clock=clock)
    if order.dry_run or report.more or report.state in {"busy", "stopped"}:
        return report
    asking = adjudicate(engine, order.scope_id, order.model, run=report.run, clock=clock)
    counts = {} if asking is None else {name: number for name, number in sorted(asking.counts.items()) if number}
    if asking is None or not counts:
        return report
    both = {name: report.counts.get(name, 0) + counts.get(name, 0) for name in sorted({*report.counts, *counts})}
    summary = in_full(f"{report.summary}; conflicts: {in_words(counts)}", asking.reached)
    return replace(report, counts=both, summary=summary, not_asked=report.not_asked or asking.reached)
