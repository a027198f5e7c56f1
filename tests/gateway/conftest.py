"""A gateway of its own login, over real servers: a database of the module, with keys of two tenants."""

import hashlib
import secrets
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from fastapi import FastAPI
from sqlalchemy import Engine
from sqlalchemy.engine import make_url
from starlette.testclient import TestClient

from slowwave import Memory
from slowwave.settings import Settings
from slowwave.settings_sections import Gateway
from slowwave.store import Store
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.grants import apply_grants
from slowwave_server.services.access.logins import add_login
from slowwave_server.workers.gateway.app import make_gateway
from slowwave_server.workers.gateway.walls import Walls

RIGHTS = ("record", "read", "decide", "forget", "administer")
TENANT = "acme"


@dataclass
class Doors:
    """A gateway and how to ask it. owner: an engine of who owns the tables. url: of the gateway's own login."""

    owner: Engine
    url: str
    settings: Settings
    redis: redis.Redis
    memory: Memory
    app: FastAPI
    client: TestClient
    keys: dict[str, str] = field(default_factory=dict)

    def key(
        self,
        tenant: str = TENANT,
        *,
        agents: Sequence[str] = (),
        scopes: Sequence[str] = (),
        rights: Sequence[str] = RIGHTS,
    ) -> str:
        """A new key, as it is shown once."""
        prefix = "sw_" + "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))
        key = f"{prefix}_{secrets.token_urlsafe(32)}"
        with self.owner.begin() as connection:
            connection.exec_driver_sql(
                "INSERT INTO slowwave.api_keys (tenant, name, prefix, digest, agents, scopes, rights, created_by)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, 'test')",
                (
                    *(tenant, prefix, prefix, hashlib.sha256(key.encode()).digest()),
                    *(list(agents), list(scopes), list(rights)),
                ),
            )
        return key

    def full(self, tenant: str = TENANT) -> str:
        """A key of a tenant with all rights, over all agents and scopes; the same each time."""
        if tenant not in self.keys:
            self.keys[tenant] = self.key(tenant, scopes=("room:*", "team:*"))
        return self.keys[tenant]

    def ask(self, method: str, path: str, *, key: str | None = None, **more: Any) -> Any:
        """The answer to a request. key: by default that of `full`; "" for none."""
        headers = dict(more.pop("headers", {}))
        if key != "":
            headers.setdefault("Authorization", f"Bearer {self.full() if key is None else key}")
        return self.client.request(method, path, headers=headers, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.ask("POST", path, **({"json": body} if body is not None else {}), **more)

    def get(self, path: str, **more: Any) -> Any:
        return self.ask("GET", path, **more)

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the owner of the tables finds."""
        with self.owner.begin() as connection:
            found = connection.exec_driver_sql(statement, values or None)
            return [tuple(row) for row in found] if found.returns_rows else []


def open_doors(url: str, broker: str, folder: Path, *, through: Path | None = None, **rules: Any) -> Iterator[Doors]:
    """A gateway on a migrated database, with a login that no other test has.

    through: the folder of another socket, by which the gateway reaches Postgres.
    """
    owner = make_engine(url)
    login = f"gateway_{uuid.uuid4().hex[:10]}"
    with owner.begin() as connection:
        apply_grants(connection)
        assert add_login(connection, login, "gateway", None)
    reached = make_url(url).set(username=login)
    if through is not None:
        reached = reached.update_query_dict({"host": str(through)})
    own = reached.render_as_string(hide_password=False)
    client = redis.Redis.from_url(broker)
    settings = Settings(
        database_url=own, broker_url=broker, tenant=TENANT, spool=folder / "spool", gateway=Gateway(**rules)
    )
    engine = make_engine(own, pool_size=8)
    memory = Memory(settings, store=Store(settings, acting=Walls()))
    app = make_gateway(settings, engine, client, lambda: datetime.now(UTC), memory)
    with TestClient(app, raise_server_exceptions=False) as asked:
        yield Doors(owner, own, settings, client, memory, app, asked)
    memory.close()
    engine.dispose()
    client.close()
    owner.dispose()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {login}")
        connection.execute(f"DROP ROLE {login}")


@pytest.fixture(scope="module")
def doors(module_database: str, module_broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    """The gateway of this module."""
    yield from open_doors(module_database, module_broker, tmp_path_factory.mktemp("gateway"), requests_per_second=0)
