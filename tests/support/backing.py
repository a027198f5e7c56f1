"""What tests of backends share: one world whose memories stand in Postgres, in files, or in mem0 (over two stores)."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory, Settings
from slowwave.mem0_backend import Copy, CopyStore, Mem0Failed, Owner, connect
from slowwave.mem0_backend.copies import Found
from slowwave.recall import Hit
from slowwave_server.domain.memory_files import parse_document, scope_folder
from slowwave_server.services.forget.forget import Forgetter, Report
from slowwave_server.services.forget.target import Target
from slowwave_server.services.mem0_backend.choosing import feed_chosen
from slowwave_server.services.mem0_backend.delivery import Mem0Report, deliver_to_mem0
from slowwave_server.services.memories.changes import Author, Ledger, change_memory
from slowwave_server.services.memory_files.delivery import DeliveryReport, FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk
from slowwave_server.services.runs.store import finish_run, start_run
from tests.support.consolidating import NOW, Hearer

BACKENDS = ("postgres", "file", "mem0")
QDRANT = "mem0 over qdrant"


class Down:
    """A mem0 that can't be reached."""

    identity = "local all-MiniLM-L6-v2"

    def put(self, owner: Owner, copies: Sequence[Copy]) -> dict[UUID, str]:
        raise Mem0Failed(f"mem0: no route to {len(copies)} of {owner.kind}")

    def remove(self, ids: Iterable[UUID]) -> None:
        raise Mem0Failed(f"mem0: no route for {len(list(ids))}")

    def search(self, owner: Owner, question: str, limit: int) -> list[Found]:
        raise Mem0Failed(f"mem0: no route for {len(question)} characters, {owner.kind}, {limit}")


@dataclass
class World:
    """One installation. Whatever the backend: `deliver` brings it up to date, `held` is what it holds.

    who, other: two agents, of each test its own.
    """

    engine: Engine
    database_url: str
    redis: Redis
    folder: Path
    kind: str
    hearers: dict[str, Hearer] = field(default_factory=dict)
    number: int = 0
    _store: CopyStore | None = None

    def begin(self) -> None:
        """Another test."""
        self.number += 1
        self.choose(self.kind)

    @property
    def database(self) -> str:
        return str(self.engine.url.database)

    @property
    def who(self) -> str:
        return f"maya{self.number}"

    @property
    def other(self) -> str:
        return f"jonas{self.number}"

    def settings(self, kind: str | None = None) -> Settings:
        kind = kind or self.kind
        memory: Any = {"backend": kind.split()[0], "files": {"root": str(self.folder / "memory")}}
        if kind == QDRANT:
            config = {"vector_store": {"provider": "qdrant", "config": {"path": str(self.folder / "qdrant")}}}
            (self.folder / "mem0.json").write_text(json.dumps(config), encoding="utf-8")
            memory["mem0"] = {"config": str(self.folder / "mem0.json")}
        return Settings(
            database_url=self.database_url,
            broker_url=self._broker(),
            spool=self.folder / "spool",
            memory=memory,
        )

    def _broker(self) -> str:
        about = self.redis.connection_pool.connection_kwargs
        return f"redis://{about['host']}:{about['port']}/{about.get('db', 0)}"

    def choose(self, kind: str) -> None:
        """A worker starts with this backend."""
        self.kind = kind
        feed_chosen(self.engine, self.settings(), self.now())

    def now(self) -> Any:
        return NOW

    def agent(self, name: str | None = None) -> Hearer:
        name = name or self.who
        if name not in self.hearers:
            self.hearers[name] = Hearer(self.engine, name)
        return self.hearers[name]

    def store(self) -> CopyStore:
        """One a world: qdrant in a folder allows no second."""
        if self._store is None:
            self._store = connect(self.settings())
        return self._store

    def deliver(self, name: str | None = None, store: CopyStore | None = None) -> DeliveryReport | Mem0Report | None:
        """Bring the backend up to date with an agent's scope, until nothing is left."""
        scope, now = self.agent(name).scope_id, self.now()
        while self.kind != "postgres":
            report: DeliveryReport | Mem0Report
            if self.kind == "file":
                rules = FileRules(self.folder / "memory")
                report = deliver(self.engine, scope, rules=rules, disk=Disk(), now=now, by="test")
            else:
                report = deliver_to_mem0(self.engine, scope, store or self.store(), now=now)
            if not report.more:
                return report
        return None

    def held(self, name: str | None = None) -> list[str]:
        """What stands in the backend itself, of one agent."""
        name = name or self.who
        if self.kind == "postgres":
            query = "SELECT content FROM slowwave.memories WHERE scope_id = :scope AND status <> 'archived'"
            return sorted(row.content for row in self.agent(name).sql(query, scope=self.agent(name).scope_id))
        if self.kind == "file":
            found = {
                entry.memory.id: entry.memory.content
                for path in self.files(name).rglob("*.md")
                for entry in parse_document(path.read_text(encoding="utf-8")).entries
                if entry.memory is not None
            }
            return sorted(found.values())
        return sorted(row["memory"] for row in self.rows(Owner("default", "agent", name)))

    def files(self, name: str | None = None) -> Path:
        return self.folder / "memory" / scope_folder("default", "agent", name or self.who)

    def rows(self, owner: Owner) -> list[dict[str, Any]]:
        """All that mem0 itself lists of a scope."""
        memory: Any = self.store()
        found: list[dict[str, Any]] = memory._memory.get_all(filters=owner.entities(), top_k=1000)["results"]
        return sorted(found, key=lambda row: str(row["id"]))

    def ask(self, question: str, agent: str | None = None, *, tenant: str = "default", **more: Any) -> list[Hit]:
        """Search as a host does; events are left out, since Postgres alone finds them."""
        with Memory(self.settings(), tenant=tenant) as memory:
            if self.kind.startswith("mem0"):
                memory.store.mem0._store = self.store()
            return [hit for hit in memory.search(agent or self.who, question, **more) if hit.kind == "memory"]

    def change(self, memory: UUID, **fields: Any) -> int:
        """A run decides something; answers its number."""
        hearer = self.agent()
        with self.engine.begin() as connection:
            run = start_run(connection, kind="other", now=hearer.now, lease_seconds=60)
            revision, author = hearer.memory(memory).revision, Author(run.id, "test")
            change_memory(Ledger(connection, author, hearer.now), memory, revision, fields, action="x", reason="test")
            finish_run(connection, run, status="completed", summary="", stats={}, now=hearer.now)
        return run.id

    def forget(self, target: Target, connecting: Callable[[Settings], CopyStore] | None = None) -> Report:
        forgetter = Forgetter(
            self.engine, self.redis, self.settings(), self.now, connecting or (lambda _: self.store())
        )
        return forgetter.forget(target, by="Priya")

    def waiting(self) -> int:
        """How many memories of the agent wait for a backend."""
        query = "SELECT count(*) AS n FROM slowwave.outbox WHERE delivered < changes AND scope_id = :scope"
        return int(self.agent().sql(query, scope=self.agent().scope_id)[0].n)
