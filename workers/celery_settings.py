"""Every setting of Celery, each with its reason, and nowhere else."""

from typing import Any

from kombu import Queue

from slowwave.coordination.broker import sentinels_of, tls_options
from slowwave.coordination.keys import QUEUES
from slowwave.external_runs import READ_SESSION
from slowwave.messages import (
    CONSOLIDATE_SCOPE,
    CURATE_SCOPE,
    DELIVER_OUTBOX,
    FINALIZE_DAYS,
    FLUSH_SESSION,
    PROMPT_ARRIVED,
    RECORD_TURN,
    REMEMBER,
    SUMMARIZE_DAY,
    SWEEP_SESSIONS,
)
from slowwave.settings import Settings
from slowwave_server.beat_schedule import celery_schedule

# A message whose worker died comes back after this, if it is over twice the longest task. Until then the sweep has
# long offered the session again. (A maintenance job may run longer: its message comes back meanwhile, finds the job no
# longer due, and stops. So may a summary of a day: then two make it, and one of them commits. So may a delivery to
# files: the other one finds their lock taken.)
VISIBILITY_SECONDS = 180.0
# A worker that is told to stop gives its work this long before it hands the messages back.
SOFT_SHUTDOWN_SECONDS = 3.0

_ONE_SERVER = "slowwave_server.workers.transport:Transport"
_SENTINELS = "slowwave_server.workers.sentinel_transport:SentinelTransport"

_FIXED: dict[str, Any] = {
    # Only these queues: a typo in a route must not make a queue that nobody reads.
    "task_default_queue": "maintenance",
    "task_default_exchange": "",
    "task_create_missing_queues": False,
    "task_routes": {
        RECORD_TURN: {"queue": "capture"},
        PROMPT_ARRIVED: {"queue": "capture"},
        REMEMBER: {"queue": "capture"},
        READ_SESSION: {"queue": "capture"},
        CONSOLIDATE_SCOPE: {"queue": "consolidate"},
        CURATE_SCOPE: {"queue": "consolidate"},
        DELIVER_OUTBOX: {"queue": "consolidate"},
        FLUSH_SESSION: {"queue": "flush"},
        SWEEP_SESSIONS: {"queue": "flush.high"},
        SUMMARIZE_DAY: {"queue": "days"},
        FINALIZE_DAYS: {"queue": "days"},
    },
    # A message is acknowledged when its work is done; a killed child gives it back; a failure is not tried again by
    # the broker, since Postgres knows what is still to do.
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": True,
    # One message a child: whatever more a worker held could not be overtaken.
    "worker_prefetch_multiplier": 1,
    # JSON only: a pickle message is refused, not run.
    "task_serializer": "json",
    "accept_content": ["json"],
    # Outcomes live in Postgres.
    "result_backend": None,
    "task_ignore_result": True,
    # A server that is away is waited for; a publish that can't be made is given up soon, since the sweep repairs it.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_pool_acquire_timeout": 5,
    "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
    # SIGTERM (remapped to SIGQUIT) waits this long for running work, then gives the messages back; idle workers too,
    # for the message that was taken in the last moment.
    "worker_soft_shutdown_timeout": SOFT_SHUTDOWN_SECONDS,
    "worker_enable_soft_shutdown_on_idle": True,
    # A lost connection to Redis does not stop a flush: its commit counts, not its acknowledgement.
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    # Flower sees tasks through events, three a task: a fifth of what a flush costs the broker. So they are sent where
    # -E asks for them, and from when Flower does, which asks all workers every 5 s.
    "worker_send_task_events": False,
    "task_send_sent_event": True,
    "beat_max_loop_interval": 5,
    "timezone": "UTC",
    "enable_utc": True,
}

_TRANSPORT: dict[str, Any] = {
    # Restores what a killed worker held as soon as it is visible again, and not only at every tenth look.
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    # A worker that dies inside a restore blocks all others for this long (300 s as shipped).
    "unacked_mutex_expire": 30,
    # Queues in the order of `-Q`, strictly, but no endless row of urgent ones keeps the next queue waiting for ever.
    "queue_order_strategy": "slowwave_server.workers.queue_order:BoundedPriority",
    # No call waits for ever on a half-open connection.
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 10,
}


def broker_settings(settings: Settings, **options: float) -> dict[str, Any]:
    """How any app reaches the broker: one server, or the master that sentinels name. options: of the transport."""
    found = sentinels_of(settings.broker_url)
    return {
        "broker_url": settings.broker_url if found is None else found.url(),
        "broker_use_ssl": tls_options(settings.broker_url, settings.broker_ca) or None,
        "broker_transport": _ONE_SERVER if found is None else _SENTINELS,
        "broker_transport_options": _TRANSPORT | {"master_name": settings.broker_master} | options,
    }


def celery_settings(settings: Settings) -> dict[str, Any]:
    """Celery's configuration for these settings."""
    longest = settings.memory.auto_flush.extractor.max_extraction_seconds + 30
    visible = max(VISIBILITY_SECONDS, 2 * longest)
    return (
        _FIXED
        | broker_settings(settings, visibility_timeout=visible)
        | {
            "task_queues": [Queue(name, exchange="", routing_key=name) for name in QUEUES],
            "task_time_limit": longest,
            "task_soft_time_limit": longest - 15,
            "beat_schedule": celery_schedule(settings),
        }
    )
