"""docs/proof/sizing.md, written from figures alone.

Must not know: how any figure was made.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from proof.sizing.checking import NARROW, WIDE, Compared
from proof.sizing.costs import Cost, Costs
from proof.sizing.growing import Point
from proof.sizing.needs import Assumed, Needs, needs

_OPERATIONS = {
    "capture": "a turn recorded (`turn_completed`)",
    "offer": "a session offered",
    "flush": "a window of one turn read, rules",
    "flush_taken": "the same, of a session that waited behind the one before",
    "flush_turn": "each further turn of a window",
    "side": "what a flush brings besides: its day, its files",
    "sweep": "a session found by a sweep",
    "context": "`context` read",
    "search": "`search` read",
}
_NEEDS: Mapping[str, tuple[str, str]] = {
    "worker_processes": ("worker processes, rules", ".2f"),
    "model_slots": ("worker threads where a model reads", ".0f"),
    "postgres_cores": ("cores of Postgres, writing", ".2f"),
    "postgres_cores_reads": ("cores of Postgres or a replica, reading contexts", ".2f"),
    "commits_per_second": ("commits a second", ".0f"),
    "disk_writes_per_second": ("writes of the log to the disk a second, at most", ".0f"),
    "log_gb_per_day": ("log of Postgres, GB a day", ".1f"),
    "gb_per_year": ("Postgres, GB a year, nothing removed", ".0f"),
    "valkey_cores": ("part of Valkey's one thread", ".3f"),
    "valkey_mb": ("Valkey, MB of waiting messages", ".1f"),
    "calls_per_day": ("calls of a model a day", ",.0f"),
    "tokens_per_day": ("tokens a day", ",.0f"),
}


def written(costs: Costs, rows: Sequence[Compared], points: Sequence[Point], assumed: Assumed) -> str:
    """The whole page."""
    parts = (_head(costs, rows), _check(rows), _growth(points), _million(costs, assumed), _costs(costs), _limits())
    return "\n".join(line for part in parts for line in part)


def _head(costs: Costs, rows: Sequence[Compared]) -> Iterator[str]:
    yield "# Sizing\n"
    yield "Written by `python -m proof.sizing`; nothing in it is by hand. What an operator makes of it stands in"
    yield "[scale.md](../scale.md).\n"
    yield f"Measured on: {costs.machine}. Everything ran on it at once: producers, workers, Postgres and Valkey.\n"
    near = sum(row.near for row in rows)
    if rows:
        ratios = sorted(row.ratio for row in rows)
        yield f"**The model over what was measured: {ratios[0]:.2f} to {ratios[-1]:.2f}, {near} of {len(rows)} figures"
        yield f"within {NARROW} to {WIDE}.**\n"


def _check(rows: Sequence[Compared]) -> Iterator[str]:
    yield "## The model beside real workers\n"
    if not rows:
        yield "Not run: `python -m proof.sizing check`.\n"
        return
    yield "One and two worker processes get an open load, a part of what the model says that they can bear; the model"
    yield "gets the very same turns, at the costs below. A session is due after three turns, or two quiet seconds.\n"
    yield "| ratio | near | processes | load | turns offered a second | figure | measured | model |"
    yield "| ---: | --- | ---: | ---: | ---: | --- | ---: | ---: |"
    for row in rows:
        yield (
            f"| {row.ratio:.2f} | {'yes' if row.near else '**no**'} | {row.processes} | {row.load:.0%} "
            f"| {row.offered:.0f} | {row.what} | {row.measured:.2f} {row.unit} | {row.modelled:.2f} {row.unit} |"
        )
    yield "\n![model over measured](sizing-check.png)\n"


def _growth(points: Sequence[Point]) -> Iterator[str]:
    yield "## More workers, until something is full\n"
    if not points:
        yield "Not run: `python -m proof.sizing run`.\n"
        return
    yield "The model alone, with each part on machines of its own. More turns come in than the fullest part can take,"
    yield "each is a window by itself (the dearest case), and what is counted is windows read.\n"
    yield "| case | workers | windows a second, at most | a worker's part of one alone | full first |"
    yield "| --- | ---: | ---: | ---: | --- |"
    alone = {point.case: point.flushes_per_second / point.workers for point in reversed(points)}
    for point in points:
        part = point.flushes_per_second / point.workers / (alone[point.case] or 1.0)
        yield f"| {point.case} | {point.workers} | {point.flushes_per_second:.0f} | {part:.0%} | {point.full} |"
    yield "\n![windows read by workers](sizing-growth.png)\n"


def _million(costs: Costs, assumed: Assumed) -> Iterator[str]:
    yield "## For each million turns a day\n"
    yield (
        f"At its peak {assumed.peak:g} times the mean, no part busier than {assumed.busy:.0%} then; a window reads"
        f" {assumed.turns_per_flush:g} turns; a reply reads {assumed.contexts_per_turn:g} context a turn; a model takes"
        f" {assumed.model_seconds:g} s and {assumed.tokens:g} tokens a window; {assumed.queued} messages wait at once."
    )
    yield "Change them: `python -m proof.sizing report --turns-per-flush 8 --peak 6 --model-seconds 5`.\n"
    yield "| what | needed |"
    yield "| --- | ---: |"
    figures: Needs = needs(costs, assumed)
    for name, (words, form) in _NEEDS.items():
        yield f"| {words} | {getattr(figures, name):{form}} |"
    yield ""


def _costs(costs: Costs) -> Iterator[str]:
    yield "## Unit costs\n"
    yield "| µs of CPU | client or worker | Postgres | Valkey |"
    yield "| --- | ---: | ---: | ---: |"
    for name, words in _OPERATIONS.items():
        cost: Cost = getattr(costs, name)
        yield f"| {words} | {cost.caller * 1e6:.0f} | {cost.postgres * 1e6:.0f} | {cost.valkey * 1e6:.0f} |"
    yield ""
    yield "| besides | |"
    yield "| --- | ---: |"
    yield f"| a write of the log to the disk | {costs.wal_flush_seconds * 1e3:.2f} ms |"
    yield f"| spread of a flush's time (standard deviation / mean) | {costs.spread:.2f} |"
    yield f"| memories of a turn | {costs.memories_per_turn:.2f} |"
    for field in fields(costs):
        if field.name.endswith("_bytes") or field.name == "wal_bytes_per_turn":
            yield f"| {field.name.replace('_', ' ')} | {getattr(costs, field.name):,.0f} |"
    yield ""


def _limits() -> Iterator[str]:
    yield "## What it does not say\n"
    yield "- The model has no lost message, dead worker or outage: those are the chaos proof's."
    yield "- Needs are reckoned for sessions that come alone. With a backlog a worker goes on with those that wait, and"
    yield "  each of these costs what stands in the second line on windows."
    yield "- Costs are those of small tables with warm caches; what a large database adds is in the scale proof."
    yield "- Passes of consolidation are not in it: they run off-peak, and the consolidation benchmark has their cost."
    yield "- Networks between machines cost nothing in it. Each flush makes a handful of round trips to Postgres."
    yield "- Cores are those of the machine named above."
