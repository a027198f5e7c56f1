"""The time of the last sweep. Every sweep stores it, so that a stopped beat can be distinguished from a quiet day."""

from redis import Redis

from slowwave.coordination.keys import PREFIX

SWEPT_KEY = f"{PREFIX}swept"
"""The time of the last sweep, by the server's own clock, in seconds since 1970."""
SWEPT_SECONDS = 7 * 86_400
"""Lifetime of the trace: after a week of silence "never" is as good an answer."""


def note_sweep(redis: Redis) -> None:
    """Store the time of a sweep that has ended. Raises `redis.exceptions.RedisError`."""
    redis.set(SWEPT_KEY, repr(_server_time(redis)), ex=SWEPT_SECONDS)


def swept_ago(redis: Redis) -> float | None:
    """Return the seconds since the last sweep, or None if unknown. Raises `redis.exceptions.RedisError`."""
    trace = redis.get(SWEPT_KEY)
    # Two calls that use one clock: the age may be one round trip too high, but never wrong because of another host's
    # clock.
    return None if trace is None else max(0.0, _server_time(redis) - float(trace))


def _server_time(redis: Redis) -> float:
    seconds, microseconds = redis.time()
    return seconds + microseconds / 1_000_000
