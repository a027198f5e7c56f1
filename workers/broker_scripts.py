"""Load scripts into the broker for users that may run but not load them: the producers and the exporter.

A worker's consumer restarts with each connection, so a restarted broker has the scripts again some seconds later. Until
then a producer's enqueues fail, and the sweep finds due sessions.
"""

import logging
from typing import Any

from celery import bootsteps
from redis import Redis
from redis.exceptions import RedisError

from slowwave.coordination.broker import connect_broker
from slowwave.coordination.flush_queue import SCRIPTS
from slowwave.settings import Settings
from slowwave_server.services.reports.metrics.broker import load_oldest

log = logging.getLogger(__name__)


def load_scripts(redis: Redis) -> None:
    """Load all scripts. Raises redis' own errors."""
    for script in SCRIPTS:
        script.load(redis)
    load_oldest(redis)


class LoadsScripts(bootsteps.StartStopStep):
    """A part of a worker's consumer that loads the scripts at each new connection."""

    requires = ("celery.worker.consumer.connection:Connection",)

    def start(self, consumer: Any) -> None:
        settings = getattr(consumer.app, "settings", None)
        if not isinstance(settings, Settings):
            return
        redis = connect_broker(settings)
        try:
            load_scripts(redis)
        except RedisError as error:
            log.warning("the broker's scripts could not be loaded, so producers wait for sweeps: %s", error)
        finally:
            redis.close()
