"""Call a Redis script in two steps: send its keys early, and read its answer later.

The event loop sends without waiting, so Redis works while the request is validated; the thread that needs the answer
reads it. The connections are taken from redis-py's pool and never returned, because taking one from it costs more than
the script.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeout

MOST_CONNECTIONS = 32
MOST_COMMANDS = 10_000


class ScriptCalls:
    """Calls one script in two steps: `send`, which may come early, and `answer`."""

    def __init__(self, redis: Redis, source: str) -> None:
        self._pool = redis.connection_pool
        self._script = redis.register_script(source)
        self._commands: dict[tuple[object, ...], Any] = {}
        self._idle: deque[Any] = deque()
        self._lent = 0

    def send(self, keys: Sequence[str], arguments: Sequence[float]) -> Any:
        """Send a call over an idle connection; return the connection for `answer`, or None if no connection is idle."""
        try:
            connection = self._idle.pop()
        except IndexError:
            return None
        try:
            # No health check, because it would wait for an answer.
            connection.send_packed_command(self._packed(connection, keys, arguments), check_health=False)
        except RedisError:
            self._drop(connection)
            return None
        return connection

    def answer(self, sent: Any, keys: Sequence[str], arguments: Sequence[float]) -> Any:
        """Wait for the answer of a call. sent: the result of `send`; None calls the script now. Raises RedisError.

        If the connection broke, or Redis restarted and does not know the script, the script is called once more.
        """
        if sent is not None:
            try:
                found = sent.read_response()
            except RedisTimeout:
                self._drop(sent)
                raise
            except RedisError:
                self._drop(sent)
            else:
                self._idle.append(sent)
                return found
        found = self._script(keys=keys, args=arguments)
        if self._lent < MOST_CONNECTIONS:
            self._lent += 1
            self._idle.append(self._pool.get_connection())
        return found

    def _packed(self, connection: Any, keys: Sequence[str], arguments: Sequence[float]) -> Any:
        """Return a call as it is sent. A key of the API makes the same call with each request."""
        call = (*keys, *arguments)
        packed = self._commands.get(call)
        if packed is None:
            if len(self._commands) >= MOST_COMMANDS:
                self._commands.clear()
            packed = connection.pack_command("EVALSHA", self._script.sha, len(keys), *call)
            self._commands[call] = packed
        return packed

    def _drop(self, connection: Any) -> None:
        self._lent -= 1
        connection.disconnect()
        self._pool.release(connection)
