"""What tests of roles share: a database with a login of its own for each part of a deployment."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.grants import apply_grants
from slowwave_server.services.access.logins import Role, add_login, remove_login

PARTS: Mapping[str, tuple[Role, str | None]] = {
    "worker": ("worker", None),
    "acme app": ("producer", "acme"),
    "acme desk": ("console", "acme"),
    "globex app": ("producer", "globex"),
    "globex desk": ("console", "globex"),
    "gateway": ("gateway", None),
}


@dataclass
class Deployment:
    """owner: an engine of who owns the tables; logins: of each part its login, which no other test has."""

    owner: Engine
    url: str
    logins: Mapping[str, str]
    engines: dict[str, Engine] = field(default_factory=dict)

    def url_of(self, part: str) -> str:
        return make_url(self.url).set(username=self.logins[part]).render_as_string(hide_password=False)

    def engine(self, part: str) -> Engine:
        if part not in self.engines:
            self.engines[part] = make_engine(self.url_of(part))
        return self.engines[part]

    @contextmanager
    def connection(self, part: str) -> Iterator[psycopg.Connection[Any]]:
        """As a stranger's program would connect: by the driver alone, each statement by itself."""
        url = self.url if part == "owner" else self.url_of(part)
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection

    def ask(self, part: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.connection(part) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def deployed(url: str) -> Iterator[Deployment]:
    """Roles on a migrated database, and a login a part; the logins go again, the groups stay for the next."""
    suffix = uuid.uuid4().hex[:10]
    logins = {part: f"{part.replace(' ', '_')}_{suffix}" for part in PARTS}
    owner = make_engine(url)
    with owner.begin() as connection:
        apply_grants(connection)
        for part, (role, tenant) in PARTS.items():
            assert add_login(connection, logins[part], role, tenant)
    deployment = Deployment(owner, url, logins)
    try:
        yield deployment
    finally:
        for engine in deployment.engines.values():
            engine.dispose()
        with owner.begin() as connection:
            for login in logins.values():
                remove_login(connection, login)
                connection.exec_driver_sql(f"DROP ROLE {login}")
        owner.dispose()
