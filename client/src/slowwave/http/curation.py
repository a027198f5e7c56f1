"""The part of the memory over HTTP that changes memories by hand, forgets, and tells which memories a reply used.

Must not know: how calls are sent.
"""

import time
from collections.abc import Iterable
from typing import Any, Unpack, overload
from uuid import UUID

from slowwave.errors import InvalidMessage, NotAnswered
from slowwave.http.bodies import given
from slowwave.http.bound import BoundGateway
from slowwave.http.wire import Answer, path_of
from slowwave.identity import check_name
from slowwave.memory_curation import (
    Forgettable,
    archive_arguments,
    confirmation,
    correction_arguments,
    forget_arguments,
)
from slowwave.memory_queries import used_ids
from slowwave.memory_records import (
    Correction,
    ForgetPreview,
    ForgetReceipt,
    correction_of,
    memory_id,
    preview_of,
    receipt_of,
)
from slowwave.memory_types import MemoryType
from slowwave.worker_requests import ANSWER_SECONDS, failure_of

_ACCEPTED = 202
_LOOK_SECONDS = 0.5


class GatewayCuration(BoundGateway):
    """Changes memories with the right `decide`, forgets with the right `forget`."""

    def used(self, agent: str, ids: Iterable[str | UUID], session: str | None = None) -> int:
        """See `Memory.used`."""
        check_name("agent", agent)
        if session is not None:
            check_name("session", session)
        asked = used_ids(ids)
        if not asked:
            return 0
        body = {"memories": [str(one) for one in asked]} | given(session=session)
        return int(self._change("POST", path_of("agents", agent, "used"), body).body["marked"])

    def correct(
        self,
        id: str | UUID,  # noqa: A002 (as in `Memory`)
        content: str | None = None,
        *,
        type: MemoryType | None = None,  # noqa: A002 (as in `Memory`)
        revision: int | None = None,
        reason: str | None = None,
    ) -> Correction:
        """See `Memory.correct`."""
        body = correction_arguments(content, type, revision, reason)
        return correction_of(self._change("PATCH", path_of("memories", str(memory_id(id))), body).body)

    def archive(
        self,
        id: str | UUID,  # noqa: A002 (as in `Memory`)
        reason: str | None = None,
        *,
        revision: int | None = None,
    ) -> Correction:
        """See `Memory.archive`."""
        path = path_of("memories", str(memory_id(id)), "archive")
        return correction_of(self._change("POST", path, archive_arguments(revision, reason)).body)

    @overload
    def forget(self, *, confirm: None = None, **target: Unpack[Forgettable]) -> ForgetPreview: ...

    @overload
    def forget(self, *, confirm: str, **target: Unpack[Forgettable]) -> ForgetReceipt: ...

    def forget(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        memory: str | UUID | None = None,
        confirm: str | None = None,
    ) -> ForgetPreview | ForgetReceipt:
        """See `Memory.forget`. The confirmed call asks for a preview first, to confirm that one."""
        arguments = forget_arguments(agent, session, scope, memory)
        preview = self._answered(self._change("POST", path_of("forgets"), arguments))
        if confirm is None:
            return preview_of(preview)
        path = path_of("forgets", str(preview["id"]), "confirm")
        return receipt_of(self._answered(self._change("POST", path, {"confirm": confirmation(confirm)})))

    def _change(self, method: str, path: str, body: dict[str, Any]) -> Answer:
        wire, key = self.gateway.wire, self.gateway.new_key()
        return wire.call(method, path, body=body, key=key, invalid=InvalidMessage)

    def _answered(self, answer: Answer) -> dict[str, Any]:
        """The result; of a request that no worker has answered yet, what a worker answers soon. Raises NotAnswered."""
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
        raise NotAnswered(f"no worker answered request {request} within {ANSWER_SECONDS:g} s; a worker will", request)
