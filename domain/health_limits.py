"""Thresholds of health issues, shared by the doctor's checks and the alert rules."""

from datetime import timedelta

BACKLOG_SECONDS = 300.0
"""A session that waits this much longer than `memory.auto_flush.max_dirty_age_seconds` is the head of a backlog."""
REVIEW_OLD = timedelta(days=7)
"""After this wait nobody seems to read the questions: the least urgent ones expire after twice that time."""
REVIEW_MANY = 100
"""More open questions mean hours of work for reviewers: passes ask faster than people answer."""
CONFLICT_OLD = timedelta(days=14)
"""After this time nobody seems to look at an open contradiction."""
CLOCKS_APART_SECONDS = 2.0
"""A larger difference between clocks makes waiting times wrong by the same amount."""
LATE_TICKS = 2
"""No worker runs a job that is overdue by more ticks than this."""
FAILED_RUNS = 3
"""A job needs an operator if this many of its latest runs all failed."""
ROLLED_BACK_SHOWN = timedelta(days=7)
"""A pass that was rolled back is an issue for this time, unless a deep pass over its scope completes before."""
BROKER_FULL_SHARE = 0.8
"""At this share of `maxmemory` the broker may soon refuse messages."""
SPOOL_ROOM_BYTES = 100_000_000
"""With less free space on the spool's disk, a longer outage of Postgres would lose events."""
