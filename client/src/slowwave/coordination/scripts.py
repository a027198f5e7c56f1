"""Run a Lua script by its digest, alone or with many others in one round trip. The server need not have loaded it."""

import re
from collections.abc import Callable, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis import Redis
from redis.exceptions import NoPermissionError, NoScriptError

from slowwave.coordination.wrong_types import is_wrong_type

_INCLUDE = "-- include state.lua\n"
_FUNCTION = re.compile(r"^-- include (\w+)\.lua as (\w+)\n", re.MULTILINE)
_CONSTANTS = "-- include {}\n"

Execute = Callable[..., Any]
Call = tuple[str | bytes | int, ...]
"""The keys of a script, then its arguments."""


class Script:
    """One operation: the script `NAME.lua`, the shared `state.lua`, and the included scripts as functions.

    constants: texts that never change; they are inserted into the script, so that calls don't send them.

    A server that has not loaded the script rejects the call without effect; the client then loads the script and
    repeats the call. A producer's Redis user may not load scripts, so its calls fail until a worker has started,
    because every worker loads all scripts.
    """

    def __init__(self, name: str, key_count: int, **constants: str) -> None:
        self._name = name
        self.text = _read(name)
        if constants:
            # A long bracket of Lua holds JSON without escapes.
            lines = "".join(f"local {known} = [==[{text}]==]\n" for known, text in constants.items())
            self.text = self.text.replace(_CONSTANTS.format(" and ".join(constants)), lines)
        # The digest is only Redis' name for a script; it protects nothing.
        digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        self._head = ("EVALSHA", digest.encode(), b"%d" % key_count)

    def load(self, redis: Redis) -> None:
        """Load the script into a server. Raises NoScriptError if this Redis user may not load scripts."""
        try:
            redis.script_load(self.text)
        except NoPermissionError:
            why = f"the broker does not know the script {self._name!r} yet: a worker of this version loads it"
            raise NoScriptError(why) from None

    def command(self, call: Call) -> tuple[str | bytes | int, ...]:
        """Return the command that runs the script with these keys and arguments."""
        return (*self._head, *call)

    def run(self, redis: Redis, call: Call) -> Any:
        """Run the script with these keys and arguments, and return its result."""
        execute: Execute = redis.execute_command  # This saves two Python calls compared with `redis.evalsha`.
        try:
            return execute(*self._head, *call)
        except NoScriptError:
            self.load(redis)
            return execute(*self._head, *call)

    def run_many(self, redis: Redis, calls: Sequence[Call]) -> list[Any]:
        """Run all calls in one round trip (three if the server must load the script), results in the same order.

        Each call is atomic by itself. Raises the first error, after all calls have run.
        """
        if not calls:
            return []
        answers = _pipelined(redis, [(self, call) for call in calls])
        untaught = any(isinstance(answer, NoScriptError) for answer in answers)
        if untaught:
            self.load(redis)
        # The pipeline has already renamed a key of a wrong type.
        failed = [place for place, answer in enumerate(answers) if _may_work_now(answer)]
        if failed:
            again = _pipelined(redis, [(self, calls[place]) for place in failed])
            for place, answer in zip(failed, again, strict=True):
                answers[place] = answer
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


def _may_work_now(answer: object) -> bool:
    return isinstance(answer, NoScriptError) or is_wrong_type(answer)


def _pipelined(redis: Redis, calls: Sequence[tuple[Script, Call]]) -> list[Any]:
    with redis.pipeline(transaction=False) as pipeline:
        execute: Execute = pipeline.execute_command
        for script, call in calls:
            execute(*script.command(call))
        return list(pipeline.execute(raise_on_error=False))


def _read(name: str) -> str:
    folder = files("slowwave.coordination")
    shared = (folder / "state.lua").read_text("utf-8")
    text = (folder / f"{name}.lua").read_text("utf-8").replace(_INCLUDE, shared)
    return _FUNCTION.sub(lambda part: _as_function(part[1], part[2]), text)


def _as_function(name: str, known_as: str) -> str:
    return f"local function {known_as}(KEYS, ARGV)\n{_read(name)}\nend\n"
