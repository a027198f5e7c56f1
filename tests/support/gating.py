"""Letting time pass for slots and breakers, without waiting: everything that is remembered gets older."""

from redis import Redis

from slowwave.coordination.keys import MODEL_SLOTS_KEY, model_breaker_key

ENDPOINT = "model.example-1"


def age_slots(redis: Redis, seconds: float) -> None:
    for token in redis.zrange(MODEL_SLOTS_KEY, 0, -1):
        redis.zincrby(MODEL_SLOTS_KEY, -round(seconds * 1000), token)


def age_breaker(redis: Redis, seconds: float) -> None:
    key = model_breaker_key(ENDPOINT)
    for field in ("until", "trial_until"):
        if redis.hexists(key, field):
            redis.hincrby(key, field, -round(seconds * 1000))
