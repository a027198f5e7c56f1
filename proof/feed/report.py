"""The result of one run as a page: what each reader of the feed received, and how late."""

from collections.abc import Mapping, Sequence
from os import getloadavg

from bench.machine import machine
from proof.feed.readers import Seen

Positions = set[tuple[int, int]]


def p95(seen: Seen, committed: Mapping[int, float]) -> float:
    """Seconds from the commit of a timed change to its arrival, of 95 %."""
    waits = sorted(at - committed[number] for number, at in seen.first.items())
    return waits[int(len(waits) * 0.95)] if waits else float("inf")


def holds(seen: Seen, ledger: Positions) -> bool:
    """Return whether the reader has every change of the ledger, no other one, each in the order of its memory."""
    return seen.known == ledger and not seen.swapped and not seen.forged


def report(
    readers: Sequence[Seen], ledger: Positions, committed: Mapping[int, float], killed: Sequence[str], seconds: float
) -> str:
    """Return the page in Markdown. seconds: from the first kill until every reader had every change."""
    rate = (len(ledger) - readers[0].timed) / seconds
    deaths = ", ".join(f"{name} {killed.count(name)}" for name in sorted(set(killed)))
    lines = [
        "# The change feed under faults",
        "",
        f"{len(ledger):,} changes of memories; {len(killed)} kills, one program after the other: {deaths or 'none'}.",
        f"Every reader had every change {seconds:.0f} s after the first kill: {rate:.0f} changes a second.",
        f"Machine: {machine()}; load average at the end {getloadavg()[0]:.0f}.",
        "",
        "A reader may receive a change again after a crash, with the same id; the webhook's receiver also fails some",
        "requests. The first arrivals of the changes of one memory must be in order. p95 is the time from commit to",
        "arrival before the first kill; a webhook is served every 5 s.",
        "",
        "| reader | received | again | missing | invented | out of order | forged | failed connections | p95 |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for seen in readers:
        found = (seen.told, seen.repeated, len(ledger - seen.known), len(seen.known - ledger))
        cells = " | ".join(f"{count:,}" for count in (*found, seen.swapped, seen.forged, seen.breaks))
        lines.append(f"| {seen.name} | {cells} | {p95(seen, committed):.2f} s |")
    return "\n".join(lines) + "\n"
