"""The gateway's login of Postgres is in the wrong hands: without a key it sees nothing, with one a single tenant.

Each attack uses the driver alone, as a stranger's program would.
"""

import secrets
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, InvalidAuthorizationSpecification, UniqueViolation

from slowwave_server.services.access import privileges
from slowwave_server.services.access.api_keys import Key, NewKey, digest_of, find_key, make_key, note_use, revoke_key
from slowwave_server.services.access.grants import tables
from tests.support.roles import Deployment, deployed

pytestmark = pytest.mark.servers

NOTE = (
    "SELECT added FROM (SELECT is_new AS added FROM slowwave.remember(%s, 'atlas', 'agent', 'atlas', NULL, 'fact', %s,"
)
NOTE += " 1, true, %s, 600, NULL, 'UTC', 0)) AS noted"
NOTES = "SELECT content FROM slowwave.working_memory ORDER BY content"
TENANT = "SELECT slowwave.current_tenant()"
SECRETS = {"acme": "Priya grows tomatoes.", "globex": "Jonas keeps bees."}
Link = psycopg.Connection[Any]


@dataclass
class Gateway:
    """A database of two tenants, each with a note and a key."""

    deployment: Deployment
    keys: dict[str, tuple[Key, str]]

    def make(self, tenant: str, **wanted: Any) -> tuple[Key, str]:
        with self.deployment.owner.begin() as connection:
            now = datetime.now(UTC)
            return make_key(connection, tenant, NewKey("app", ["read"], **wanted), by="Maya", now=now)

    def digest(self, tenant: str) -> bytes:
        return digest_of(self.keys[tenant][1])


@pytest.fixture(scope="module")
def gateway(postgres_url: str, template_database: str) -> Iterator[Gateway]:
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template_database} STRATEGY wal_log")
        with deployed(postgres_url.replace("/postgres?", f"/{name}?")) as deployment:
            world = Gateway(deployment, {})
            for tenant, note in SECRETS.items():
                deployment.ask("worker", NOTE, tenant, note, "first")
                world.keys[tenant] = world.make(tenant)
            yield world
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def link(gateway: Gateway) -> Iterator[Link]:
    with gateway.deployment.connection("gateway") as connection:
        yield connection


def use(link: Link, digest: bytes) -> str | None:
    row = link.execute("SELECT slowwave.use_key(%s)", (digest,)).fetchone()
    return row[0] if row else None


def rows_of_tenants(gateway: Gateway, link: Link) -> set[str]:
    """The tenants of which any table shows a row."""
    with gateway.deployment.owner.connect() as connection:
        found = tables(connection)
    seen: set[str] = set()
    for table in found:
        if table in privileges.READ_ONLY:
            continue
        try:
            rows = link.execute(f"SELECT to_jsonb(t) ->> 'tenant', t::text FROM slowwave.{table} AS t").fetchall()
        except InsufficientPrivilege:
            assert "SELECT" not in privileges.table_privileges("gateway", table)
            continue
        seen |= {tenant for tenant, _ in rows if tenant}
        seen |= {tenant for tenant, note in SECRETS.items() if any(note in text for _, text in rows)}
    return seen


def test_i8_gateway_without_a_key_sees_nothing(gateway: Gateway, link: Link) -> None:
    assert rows_of_tenants(gateway, link) == set()
    assert link.execute(TENANT).fetchone() == (None,)
    for tenant in SECRETS:
        with pytest.raises(InsufficientPrivilege, match="may not act for tenant"):
            link.execute(NOTE, (tenant, "forged", "k"))
        with pytest.raises(InsufficientPrivilege, match="may not act for tenant"):
            link.execute("SELECT slowwave.scope_stats(%s, '{agent}', '{atlas}', 'x')", (tenant,))
    with pytest.raises(InsufficientPrivilege, match="may not read scopes"):
        link.execute("SELECT * FROM slowwave.pair_memories('{1}'::bigint[], '{}'::uuid[])")
    for table, columns, values in (
        ("api_keys", "name, prefix, digest, rights, created_by", "'x', 'x', sha256('x'), '{read}', 'x'"),
        ("requests", "kind, arguments", "'forget', '{}'"),
    ):
        statement = f"INSERT INTO slowwave.{table} (tenant, {columns}) VALUES ('acme', {values})"
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            link.execute(statement)


