"""The tables of a chaos run: promises, and per kind of fault how long it took until work went on.

Must not know: how any of it was measured.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from statistics import median

from bench.machine import machine
from proof.chaos.plan import KINDS
from proof.chaos.progress import Resumed
from proof.chaos.run import Outcome
from proof.chaos.world import shortened
from slowwave.settings import Settings
from slowwave_server.workers.celery_settings import VISIBILITY_SECONDS

PAGE = Path(__file__).parents[2] / "docs" / "proof" / "chaos.md"
_LEGEND = (
    "Seconds after the end of a fault: after the kill, or after the server answers again. *First flush*: the first",
    "commit of a session that was dirty before. *All that was due*: each session that had been asked for by then was",
    "flushed. *A hook*: one returned; of a killed process of agents its own. *Took*: the longest that one took while",
    "the fault lasted. Other faults go on meanwhile, and count.",
)
_COUNTED = (
    "Events are counted in the journals of those who talked, what was forgotten later included. Overlaps: pairs of",
    "flushes of one agent that ran at once because a fault took a lease away or a clock was wrong; no event was in two",
    "windows all the same.",
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


def write(outcomes: Sequence[Outcome], redis_server: Path | None, *, disks: bool, short: bool) -> Path:
    """Write the page; answer where it is."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(_page(outcomes, redis_server, disks=disks, short=short)) + "\n", encoding="utf-8")
    return PAGE


def _page(outcomes: Sequence[Outcome], redis_server: Path | None, *, disks: bool, short: bool) -> Iterable[str]:
    yield "# Chaos"
    yield ""
    yield _verdict(outcomes)
    yield "The same seed draws the same plan. This page is written by"
    seeds = " ".join(str(one.plan.seed) for one in outcomes)
    yield f"`python -m proof.chaos {'--short ' if short else ''}--seeds {seeds} --write`."
    yield ""
    yield f"- Machine: {machine()}"
    yield f"- Broker: {redis_server or 'Valkey of the wheel'}, append-only file, synced every second"
    yield f"- Disk of the spools: {'a file system of its own, filled' if disks else 'a folder made unwritable'}"
    yield "- Settings: see the end of this page"
    yield ""
    yield from _seeds(outcomes)
    yield ""
    yield from _promises(outcomes)
    yield ""
    yield "## How long until work went on"
    yield ""
    yield from _LEGEND
    yield ""
    yield table(outcomes)
    yield ""
    yield from _settings(short=short)


def _verdict(outcomes: Sequence[Outcome]) -> str:
    found = sum(len(outcome.findings) for outcome in outcomes)
    faults = sum(len(outcome.plan.faults) for outcome in outcomes)
    events = sum(outcome.events for outcome in outcomes)
    seeds = "1 seed" if len(outcomes) == 1 else f"{len(outcomes)} seeds"
    return f"**{found} findings**: {faults} faults while {events} events were recorded, from {seeds}."


def _seeds(outcomes: Sequence[Outcome]) -> Iterable[str]:
    yield _row(("seed", "faults", "events", "flushes", "explained overlaps", "at rest after", "in all", "findings"))
    yield _row(("---",) * 8)
    for one in outcomes:
        rest = "never" if one.quiet_seconds is None else f"{one.quiet_seconds:.0f} s"
        counts = (one.plan.seed, len(one.plan.faults), one.events, one.flushes, one.overlaps)
        yield _row((*map(str, counts), rest, f"{one.seconds:.0f} s", str(len(one.findings))))
    yield ""
    yield from _COUNTED


def _promises(outcomes: Sequence[Outcome]) -> Iterable[str]:
    found = [finding for outcome in outcomes for finding in outcome.findings]
    yield _row(("promise", "findings"))
    yield _row(("---", "---"))
    for promise in _PROMISES:
        own = [finding for finding in found if finding.invariant == promise]
        yield _row((promise, "; ".join(finding.what for finding in own) or "holds"))
    if unmade := [finding for finding in found if finding.invariant == "unchecked"]:
        yield _row(("unchecked", "; ".join(f"{finding.what}: {finding.detail}" for finding in unmade)))


def _settings(*, short: bool) -> Iterable[str]:
    yield "## Settings"
    yield ""
    yield "All others are the defaults, leases and sweeps too. Times are shorter, so that minutes show them; what"
    yield "loses its worker again and again is read again for longer, since here no text is at fault; and a model's"
    yield "answer has room for every line of a window."
    yield ""
    yield _row(("setting", "here", "default"))
    yield _row(("---", "---", "---"))
    own, visibility = shortened(short=short)
    for key, value in own.items():
        yield _row((f"`{key}`", value, _default(key)))
    yield _row(("Celery's visibility timeout, seconds", str(visibility), f"{VISIBILITY_SECONDS:g}"))


def _default(key: str) -> str:
    return f"{reduce(getattr, key.split('.'), Settings()):g}"
