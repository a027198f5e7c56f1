"""Rename keys of a wrong type, so that work continues with a new key of the right type.

A client with write access may give a queue or a ticket another type (`SET flush x`); each command on that key then
fails. `MendingRedis` renames such a key to `slowwave:set-aside:KEY:TIME` and runs the failed command again. The doctor
lists the renamed keys.
"""

import json
import logging
import re
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError, ResponseError, WatchError

from slowwave.coordination.key_kinds import kind_of
from slowwave.coordination.keys import SET_ASIDE_KEY

log = logging.getLogger(__name__)

KEPT_SECONDS = 7 * 86_400
"""How long a renamed key is kept for whoever looks for its writer."""
MOST_KEPT = 1000
"""With so many of them, a further key of a wrong type is deleted: it must not fill the broker's memory."""

MAX_KEY = 4000
"""No key of ours has more characters; what is longer is a message."""

_WRONG = re.compile(r"(^|caused error: )WRONGTYPE ")

Key = str | bytes


class SetAside(NamedTuple):
    """A renamed key: its old and new name, the found and the right type. at: seconds since 1970."""

    key: str
    aside: str
    found: str
    wanted: str
    at: float


def is_wrong_type(answer: object) -> bool:
    """Return True if the server's answer is an error about a key's type."""
    # If the command was in a pipeline, redis-py puts the command in front of the message.
    return isinstance(answer, ResponseError) and _WRONG.search(str(answer)) is not None


def set_aside_wrong(redis: Redis, keys: Iterable[Key], *, must_expire: bool = False) -> bool:
    """Rename keys whose type is wrong for their kind. Return True if this process or another one renamed a key.

    must_expire: also rename a key without a lifetime. Raises redis' own errors, such as NoPermissionError.
    """
    names = dict.fromkeys(map(_text, keys))
    renamed = [name for name in names if _set_aside(redis, name, must_expire=must_expire)]
    return bool(renamed)


def known_aside(redis: Redis) -> list[SetAside]:
    """List the renamed keys that still exist, newest first. Raises redis' own errors."""
    told: Any = redis.hgetall(SET_ASIDE_KEY)
    found = [one for aside, how in told.items() if (one := _read(_text(aside), how)) is not None]
    with redis.pipeline(transaction=False) as pipeline:
        for one in found:
            pipeline.exists(one.aside)
        there = pipeline.execute()
    left = [one for one, exists in zip(found, there, strict=True) if exists]
    return sorted(left, key=lambda one: one.at, reverse=True)


def _read(aside: str, how: Any) -> SetAside | None:
    """Parse an entry of the list; None for a foreign entry."""
    try:
        told = json.loads(how)
        return SetAside(str(told["key"]), aside, str(told["found"]), str(told["wanted"]), float(told["at"]))
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
        return None


class MendingRedis(Redis):
    """A client that renames keys of a wrong type and runs the command again, if its Redis user may rename keys."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run a command; if a key of a wrong type was renamed, run it a second time."""
        execute: Callable[..., Any] = super().execute_command  # redis-py has no types here
        try:
            return execute(*args, **options)
        except ResponseError as error:
            if not is_wrong_type(error) or not _mended(self.connection_pool, args):
                raise
        return execute(*args, **options)

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Pipeline:
        """A pipeline that renames keys of a wrong type; the caller must run it again."""
        return MendingPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)


class MendingPipeline(Pipeline):
    """A pipeline that renames keys of a wrong type. It does not run again, because some of its commands succeeded."""

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        """Run the pipeline. The error about a wrong type is raised or returned even if the key was renamed."""
        words = [word for args, _ in self.command_stack for word in args]
        try:
            answers = super().execute(raise_on_error)
        except ResponseError as error:
            if is_wrong_type(error):
                _mended(self.connection_pool, words)
            raise
        if not raise_on_error and any(map(is_wrong_type, answers)):
            _mended(self.connection_pool, words)
        return answers


def _mended(pool: Any, words: Iterable[Any]) -> bool:
    """Rename the keys of a wrong type that a command names."""
    keys = [word for word in words if isinstance(word, str | bytes) and len(word) <= MAX_KEY]
    try:
        return set_aside_wrong(Redis(connection_pool=pool), keys)
    except RedisError as error:
        log.warning("a key of the broker is of a wrong type, and it could not be renamed: %s", error)
        return False


def _set_aside(redis: Redis, key: str, *, must_expire: bool) -> bool:
    kind = kind_of(key)
    if kind is None:
        return False
    with redis.pipeline() as pipeline:
        watch: Callable[..., Any] = pipeline.watch
        try:
            watch(key, SET_ASIDE_KEY)
            found = _text(pipeline.type(key))
            endless = must_expire and pipeline.pttl(key) == -1
            if found == "none" or (found == kind.type and not endless):
                return False
            index = _text(pipeline.type(SET_ASIDE_KEY))
            keep = index == "none" or (index == "hash" and pipeline.hlen(SET_ASIDE_KEY) < MOST_KEPT)
            now = time.time()
            one = SetAside(key, f"{SET_ASIDE_KEY}:{key}:{now * 1_000_000:.0f}", found, kind.type, now)
            pipeline.multi()
            if index not in {"none", "hash"}:
                pipeline.delete(SET_ASIDE_KEY)
            if keep and key != SET_ASIDE_KEY:
                _keep(pipeline, one)
            else:
                pipeline.delete(key)
            pipeline.execute()
        except WatchError:
            return True
    what = "has no lifetime" if found == kind.type else f"is of type {found} and not {kind.type}"
    became = f"it is now {one.aside!r}" if keep else "it was deleted"
    log.error("the broker's key %r %s: somebody else wrote it, and %s", key, what, became)
    return True


def _keep(pipeline: Pipeline, one: SetAside) -> None:
    told = {"key": one.key, "found": one.found, "wanted": one.wanted, "at": one.at}
    pipeline.rename(one.key, one.aside)
    pipeline.expire(one.aside, KEPT_SECONDS)
    pipeline.hset(SET_ASIDE_KEY, one.aside, json.dumps(told))
    pipeline.expire(SET_ASIDE_KEY, KEPT_SECONDS)


def _text(word: Key) -> str:
    return word.decode(errors="replace") if isinstance(word, bytes) else word
