"""A connection to Postgres with a read timeout.

The server's statement timeout works only while the server runs. A frozen server (a host without memory, a paused
container) keeps its sockets open, and its kernel still acknowledges sent data.
"""

import time
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen


class ReadTimeoutConnection(psycopg.Connection[Any]):
    """Raises psycopg.OperationalError after `answer_seconds` without any data from the server; data restarts the timer.
    The connection is then closed, because a late answer would belong to no statement.
    """

    answer_seconds = float("inf")

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for `gen` as psycopg does, but check the timeout every `interval` seconds."""
        return super().wait(self._while_it_lives(gen), interval, timeout)

    def _while_it_lives(self, gen: PQGen[RV]) -> PQGen[RV]:
        try:
            wanted = next(gen)
            heard = time.monotonic()
            while True:
                ready = yield wanted
                if ready:
                    heard = time.monotonic()
                elif time.monotonic() - heard > self.answer_seconds:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"no answer within {self.answer_seconds:g} s")
                wanted = gen.send(ready)
        except StopIteration as end:
            answer: RV = end.value
            return answer
