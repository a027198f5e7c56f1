"""All settings of Celery, each with its reason."""

from typing import Any

from kombu import Queue

from slowwave.coordination.broker import sentinels_of, tls_options
from slowwave.coordination.keys import QUEUES
from slowwave.settings import Settings
from slowwave_server.beat_schedule import schedule
from slowwave_server.tasks import all_tasks

# After this time, the message of a dead worker returns to its queue: more than twice the longest task. The sweep has
# then long offered the session again. Longer work may get its message twice: a maintenance job finds itself no longer
# due and stops; of two summaries of a day only one commits; a second delivery to files finds their lock taken.
VISIBILITY_SECONDS = 180.0
# A worker that is told to stop gives its running work this time before it returns the messages.
SOFT_SHUTDOWN_SECONDS = 3.0

_ONE_SERVER = "slowwave_server.workers.transport:Transport"
_SENTINELS = "slowwave_server.workers.sentinel_transport:SentinelTransport"

_FIXED: dict[str, Any] = {
    # Only these queues: a typing error in a route must not create a queue without a reader.
    "task_default_queue": "maintenance",
    "task_default_exchange": "",
    "task_create_missing_queues": False,
    # A message is acknowledged when its work is done; the message of a killed child returns. The broker retries no
    # failure, because Postgres knows what is still to do.
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_failure_or_timeout": True,
    # Each child prefetches one message only, because an urgent message can't overtake a prefetched one.
    "worker_prefetch_multiplier": 1,
    # JSON only: a pickle message is refused, not run.
    "task_serializer": "json",
    "accept_content": ["json"],
    # Results are stored in Postgres.
    "result_backend": None,
    "task_ignore_result": True,
    # Wait for an unavailable server, but give up a publish soon, because the sweep repairs it.
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,
    "broker_pool_acquire_timeout": 5,
    "task_publish_retry_policy": {"max_retries": 2, "interval_start": 0, "interval_step": 0.2, "interval_max": 0.5},
    # SIGTERM (remapped to SIGQUIT) waits this long for running work, then returns the messages. An idle worker waits,
    # too, for a message that it took at the last moment.
    "worker_soft_shutdown_timeout": SOFT_SHUTDOWN_SECONDS,
    "worker_enable_soft_shutdown_on_idle": True,
    # A lost connection to Redis does not stop a flush, because its commit counts, not its acknowledgement.
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    # Flower sees tasks through events, three per task, which cost a fifth of a flush's broker load. So events are sent
    # only with -E, and while Flower runs, which asks all workers for them every 5 s.
    "worker_send_task_events": False,
    "task_send_sent_event": True,
    "beat_max_loop_interval": 5,
    "timezone": "UTC",
    "enable_utc": True,
}

_TRANSPORT: dict[str, Any] = {
    # Restore a killed worker's messages as soon as they are visible again, not only at every tenth check.
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    # A worker that dies during a restore blocks all others for this time (300 s by default).
    "unacked_mutex_expire": 30,
    # Strictly in the order of `-Q`, but an endless series of urgent messages must not block the next queue for ever.
    "queue_order_strategy": "slowwave_server.workers.queue_order:BoundedPriority",
    # No call may wait for ever on a half-open connection.
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "socket_keepalive": True,
    "health_check_interval": 10,
}


def broker_settings(settings: Settings, **options: float) -> dict[str, Any]:
    """Return the settings for the broker: one server, or the master that sentinels name; with these options."""
    found = sentinels_of(settings.broker_url)
    return {
        "broker_url": settings.broker_url if found is None else found.url(),
        "broker_use_ssl": tls_options(settings.broker_url, settings.broker_ca) or None,
        "broker_transport": _ONE_SERVER if found is None else _SENTINELS,
        "broker_transport_options": _TRANSPORT | {"master_name": settings.broker_master} | options,
    }


def celery_settings(settings: Settings) -> dict[str, Any]:
    """Return Celery's configuration for these settings."""
    longest = settings.memory.auto_flush.extractor.max_extraction_seconds + 30
    visible = max(VISIBILITY_SECONDS, 2 * longest)
    return (
        _FIXED
        | broker_settings(settings, visibility_timeout=visible)
        | {
            "task_routes": {task.name: {"queue": task.queue} for task in all_tasks().values()},
            "task_queues": [Queue(name, exchange="", routing_key=name) for name in QUEUES],
            "task_time_limit": longest,
            "task_soft_time_limit": longest - 15,
            "beat_schedule": schedule(settings),
        }
    )
