"""Count the messages of the queues, without the scripts that offer and claim sessions."""

from redis import Redis

from slowwave.coordination.keys import QUEUES


class QueueDepths:
    """The lengths of all queues of a broker."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def depths(self) -> dict[str, int]:
        """Count the waiting messages in every queue. Raises `redis.exceptions.RedisError` without the server."""
        with self._redis.pipeline(transaction=False) as pipeline:
            for queue in QUEUES:
                pipeline.llen(queue)
            return dict(zip(QUEUES, pipeline.execute(), strict=True))