@pytest.mark.parametrize(("own", "other"), [("acme", "globex"), ("globex", "acme")])
def test_i8_gateway_with_a_key_sees_its_tenant_alone(gateway: Gateway, link: Link, own: str, other: str) -> None:
    assert use(link, gateway.digest(own)) == own
    assert rows_of_tenants(gateway, link) == {own}
    assert link.execute(NOTES).fetchall() == [(SECRETS[own],)]
    digests = {bytes(row[0]) for row in link.execute("SELECT digest FROM slowwave.api_keys").fetchall()}
    assert gateway.digest(own) in digests
    assert gateway.digest(other) not in digests
    with pytest.raises(InsufficientPrivilege, match="may not act for tenant"):
        link.execute(NOTE, (other, "forged", "k"))
    (theirs,) = gateway.deployment.ask("owner", "SELECT id FROM slowwave.scopes WHERE tenant = %s", other)
    with pytest.raises(InsufficientPrivilege, match="may not read scopes"):
        link.execute("SELECT * FROM slowwave.pair_memories(%s::bigint[], '{}'::uuid[])", (list(theirs),))
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        link.execute("UPDATE slowwave.api_keys SET tenant = %s", (other,))
    assert link.execute("UPDATE slowwave.api_keys SET name = 'x' WHERE tenant = %s", (other,)).rowcount == 0
    assert link.execute(NOTE, (own, SECRETS[own], "first")).fetchone() == (False,)


def test_i8_other_key_leaves_nothing_of_the_first(gateway: Gateway, link: Link) -> None:
    for tenant in ("acme", "globex", "acme"):
        use(link, gateway.digest(tenant))
        assert link.execute(NOTES).fetchall() == [(SECRETS[tenant],)]


@pytest.mark.parametrize(
    "forged",
    [
        *("", "acme", "*", "%", "null", "\\x00", "'; SELECT 1; --"),
        pytest.param("0" * 64, id="no key's digest"),
        pytest.param("é" * 64, id="other letters"),
        pytest.param("0" * 64_000, id="long"),
    ],
)
def test_i8_forged_settings_open_nothing(gateway: Gateway, link: Link, forged: str) -> None:
    link.execute("SELECT set_config('slowwave.key', %s, false)", (forged,))
    assert rows_of_tenants(gateway, link) == set()
    for name in ("slowwave.tenant", "slowwave.login", "role_of_me.key"):
        link.execute("SELECT set_config(%s, 'acme', false)", (name,))
    assert link.execute(NOTES).fetchall() == []


def test_i8_known_digest_gives_that_key_and_no_more(gateway: Gateway, link: Link) -> None:
    """A gateway may set slowwave.key by itself: a digest is then worth what its key is, and stops with it."""
    key, secret = gateway.make("acme")
    link.execute("SELECT set_config('slowwave.key', %s, false)", (digest_of(secret).hex(),))
    assert rows_of_tenants(gateway, link) == {"acme"}
    with gateway.deployment.owner.begin() as connection:
        revoke_key(connection, "acme", key.id, now=datetime.now(UTC))
    assert rows_of_tenants(gateway, link) == set()


def test_i8_revoked_key_ends_in_an_open_connection(gateway: Gateway, link: Link) -> None:
    key, secret = gateway.make("acme")
    use(link, digest_of(secret))
    link.execute("BEGIN")
    assert link.execute(NOTES).fetchall() == [(SECRETS["acme"],)]
    with gateway.deployment.owner.begin() as connection:
        revoked = revoke_key(connection, "acme", key.prefix, now=datetime.now(UTC))
        assert revoked is not None
        assert revoke_key(connection, "globex", key.prefix, now=datetime.now(UTC)) is None
    assert link.execute(NOTES).fetchall() == []
    with pytest.raises(InsufficientPrivilege, match="may not act for tenant"):
        link.execute(NOTE, ("acme", "forged", "k"))
    link.execute("ROLLBACK")
    with pytest.raises(InvalidAuthorizationSpecification, match="revoked"):
        use(link, digest_of(secret))


