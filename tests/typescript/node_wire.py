"""The Python client's wire, with the TypeScript client behind it: so one suite runs over both."""

import itertools
import json
import subprocess
import threading
from collections.abc import Mapping
from typing import Any

from slowwave.errors import InvalidQuery, SlowwaveError, StoreUnavailable
from slowwave.http.problems import error_of
from slowwave.http.wire import Answer, Wire
from slowwave.worker_requests import failure_of
from tests.typescript.node import CLIENT


class NodeWire(Wire):
    """Hands each call to a process of Node, in which a method of the TypeScript client makes it."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__(url, key)
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            ["node", "test/bridge.mjs", url, key], cwd=CLIENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
        taken: str | None = None,
        invalid: type[SlowwaveError] = InvalidQuery,
        again: bool = True,
    ) -> Answer:
        """Make one call through a method of the TypeScript client. Raises what the gateway says, as any wire does."""
        asked = {"id": next(self._numbers), "method": method, "path": path, "body": body, "query": query, "key": key}
        told = self._ask(asked)
        if "failed" in told:
            raise failure_of(told["failed"]["result"], told["failed"]["error"])
        if told["status"] == 200:
            return Answer(200, told.get("body") or {}, {})
        if told["status"] == 0:
            raise StoreUnavailable(told["body"]["detail"])
        after = told.get("retryAfter")
        raise error_of(told["status"], told["body"], {} if after is None else {"retry-after": str(after)}, invalid)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        super().close()

    def _ask(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:  # one at a time: the answer is the next line
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            told: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert told["id"] == asked["id"]
        return told
