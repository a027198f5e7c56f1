"""Which workers are alive, and which queues they take from: asks them through Celery's remote control.

Must not know: which queues there should be.
"""

from collections.abc import Mapping

from celery import Celery
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

ANSWER_SECONDS = 1.0


def listening(redis: Redis, broker_url: str) -> Mapping[str, frozenset[str]] | None:
    """The queues of each worker that answers in time; None when the broker can't be reached.

    A worker whose pool is `solo` answers only between two tasks.
    """
    # Asked through our own client first: Celery's would try again for seconds.
    try:
        redis.ping()
    except RedisError:
        return None
    app = Celery(broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        broker_transport_options={"socket_timeout": 5, "socket_connect_timeout": 3},
    )
    try:
        answers = app.control.inspect(timeout=ANSWER_SECONDS).active_queues() or {}
    except (OperationalError, RedisError):
        return None
    finally:
        app.close()
    return {worker: frozenset(queue["name"] for queue in queues) for worker, queues in sorted(answers.items())}
