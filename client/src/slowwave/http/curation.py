"""Curation calls over HTTP: note the use of memories, edit, archive and forget them."""

import time
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from slowwave.errors import InvalidMessage, NotAnswered
from slowwave.http.bodies import given
from slowwave.http.bound import BoundGateway
from slowwave.http.wire import Answer, path_of
from slowwave.memory_records import Correction, parsed
from slowwave.memory_requests import ForgetTarget
from slowwave.worker_requests import ANSWER_SECONDS, failure_of

_ACCEPTED = 202
_LOOK_SECONDS = 0.5


class GatewayCuration(BoundGateway):
    """Changes memories (right `decide`) and forgets data (right `forget`)."""

    def note_use(self, agent: str, ids: list[UUID], session: str | None) -> int:
        """Note that a reply used memories. Return how many of them the agent may read."""
        body = {"memories": [str(one) for one in ids]} | given(session=session)
        return int(self._change("POST", path_of("agents", agent, "used"), body).body["marked"])

    def show(self, agent: str, session: str, memories: Iterable[str]) -> None:
        body = {"memories": list(memories), "session": session, "shown": True}
        self._change("POST", path_of("agents", agent, "used"), body)

    def correct(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker edit a memory."""
        return parsed(Correction, self._change("PATCH", path_of("memories", str(memory)), fields).body)

    def archive(self, memory: UUID, fields: dict[str, Any]) -> Correction:
        """Have a worker archive a memory."""
        return parsed(Correction, self._change("POST", path_of("memories", str(memory), "archive"), fields).body)

    def preview_forget(self, target: ForgetTarget) -> dict[str, Any]:
        return self._answered(self._change("POST", path_of("forgets"), target.to_json()))

    def forget(self, target: ForgetTarget, confirm: str) -> dict[str, Any]:
        """Have a worker delete the target: ask for a fresh preview, then confirm that one."""
        path = path_of("forgets", str(self.preview_forget(target)["id"]), "confirm")
        return self._answered(self._change("POST", path, {"confirm": confirm}))

    def _change(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        wire, key = self.gateway.wire, self.gateway.new_key()
        return wire.call(method, path, body=body, key=key, invalid=InvalidMessage)

    def _answered(self, answer: Answer) -> dict[str, Any]:
        """Return the result; if no worker has answered yet, wait for the result. Raises NotAnswered."""
        if answer.status != _ACCEPTED:
            return answer.body
        request, end = str(answer.body["id"]), time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
            found = self.gateway.wire.call("GET", path_of("requests", request)).body
            if found["state"] == "done":
                return {"id": request} | dict(found["result"])
            if found["state"] == "failed":
                raise failure_of(found["result"], found["error"])
        raise NotAnswered(
            f"no worker answered request {request} within {ANSWER_SECONDS:g} s; a worker will answer it later", request
        )
