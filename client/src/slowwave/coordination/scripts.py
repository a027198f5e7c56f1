"""Running a Lua script by its digest, alone or many in one round trip, on a server that may not know it yet.

Must not know: what the scripts do.
"""

from collections.abc import Callable, Sequence
from hashlib import sha1
from importlib.resources import files
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError

_INCLUDE = "-- include state.lua\n"
_CONSTANTS = "-- include {}\n"

Execute = Callable[..., Any]
Call = tuple[str | bytes | int, ...]
"""The keys of a script, then its arguments."""


class Script:
    """One operation: `NAME.lua`, with `state.lua`, which all share, where it says so.

    constants: texts that never change, put in where the script names them, and so not sent with every call.

    A server that doesn't know it (new, restarted) says so before it does anything; it is taught and asked again.
    """

    def __init__(self, name: str, key_count: int, **constants: str) -> None:
        folder = files("slowwave.coordination")
        shared = (folder / "state.lua").read_text("utf-8")
        self.text = (folder / f"{name}.lua").read_text("utf-8").replace(_INCLUDE, shared)
        if constants:
            # JSON in a long bracket of Lua stands as it is.
            lines = "".join(f"local {known} = [==[{text}]==]\n" for known, text in constants.items())
            self.text = self.text.replace(_CONSTANTS.format(" and ".join(constants)), lines)
        # The digest is how Redis names a script; nothing is kept secret by it.
        digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        self._head = ("EVALSHA", digest.encode(), b"%d" % key_count)

    def run(self, redis: Redis, call: Call) -> Any:
        """Run it with these keys and arguments, and answer what it answers."""
        execute: Execute = redis.execute_command  # two calls less on the way than `redis.evalsha`
        try:
            return execute(*self._head, *call)
        except NoScriptError:
            redis.script_load(self.text)
            return execute(*self._head, *call)

    def run_many(self, redis: Redis, calls: Sequence[Call]) -> list[Any]:
        """Run all calls in one round trip (three if the server must be taught), answers in the same order.

        Each call is a step of its own. Raises the first error, after all of them have run.
        """
        if not calls:
            return []
        answers = self._pipeline(redis, calls)
        untaught = [place for place, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if untaught:
            redis.script_load(self.text)
            again = self._pipeline(redis, [calls[place] for place in untaught])
            for place, answer in zip(untaught, again, strict=True):
                answers[place] = answer
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _pipeline(self, redis: Redis, calls: Sequence[Call]) -> list[Any]:
        with redis.pipeline(transaction=False) as pipeline:
            execute: Execute = pipeline.execute_command
            for call in calls:
                execute(*self._head, *call)
            return list(pipeline.execute(raise_on_error=False))
