"""One request of one key, with everything that a route needs to answer. A route is a function of a `Visit`.

    @router.post("/v1/agents/{agent}/notes")
    def note(agent: str, given: Note, visit: Annotated[Visit, records]) -> Noted: ...

A plain `def` runs in a thread, and may wait for Postgres. Every connection that it borrows, of the engine or of the
client, works for the caller's key.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from fastapi import Request
from redis import Redis
from sqlalchemy import Connection, Engine

from slowwave.settings import Settings
from slowwave_server.services.access.api_keys import Right
from slowwave_server.services.access.reach import Reach
from slowwave_server.workers.gateway.caller import Caller
from slowwave_server.workers.gateway.idempotency import given_key
from slowwave_server.workers.gateway.recording import WalledMemory, taken_at
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.workers.gateway.gate import Gate

TAKEN_HEADER = "slowwave-taken"


@dataclass
class Visit:
    """One request. Names and ids in a path or a body are untrusted text: check them with the methods of `caller`."""

    gate: "Gate"
    request: Request
    caller: Caller
    request_id: str
    told: dict[str, str] | None = None
    """What the answer says of the limits; None until the request is counted."""
    sent: Any = None

    def send_count(self) -> None:
        """Let Redis count the request while it is validated; `take_token` reads the answer."""
        self.sent = self.gate.limits.send(self.caller)

    def take_token(self) -> None:
        """Count the request, once. Raises Problem if the rate limit is exceeded."""
        if self.told is None:
            self.told = {}
            self.told = self.gate.limits.take(self.caller, self.sent)

    @property
    def tenant(self) -> str:
        """The tenant of the key."""
        return self.caller.tenant

    @property
    def key_id(self) -> UUID:
        return self.caller.key_id

    @property
    def reach(self) -> Reach:
        """The key's agents and scopes."""
        return self.caller.reach

    @property
    def engine(self) -> Engine:
        return self.gate.engine

    @property
    def redis(self) -> Redis:
        return self.gate.redis

    @cached_property
    def settings(self) -> Settings:
        """The settings for this tenant."""
        return self.shell.settings

    @cached_property
    def shell(self) -> Shell:
        """The shell of this tenant, for functions of commands."""
        return self.gate.shell(self.tenant)

    @cached_property
    def memory(self) -> WalledMemory:
        """The memory for an agent's host, limited to this key."""
        return WalledMemory(self.gate.memory.store, self.caller, taken=self.taken)

    @cached_property
    def taken(self) -> str | None:
        """The time (ISO 8601) since which this request's data has waited (header Slowwave-Taken), or None."""
        return taken_at(self.request.headers.get(TAKEN_HEADER), self.now)

    @cached_property
    def now(self) -> datetime:
        """The aware time at which this visit began."""
        return self.gate.clock()

    @property
    def by(self) -> str:
        """The caller's name in audit log and runs."""
        return f"key:{self.caller.name}"

    @property
    def idempotency_key(self) -> str | None:
        """The header Idempotency-Key, for routes that store it in Postgres. Raises Problem."""
        return given_key(self.request)

    def check_quota(self) -> None:
        """Raise Problem if the tenant has used up its quota of events today."""
        self.gate.limits.check_quota(self.caller, self.now)

    def count(self, events: int) -> None:
        """Count recorded events."""
        self.gate.limits.count(self.caller, events, self.now)

    def agent(self, name: str) -> str:
        """Return the name of an agent that the key reaches. Raises NotThere, InvalidName."""
        return self.caller.agent(name)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read-only connection."""
        with self.engine.connect() as connection:
            yield connection.execution_options(postgresql_readonly=True)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is committed at the end of the block."""
        with self.engine.begin() as connection:
            yield connection


class Needs:
    """The right that a route needs, or one of several; it annotates the route's parameter for the visit.

    keeps: the storage of the answer to a POST, PATCH or DELETE with an Idempotency-Key. "answer": the answer is stored
    for a day, for a repetition; "fact": only the completion is stored, because the answer contains a secret; "nothing":
    the route stores the key in Postgres itself, or changes nothing.
    """

    def __init__(self, *rights: Right, keeps: str = "answer") -> None:
        self.rights: tuple[Right, ...] = rights
        self.keeps = "nothing" if rights == ("read",) else keeps


reads = Needs("read")
records = Needs("record")
records_by_key = Needs("record", keeps="nothing")
decides = Needs("decide")
forgets = Needs("forget")
forgets_or_decides = Needs("forget", "decide")
administers = Needs("administer")
makes_secrets = Needs("administer", keeps="fact")
