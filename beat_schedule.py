"""The complete beat schedule: each periodic task, its period and its queue.

Ticks are idempotent and expire with their period, so a second beat or an absent worker does no harm.
"""

from dataclasses import dataclass
from typing import Any

from slowwave.coordination.keys import HIGH_QUEUE
from slowwave.external_runs import READ_SESSIONS
from slowwave.messages import (
    CONSOLIDATE_WORKING,
    DELIVER_WEBHOOKS,
    INDEX_VECTORS,
    MAINTENANCE_TICK,
    REFRESH_SEARCH,
    SUMMARIZE_DUE_DAYS,
    SWEEP_REQUESTS,
    SWEEP_SESSIONS,
    SYNC_FILES,
    TAKE_SAMPLES,
    WAKE_STALE,
)
from slowwave.settings import Settings

SAMPLE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Tick:
    """One periodic task: its name, its period in seconds, its queue."""

    task: str
    seconds: float
    queue: str = "maintenance"


def schedule(settings: Settings) -> dict[str, Tick]:
    """Every tick by name."""
    ticks = {
        # First priority: the sweep finds quiet sessions and repairs. Behind a backlog of days it would expire.
        "sweep": Tick(SWEEP_SESSIONS, settings.memory.auto_flush.flush_interval_seconds, queue=HIGH_QUEUE),
        "wake-stale": Tick(WAKE_STALE, 600),
        "refresh-search": Tick(REFRESH_SEARCH, 60),
        "take-samples": Tick(TAKE_SAMPLES, SAMPLE_SECONDS),
        "sweep-requests": Tick(SWEEP_REQUESTS, 15),
        "deliver-webhooks": Tick(DELIVER_WEBHOOKS, 5),
        "consolidate-working": Tick(CONSOLIDATE_WORKING, settings.memory.consolidation.interval_seconds),
        "summarize-days": Tick(SUMMARIZE_DUE_DAYS, 60, queue="days"),
        "sync-files": Tick(SYNC_FILES, settings.memory.files.sync_seconds),
        "maintenance": Tick(MAINTENANCE_TICK, settings.memory.maintenance.tick_seconds),
    }
    if settings.memory.source != "events":
        ticks["read-sessions"] = Tick(READ_SESSIONS, settings.memory.auto_flush.flush_interval_seconds)
    if settings.memory.embeddings.driver != "none":
        ticks["index-vectors"] = Tick(INDEX_VECTORS, settings.memory.embeddings.index_seconds)
    return ticks


def celery_schedule(settings: Settings) -> dict[str, dict[str, Any]]:
    """The ticks in the form of Celery's `beat_schedule`."""
    return {
        name: {
            "task": tick.task,
            "schedule": tick.seconds,
            "options": {"queue": tick.queue, "expires": tick.seconds},
        }
        for name, tick in schedule(settings).items()
    }
