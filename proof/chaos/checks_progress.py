"""Check I3, progress, and I4, one at a time: no work waits too long, and no two flushes ran at once.

Flushes are timed by the workers' own clock, which faults change, and leases live in Redis, which faults empty: an
overlap near such a fault does not count against I4, and I2 must hold nevertheless.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows, some
from proof.chaos.places import lines_of

OVERDUE_SECONDS = 60
_FAR = 3600
_DIRTY = """
    SELECT id, last_seq - processed_until, flush_due_at, not_before, last_error FROM slowwave.sessions
    WHERE last_seq > processed_until
"""
_OVERDUE = """
    SELECT id, flush_due_at FROM slowwave.sessions
    WHERE flush_due_at < cast(:now AS timestamptz) - make_interval(secs => :overdue)
"""
_FAR_AHEAD = """
    SELECT id, flush_due_at, not_before FROM slowwave.sessions
    WHERE greatest(flush_due_at, not_before) > cast(:now AS timestamptz) + make_interval(secs => :far)
"""
_CONTRADICTORY = """
    SELECT id FROM slowwave.sessions
    WHERE (last_seq > processed_until) <> (dirty_since IS NOT NULL)
       OR (last_seq > processed_until) <> (flush_due_at IS NOT NULL)
"""
_RUNS = """
    SELECT id, kind, started_at FROM slowwave.maintenance_runs WHERE status = 'running' AND lease_until < :now
"""
_OVERLAPS = """
    SELECT f.id AS first, g.id AS second, f.session_id = g.session_id AS same_session,
           least(f.started_at, g.started_at) AS earlier, greatest(f.started_at, g.started_at) AS later
    FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id
    JOIN slowwave.sessions t ON t.agent_id = s.agent_id
    JOIN slowwave.flushes g ON g.session_id = t.id AND g.id > f.id
        AND g.started_at < f.committed_at AND f.started_at < g.committed_at
"""
# Faults that remove leases, or keep holders from renewing them. A worker that dies removes no lease.
_VOIDING = ("flushall", "valkey")
_LOST_BEFORE = timedelta(seconds=2)
"""So far back Valkey may have lost what it was told, with its file synced every second."""
_LEASE = timedelta(seconds=10)
"""So long after such a fault leases that were lost in it may be missed."""
_STEP = re.compile(r"[\d.]+")


def nothing_waits(evidence: Evidence) -> list[Finding]:
    """Check that no session is dirty, overdue, or postponed to a distant time."""
    engine, now = evidence.engine, evidence.now
    return [
        *none_of(engine, "I3", "sessions are dirty", _DIRTY),
        *none_of(engine, "I3", "sessions are overdue", _OVERDUE, now=now, overdue=OVERDUE_SECONDS),
        *none_of(engine, "I3", "sessions wait for a time that is far away", _FAR_AHEAD, now=now, far=_FAR),
        *none_of(engine, "I3", "sessions contradict themselves about being dirty", _CONTRADICTORY),
        *none_of(engine, "I3", "runs are held by a lease that has ended", _RUNS, now=now),
    ]


def one_at_a_time(evidence: Evidence) -> list[Finding]:
    """Check that no two flushes of a session, or of an agent, overlapped, except those that a fault explains."""
    unexplained = [row for row in overlaps(evidence) if not _explained(evidence, row)]
    shown = some(f"flushes {row.first} and {row.second}" for row in unexplained)
    return [Finding("I4", f"{len(unexplained)} flushes ran at the same time", shown)] if unexplained else []


def overlaps(evidence: Evidence) -> list[Any]:
    """Return all pairs of flushes of one agent that overlapped: first, second, same_session, earlier, later.

    first, second: the flushes. same_session: True if both are of one session. earlier, later: the times at which they
    began.
    """
    return rows(evidence.engine, _OVERLAPS)


def explained_overlaps(evidence: Evidence) -> int:
    """Return how many of them a fault explains."""
    return sum(_explained(evidence, row) for row in overlaps(evidence))


CHECKS = (nothing_waits, one_at_a_time)


def _explained(evidence: Evidence, overlap: Any) -> bool:
    """Return True if the lease of the earlier flush may have been lost by the time at which the other began."""
    return any(began <= overlap.later and overlap.earlier <= ended for began, ended in _voided(evidence))


def _voided(evidence: Evidence) -> Iterator[tuple[datetime, datetime]]:
    """Return the periods, as (began, ended), in which leases were unreliable.

    A wrong clock gives two periods: the true times at which it was wrong, and the false times that it showed.
    """
    for fault in lines_of(evidence.places.faults):
        kind = str(fault["kind"])
        began = datetime.fromtimestamp(fault["began"], UTC) - _LOST_BEFORE
        ended = datetime.fromtimestamp(fault["ended"], UTC) + _LEASE
        if kind.startswith((*_VOIDING, "clock")):
            yield began, ended
        if kind.startswith("clock"):
            step = timedelta(seconds=float(_STEP.findall(fault["target"])[0]) * (1 if kind == "clock-ahead" else -1))
            yield began + step, ended + step
