"""Make, list, revoke and find keys of the HTTP gateway. Postgres stores only their digests.

A key is `sw_`, its prefix of eight characters, `_`, and its secret of 43 characters. Postgres stores the SHA-256 of the
whole key. The secret has 256 random bits, so nobody can guess it, and a slow hash would add nothing.
"""

import hashlib
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Row, func, insert, or_, select, update

from slowwave.errors import InvalidName, SlowwaveError, shown
from slowwave.identity import check_name, shared_scope
from slowwave_server.models import ApiKey
from slowwave_server.models.base import columns_of

Right = Literal["record", "read", "decide", "forget", "administer"]
RIGHTS: tuple[Right, ...] = get_args(Right)

MOST_PATTERNS = 100
LONGEST = timedelta(days=3650)
USED_EVERY = timedelta(minutes=1)
"""How exactly a key says when it was used last: more would be a write for each request."""
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


class InvalidKey(SlowwaveError):
    """A key with these properties can't be made; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key, without its secret. agents, scopes: names or patterns with `*`; see `models.ApiKey`."""

    id: UUID
    tenant: str
    name: str
    prefix: str
    agents: tuple[str, ...]
    scopes: tuple[str, ...]
    rights: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    def state(self, now: datetime) -> Literal["active", "expired", "revoked"]:
        """Return the state of the key at `now`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


_COLUMNS = columns_of(ApiKey, Key)


@dataclass(frozen=True, slots=True)
class NewKey:
    """The properties of a new key. agents: empty for all of its tenant; scopes: empty for the agents' own only."""

    name: str
    rights: Collection[str]
    agents: Sequence[str] = ()
    scopes: Sequence[str] = ()
    expires_at: datetime | None = None


def make_key(connection: Connection, tenant: str, wanted: NewKey, *, by: str, now: datetime) -> tuple[Key, str]:
    """Make a key in the transaction of `connection`. Return the key and its secret, which can't be read later.

    by: the name of the person who makes the key. Raises InvalidKey, InvalidName.
    """
    values = {"tenant": check_name("tenant", tenant), "created_by": by, "created_at": now} | _checked(wanted, now)
    prefix = f"sw_{''.join(secrets.choice(_BASE32) for _ in range(8))}"
    secret = f"{prefix}_{secrets.token_urlsafe(32)}"
    values |= {"prefix": prefix, "digest": digest_of(secret)}
    return _key(connection.execute(insert(ApiKey).values(values).returning(*_COLUMNS)).one()), secret


def list_keys(connection: Connection, tenant: str) -> list[Key]:
    """List all keys of a tenant, including revoked ones, newest first."""
    query = select(*_COLUMNS).where(ApiKey.tenant == tenant)
    return [_key(row) for row in connection.execute(query.order_by(ApiKey.created_at.desc(), ApiKey.id.desc()))]


def revoke_key(connection: Connection, tenant: str, which: str | UUID, *, now: datetime) -> Key | None:
    """Revoke a key of a tenant. Return None if the key does not exist. After the commit, the gateway rejects the key.

    which: the key's id, its prefix, or the whole key, for example one that somebody has found. A key that was already
    revoked keeps its time of revocation.
    """
    mine = (ApiKey.tenant == tenant) & _named(which)
    changed = update(ApiKey).where(mine).values(revoked_at=func.coalesce(ApiKey.revoked_at, now)).returning(*_COLUMNS)
    row = connection.execute(changed).first()
    return None if row is None else _key(row)


def find_key(connection: Connection, digest: bytes) -> Key | None:
    """Return the valid key with this digest if this login may see it, or None."""
    query = select(*_COLUMNS).where(ApiKey.digest == digest, ApiKey.revoked_at.is_(None))
    row = connection.execute(
        query.where(or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > func.clock_timestamp()))
    ).first()
    return None if row is None else _key(row)


def note_use(connection: Connection, key: UUID) -> None:
    """Note that a key was used now, unless a use within USED_EVERY is already noted."""
    now = func.clock_timestamp()
    stale = or_(ApiKey.last_used_at.is_(None), ApiKey.last_used_at < now - USED_EVERY)
    connection.execute(update(ApiKey).where(ApiKey.id == key, stale).values(last_used_at=now))


def digest_of(secret: str) -> bytes:
    """Return the digest under which Postgres stores a key."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _named(which: str | UUID) -> ColumnElement[bool]:
    try:
        return ApiKey.id == (which if isinstance(which, UUID) else UUID(which))
    except ValueError:
        return ApiKey.prefix == "_".join(str(which).split("_")[:2])


def _checked(wanted: NewKey, now: datetime) -> dict[str, object]:
    if wrong := [right for right in wanted.rights if right not in RIGHTS]:
        raise InvalidKey(f"a right must be one of {', '.join(RIGHTS)}, got {shown(wrong[0])}")
    if not wanted.rights:
        raise InvalidKey(f"a key needs one right or more of {', '.join(RIGHTS)}")
    _check_end(wanted.expires_at, now)
    return {
        "name": check_name("key", wanted.name),
        "agents": _patterns("agents", (check_name("agent", pattern) for pattern in wanted.agents)),
        "scopes": _patterns("scopes", (_scope(pattern) for pattern in wanted.scopes)),
        "rights": [right for right in RIGHTS if right in wanted.rights],
        "expires_at": wanted.expires_at,
    }


def _check_end(moment: datetime | None, now: datetime) -> None:
    if moment is None:
        return
    if moment.tzinfo is None:
        raise InvalidKey(f"the time at which a key expires needs a time zone, got {moment.isoformat()}")
    if not now < moment <= now + LONGEST:
        allowed = f"after now and within {LONGEST.days:,} days, or never"
        raise InvalidKey(f"a key must expire {allowed}, got {moment.isoformat(timespec='minutes')}")


def _patterns(what: str, patterns: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(patterns))
    if len(found) > MOST_PATTERNS:
        raise InvalidKey(f"a key has at most {MOST_PATTERNS} {what}, got {len(found)}")
    return found


def _scope(pattern: str) -> str:
    try:
        shared_scope(pattern)
    except InvalidName:
        raise InvalidName(f'a scope must be "room:NAME" or "team:NAME", * in NAME, got {shown(pattern)}') from None
    return pattern


def _key(row: Row[*tuple[object, ...]]) -> Key:
    columns = row._asdict()
    return Key(**columns | {name: tuple(columns[name]) for name in ("agents", "scopes", "rights")})
