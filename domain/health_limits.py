"""Thresholds of health issues, shared by the doctor's checks and the alert rules.

Must not know: the texts of an issue, how it is detected.
"""

from datetime import timedelta

BACKLOG_SECONDS = 300.0
"""A session that waits so much longer than `memory.auto_flush.max_dirty_age_seconds` is the head of a backlog."""
REVIEW_OLD = timedelta(days=7)
"""A question that waits for longer is not being read: the least urgent ones lapse after twice that time."""
REVIEW_MANY = 100
"""With more open questions than this, hours of answers wait: passes ask faster than people answer."""
CONFLICT_OLD = timedelta(days=14)
"""A contradiction that is open for longer is not being looked at."""
CLOCKS_APART_SECONDS = 2.0
"""Clocks that differ by more than this make waiting times wrong by as much."""
LATE_TICKS = 2
"""A job that is due for more than so many ticks is run by nobody."""
FAILED_RUNS = 3
"""A job whose latest runs, so many of them, all failed will not mend itself."""
BROKER_FULL_SHARE = 0.8
"""From this share of `maxmemory` on, the broker may soon refuse messages."""
SPOOL_ROOM_BYTES = 100_000_000
"""With less room than this on the spool's disk, a longer outage of Postgres would lose events."""
