"""When a job runs, in words that a person reads once."""

from datetime import time
from typing import Any

import pytest

from slowwave_server.services.maintenance.jobs import Job
from slowwave_server.services.reports.maintenance import when_words


def job(**more: Any) -> Job:
    names = ("interval_minutes", "weekday", "window_start", "window_end", "next_due_at", "last_run_at", "last_status")
    values: dict[str, Any] = dict.fromkeys((*names, "last_summary"))
    values |= {
        "id": "j",
        "job_type": "retention",
        "cadence": "daily",
        "time_zone": "UTC",
        "enabled": True,
        "details": {},
    }
    return Job(**(values | more))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"cadence": "interval", "interval_minutes": 720}, "every 12 hours (UTC)"),
        ({"cadence": "interval", "interval_minutes": 90}, "every 90 minutes (UTC)"),
        ({"cadence": "interval", "interval_minutes": 60}, "every hour (UTC)"),
        ({"cadence": "interval", "interval_minutes": 2880}, "every 2 days (UTC)"),
        (
            {"window_start": time(10), "window_end": time(11), "time_zone": "Europe/Rome"},
            "daily 10:00-11:00 (Europe/Rome)",
        ),
        ({"cadence": "weekly", "weekday": 6, "window_start": time(3)}, "weekly on sunday from 03:00 (UTC)"),
    ],
)
def test_a_schedule_reads_in_its_largest_units(more: dict[str, Any], words: str) -> None:
    assert when_words(job(**more)) == words
