"""A connection to Postgres that does not wait for ever: a server that shows no sign of life is given up.

The server's own limit of a statement needs a server that runs; one that stands still (a host without memory, a paused
container) keeps its sockets open, and its kernel acknowledges what is sent.

Must not know: what is asked.
"""

import time
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen


class ReadTimeoutConnection(psycopg.Connection[Any]):
    """Whatever waits for the server ends after `answer_seconds` of silence, by psycopg.OperationalError; what is sent
    or received begins them anew. The connection is closed then, since an answer may still come, to nobody.
    """

    answer_seconds = float("inf")

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait for `gen` as psycopg does, which looks up every `interval` seconds."""
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