def test_i8_expired_key_ends_in_an_open_transaction(gateway: Gateway, link: Link) -> None:
    key, secret = gateway.make("acme", expires_at=datetime.now(UTC) + timedelta(hours=1))
    use(link, digest_of(secret))
    link.execute("BEGIN")
    assert link.execute(NOTES).fetchall() == [(SECRETS["acme"],)]
    past = "UPDATE slowwave.api_keys SET expires_at = clock_timestamp() WHERE id = %s"
    gateway.deployment.ask("owner", past, key.id)
    assert link.execute(NOTES).fetchall() == []
    link.execute("ROLLBACK")
    with pytest.raises(InvalidAuthorizationSpecification, match="expired"):
        use(link, digest_of(secret))


def test_i8_unknown_keys_are_refused_alike(gateway: Gateway, link: Link) -> None:
    use(link, gateway.digest("acme"))
    told = set()
    for digest in (secrets.token_bytes(32), b"", gateway.keys["globex"][1].encode(), b"\0" * 32, None):
        with pytest.raises(InvalidAuthorizationSpecification) as refused:
            link.execute("SELECT slowwave.use_key(%s::bytea)", (digest,))
        told.add(str(refused.value))
    assert len(told) == 1
    assert link.execute(TENANT).fetchone() == ("acme",)


def test_i8_rollback_takes_back_the_key_of_its_transaction(gateway: Gateway, link: Link) -> None:
    use(link, gateway.digest("acme"))
    link.execute("BEGIN")
    use(link, gateway.digest("globex"))
    link.execute("ROLLBACK")
    assert link.execute(TENANT).fetchone() == ("acme",)


def test_i8_keys_open_nothing_for_logins_of_other_roles(gateway: Gateway) -> None:
    for part in ("globex app", "globex desk"):
        with gateway.deployment.connection(part) as connection:
            with pytest.raises(InsufficientPrivilege):
                use(connection, gateway.digest("acme"))
            connection.execute("SELECT set_config('slowwave.key', %s, false)", (gateway.digest("acme").hex(),))
            assert connection.execute(TENANT).fetchone() == ("globex",)
    with gateway.deployment.connection("globex desk") as desk:
        with pytest.raises(InsufficientPrivilege, match="row-level security"):
            desk.execute("UPDATE slowwave.api_keys SET tenant = 'acme'")
        with pytest.raises(UniqueViolation):
            desk.execute("UPDATE slowwave.api_keys SET digest = %s", (gateway.digest("acme"),))


def test_i8_requests_name_who_wrote_them(gateway: Gateway, link: Link) -> None:
    """A worker does what a request says in the name of who asked, so nobody may ask in another name."""
    use(link, gateway.digest("acme"))
    added = "INSERT INTO slowwave.requests (key_id, kind, arguments) VALUES (%s, 'forget', '{}') RETURNING asked_by"
    assert link.execute(added, (gateway.keys["acme"][0].id,)).fetchone() == (gateway.deployment.logins["gateway"],)
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        link.execute(added, (gateway.keys["globex"][0].id,))
    forged = "INSERT INTO slowwave.requests (asked_by, kind, arguments) VALUES ('Priya', 'forget', '{}')"
    with pytest.raises(InsufficientPrivilege, match="row-level security"):
        link.execute(forged)
    for changing in ("UPDATE slowwave.requests SET arguments = '{}'", "DELETE FROM slowwave.requests"):
        with pytest.raises(InsufficientPrivilege, match="permission denied"):
            link.execute(changing)
    assert gateway.deployment.ask("globex desk", "SELECT FROM slowwave.requests") == []
    gateway.deployment.ask("owner", "DELETE FROM slowwave.requests")


def test_key_notes_its_use_once_a_minute(gateway: Gateway) -> None:
    key, secret = gateway.make("acme")
    ours = gateway.deployment.engine("gateway")
    with ours.connect() as connection:
        connection.exec_driver_sql("SELECT slowwave.use_key(%s)", (digest_of(secret),))
        connection.commit()
        found = find_key(connection, digest_of(secret))
        assert found is not None
        assert (found.id, found.rights, found.last_used_at) == (key.id, ("read",), None)
        uses = []
        for earlier in (timedelta(0), timedelta(0), timedelta(seconds=61)):
            connection.exec_driver_sql("UPDATE slowwave.api_keys SET last_used_at = last_used_at - %s", (earlier,))
            note_use(connection, key.id)
            again = find_key(connection, digest_of(secret))
            assert again is not None
            assert again.last_used_at is not None
            uses.append(again.last_used_at)
        assert uses[0] == uses[1] < uses[2]
        assert find_key(connection, gateway.digest("globex")) is None
        connection.rollback()
