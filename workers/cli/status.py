"""`slowwave status`: queues, backlog, latency and workers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.options import Json
from slowwave_server.workers.cli.output import console, print_json, print_rows
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND, UNAVAILABLE
from slowwave_server.workers.shared.json_document import document

if TYPE_CHECKING:
    from slowwave.spool import Spooled
    from slowwave_server.services.reports.status import Status


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Show queues, unprocessed sessions, the latency from turn to memory, and the workers.

    Exit 0 if Postgres, the broker and at least one worker answer. Exit 1 if no worker answers. Exit 3 if Postgres or
    the broker does not answer; without the broker, the rows that come from Postgres are printed nevertheless.
    """
    from slowwave_server.workers.shared.light_imports import import_redis

    import_redis()
    from slowwave.coordination.queue_depths import QueueDepths
    from slowwave_server.services.reports.budget import caps_reached, reached_words
    from slowwave_server.services.reports.status import read_status

    shell = shell_of(context)
    with shell.driver() as connection:
        found = read_status(connection, QueueDepths(shell.redis), shell.tenant, shell.now())
        caps = caps_reached(connection, shell.tenant, shell.settings.memory.llm, shell.now())
    workers, spooled, swept_ago = shell.listening(), shell.spooled(), shell.swept_ago()
    if as_json:
        more = {"swept_ago_seconds": swept_ago, "spool": spooled._asdict(), "workers": workers}
        print_json(document(found) | more | {"caps_reached": document(caps)})
    else:
        models = [("model", "\n".join(reached_words(used) for used in caps))] if caps else []
        print_rows(console(), [*_standing(found), *models, *_around(workers, spooled, swept_ago)])
    if found.queues is None or workers is None:
        raise typer.Exit(UNAVAILABLE)
    if not workers:
        raise typer.Exit(FOUND)


def _standing(found: "Status") -> list[tuple[str, str]]:
    lag = found.lag
    if found.queues is None:
        queues = "unknown: the broker does not answer"
    else:
        queues = " · ".join(f"{queue} {depth:,}" for queue, depth in found.queues.items())
    dirty = pluralize(found.dirty_sessions, "dirty session")
    if found.oldest_dirty_seconds is not None:
        dirty = f"at least {dirty}; of these" if found.more_dirty else f"{dirty},"
        dirty += (
            f" {pluralize(found.events_waiting, 'event')} waiting, the oldest for "
            f"{duration_words(found.oldest_dirty_seconds)} ({found.overdue:,} due, {found.backing_off:,} backing off)"
        )
    outcomes = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in found.flushes.items())
    total = sum(found.flushes.values())
    rows = [
        ("tenant", found.tenant),
        ("queues", queues),
        ("sessions", dirty),
        ("last hour", f"{pluralize(total, 'flush', 'flushes')}" + (f": {outcomes}" if total else "")),
    ]
    left = {"a cap is reached": found.left_to_rules["budget"], "no usable answer": found.left_to_rules["failed"]}
    if any(left.values()):
        why = ", ".join(f"{count:,} ({reason})" for reason, count in left.items() if count)
        rows.append(("left to rules", f"{why}; `slowwave run rebuild AGENT --only-fallback` reads them again"))
    if found.without_rules:
        by_language = ", ".join(f"{language} {count:,}" for language, count in found.without_rules.items())
        events = pluralize(sum(found.without_rules.values()), "event")
        rows.append(("without rules", f"{events} ({by_language}): searchable; memories need a model"))
    if lag.p50_seconds is not None and lag.p95_seconds is not None:
        shares = f"half within {duration_words(lag.p50_seconds)}, 95 % within {duration_words(lag.p95_seconds)}"
        rows.append(("turn to memory", shares))
    return [*rows, *_left(found)]


def _left(found: "Status") -> list[tuple[str, str]]:
    """Return rows about failed events, failed notes and days, and the backlog of backends."""
    from slowwave_server.services.reports.unkept import Unkept, unkept_words

    aside = f"{pluralize(found.quarantined, 'event')} quarantined, {pluralize(found.dead_letters, 'dead letter')}"
    rows = [("set aside", aside)]
    if found.failed_notes or found.failed_days:
        failed = unkept_words(Unkept(found.failed_notes, found.failed_days))
        rows.append(("notes", f"{failed} and will be tried again; `slowwave doctor` says more"))
    for backend, waiting in found.backends.items():
        behind = f"{pluralize(waiting, 'memory', 'memories')} waiting" if waiting else "up to date"
        rows.append(("backend", f"{backend}: {behind}"))
    return rows


def _around(
    workers: Mapping[str, frozenset[str]] | None, spooled: "Spooled", swept_ago: float | None
) -> list[tuple[str, str]]:
    sweep = "no trace of any" if swept_ago is None else f"{duration_words(swept_ago)} ago"
    waiting = f"{pluralize(spooled.files, 'file')}, {spooled.size_bytes:,} bytes" if spooled.files else "empty"
    rows = [("last sweep", sweep), ("spool", waiting)]
    if workers is None:
        return [*rows, ("workers", "unknown: the broker does not answer")]
    if not workers:
        return [*rows, ("workers", "none answers")]
    names = [f"{worker}: {', '.join(sorted(queues))}" for worker, queues in workers.items()]
    return [*rows, ("workers", "\n".join(names))]
