"""Ask the live workers for their queues through Celery's remote control."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from redis import Redis
from redis.exceptions import RedisError

if TYPE_CHECKING:
    from slowwave.settings import Settings

ANSWER_SECONDS = 1.0


def listening(redis: Redis, settings: "Settings") -> Mapping[str, frozenset[str]] | None:
    """Return the queues of each worker that answers in time; None if the broker is unreachable.

    It stops waiting as soon as all listening workers have answered. A worker with the pool `solo` answers only between
    two tasks.
    """
    # Ask through Slowwave's own client first, because Celery's client would retry for seconds.
    try:
        redis.ping()
    except RedisError:
        return None
    most = _listeners(redis)
    if most == 0:
        return {}
    return _answers(settings, most)


def _answers(settings: "Settings", most: int | None) -> Mapping[str, frozenset[str]] | None:
    # Imported here, because their import takes as long as all other work of `slowwave status`, and without a listening
    # worker nobody is asked.
    from celery import Celery
    from kombu.exceptions import OperationalError

    from slowwave_server.workers.celery_settings import broker_settings

    app = Celery(set_as_current=False)
    app.conf.update(broker_settings(settings, socket_timeout=5, restores=False), accept_content=["json"])
    try:
        answers = app.control.inspect(timeout=ANSWER_SECONDS, limit=most).active_queues() or {}
    except (OperationalError, RedisError):
        return None
    finally:
        app.close()
    return {worker: frozenset(queue["name"] for queue in queues) for worker, queues in sorted(answers.items())}


def _listeners(redis: Redis) -> int | None:
    """Return the number of connections that listen for broadcasts (one or more per worker); None if not permitted."""
    try:
        return sum(client.get("psub") != "0" for client in redis.client_list(_type="pubsub"))
    except RedisError:
        return None
