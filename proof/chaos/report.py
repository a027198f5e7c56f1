"""The tables of a chaos run: promises, and per kind of fault how long it took until work went on.

Must not know: how any of it was measured.
"""

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from proof.chaos.plan import KINDS
from proof.chaos.progress import Resumed
from proof.chaos.run import Outcome
from proof.chaos.world import PATIENT, SHORTER, VISIBILITY_SECONDS

PAGE = Path(__file__).parents[2] / "docs" / "proof" / "chaos.md"
_LEGEND = (
    "Seconds after the end of a fault: after the kill, or after the server answers again. *First flush*: the first",
    "commit of a session that was dirty before. *All that was due*: each session that had been asked for by then was",
    "flushed. *A hook*: one returned; of a killed process of agents its own. *Took*: the longest that one took while",
    "the fault lasted. Other faults go on meanwhile, and count.",
)
_PROMISES = ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "redis")


def table(outcomes: Sequence[Outcome]) -> str:
    """Per kind: how often, and median and maximum of each figure, in seconds."""
    head = ("fault", "times", "first flush", "", "all that was due", "", "a hook", "", "took", "")
    under = ("", "", *("median", "max") * 4)
    lines = [_row(head), _row(("---",) * len(head)), _row(under)]
    resumed = [one for outcome in outcomes for one in outcome.resumed]
    for kind in KINDS:
        own = [one for one in resumed if one.fault.kind is kind]
        if own:
            lines.append(_row((kind.says, str(len(own)), *_figures(own))))
    return "\n".join(lines)


def _figures(own: Sequence[Resumed]) -> list[str]:
    columns = (
        [one.first for one in own if one.dirty],
        [one.all for one in own],
        [one.hook for one in own],
        [one.longest for one in own],
    )
    figures: list[str] = []
    for values in columns:
        known = [value for value in values if value is not None]
        missing = len(values) - len(known)
        figures.append(f"{median(known):.1f}" if known else "-")
        figures.append((f"{max(known):.1f}" if known else "-") + (f" ({missing} never)" if missing else ""))
    return figures


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write(outcomes: Sequence[Outcome], redis_server: Path | None, *, disks: bool) -> Path:
    """Write the page; answer where it is."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(_page(outcomes, redis_server, disks=disks)) + "\n", encoding="utf-8")
    return PAGE


def _page(outcomes: Sequence[Outcome], redis_server: Path | None, *, disks: bool) -> Iterable[str]:
    found = [finding for outcome in outcomes for finding in outcome.findings]
    faults = sum(len(outcome.plan.faults) for outcome in outcomes)
    events = sum(outcome.events for outcome in outcomes)
    yield "# Chaos"
    yield ""
    yield f"{faults} faults while {events} events were recorded, from {len(outcomes)} seeds: {len(found)} findings."
    yield "`make chaos` does it again; the same seed draws the same plan. This page is written by that command."
    yield ""
    yield f"- Machine: {os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()}"
    yield f"- Broker: {redis_server or 'Valkey of the wheel'}, append-only file, synced every second"
    yield f"- Disk of the spools: {'a file system of its own, filled' if disks else 'a folder made unwritable'}"
    yield "- Leases, sweeps, tickets and retries at their defaults. Shorter, so that minutes show it:"
    for key, value in (SHORTER | PATIENT).items():
        yield f"  `{key}` {value},"
    yield f"  Celery's visibility timeout {VISIBILITY_SECONDS} s"
    yield ""
    yield _row(("seed", "faults", "events", "flushes", "quiet after", "findings"))
    yield _row(("---",) * 6)
    for one in outcomes:
        quiet = "never" if one.quiet_seconds is None else f"{one.quiet_seconds:.0f} s"
        counts = (len(one.plan.faults), one.events, one.flushes, quiet, len(one.findings))
        yield _row((str(one.plan.seed), *map(str, counts)))
    yield ""
    yield _row(("promise", "findings"))
    yield _row(("---", "---"))
    for promise in _PROMISES:
        own = [finding for finding in found if finding.invariant == promise]
        yield _row((promise, "; ".join(finding.what for finding in own) or "holds"))
    yield ""
    yield "## How long until work went on"
    yield ""
    yield from _LEGEND
    yield ""
    yield table(outcomes)
