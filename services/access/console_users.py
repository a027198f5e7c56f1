"""Users of the console: their passwords, roles, and the tenants that each may see.

A password is stored as an Argon2id hash, and compared in constant time. No user exists before somebody adds one.
"""

import threading
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, Engine, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name
from slowwave_server.domain.console_roles import EVERY_TENANT, UserRole, role_of
from slowwave_server.models import Agent, ConsoleSession, ConsoleUser

SHORTEST_PASSWORD = 12
LONGEST_PASSWORD = 1000
TENANTS_LISTED = 500
HASHED_AT_ONCE = 2
"""Passwords that one process compares at the same time: each takes 64 MiB of memory while it is compared."""

_hashing = threading.BoundedSemaphore(HASHED_AT_ONCE)


class UserRefused(SlowwaveError):
    """The person can't be added or changed in this way; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class User:
    """A user of the console. tenants: names, or only `*`."""

    name: str
    role: UserRole
    tenants: tuple[str, ...]

    def sees(self, tenant: str) -> bool:
        return self.tenants == (EVERY_TENANT,) or tenant in self.tenants


@dataclass(frozen=True, slots=True)
class KnownUser:
    """A user as a list shows them, without the hash. changed_at: the last change of password, role or tenants."""

    name: str
    role: UserRole
    tenants: tuple[str, ...]
    created_at: datetime
    changed_at: datetime
    logged_in: bool


class Passwords:
    """Makes and compares hashes, at most HASHED_AT_ONCE at a time in a process. hasher: sets the cost of one
    comparison.

    A caller must hold no connection, because it may wait for its turn.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()

    @cached_property
    def _nobody(self) -> str:
        """A hash to compare with for an unknown user, so that the response time does not reveal who exists."""
        return self._hasher.hash("a password that nobody has")

    def hash(self, password: str) -> str:
        with _hashing:
            return self._hasher.hash(_normal(password))

    def fits(self, password: str, kept: str | None) -> bool:
        """Return True if `kept` is the hash of this password. None, an unknown user, takes the same time."""
        with _hashing:
            nobody = self._nobody  # the first caller makes it, whichever thread that is
            try:
                self._hasher.verify(kept or nobody, _normal(password))
            except (VerificationError, InvalidHashError):
                return False
        return kept is not None


def add_user(
    connection: Connection, name: str, role: UserRole, tenants: Sequence[str], password: str, *, passwords: Passwords
) -> None:
    """Add a user, in the transaction of `connection`. Raises UserRefused, InvalidName."""
    check_name("user", name)
    values = {
        "name": name,
        "role": role_of(role),
        "tenants": _tenants(tenants),
        "password_hash": passwords.hash(_password(password)),
    }
    added = connection.execute(insert(ConsoleUser).values(values).on_conflict_do_nothing().returning(ConsoleUser.name))
    if added.first() is None:
        raise UserRefused(f"{name!r} is there already: `slowwave admin users password` gives another password")


def remove_user(connection: Connection, name: str) -> bool:
    """Remove a user, and end their logins. Return False if no user has this name."""
    return bool(connection.execute(delete(ConsoleUser).where(ConsoleUser.name == name)).rowcount)


def set_password(connection: Connection, name: str, password: str, *, now: datetime, passwords: Passwords) -> bool:
    """Set a user's password, and end all their logins. Return False if no user has this name. Raises UserRefused."""
    values = {"password_hash": passwords.hash(_password(password)), "changed_at": now}
    found = connection.execute(update(ConsoleUser).where(ConsoleUser.name == name).values(values)).rowcount
    connection.execute(delete(ConsoleSession).where(ConsoleSession.user_name == name))
    return bool(found)


def known_users(connection: Connection, now: datetime) -> list[KnownUser]:
    """List all users, sorted by name."""
    logged_in = (
        select(ConsoleSession.digest)
        .where(ConsoleSession.user_name == ConsoleUser.name, ConsoleSession.expires_at > now)
        .exists()
    )
    query = select(
        ConsoleUser.name,
        ConsoleUser.role,
        ConsoleUser.tenants,
        ConsoleUser.created_at,
        ConsoleUser.changed_at,
        logged_in.label("logged_in"),
    ).order_by(ConsoleUser.name)
    return [
        KnownUser(row.name, role_of(row.role), tuple(row.tenants), row.created_at, row.changed_at, row.logged_in)
        for row in connection.execute(query)
    ]


def anybody(connection: Connection) -> bool:
    """Return True if the console has any user."""
    return connection.execute(select(ConsoleUser.name).limit(1)).first() is not None


def check_password(engine: Engine, name: str, password: str, *, passwords: Passwords) -> User | None:
    """Return the user if the password is right, else None. No connection is held while the password is compared."""
    query = select(ConsoleUser.name, ConsoleUser.role, ConsoleUser.tenants, ConsoleUser.password_hash)
    row = None
    if "\0" not in name:
        with engine.connect() as connection:
            row = connection.execute(query.where(ConsoleUser.name == name)).first()
    if not passwords.fits(password[:LONGEST_PASSWORD], None if row is None else row.password_hash) or row is None:
        return None
    return User(row.name, role_of(row.role), tuple(row.tenants))


def find_user(connection: Connection, name: str) -> User | None:
    """Return the user of this name, or None."""
    if "\0" in name:
        return None
    query = select(ConsoleUser.name, ConsoleUser.role, ConsoleUser.tenants).where(ConsoleUser.name == name)
    row = connection.execute(query).first()
    return None if row is None else User(row.name, role_of(row.role), tuple(row.tenants))


def tenants_of(connection: Connection, user: User) -> list[str]:
    """Return the tenants that a user may see; for a user who sees all, those with an agent, at most TENANTS_LISTED."""
    if user.tenants != (EVERY_TENANT,):
        return list(user.tenants)
    query = select(Agent.tenant).distinct().order_by(Agent.tenant).limit(TENANTS_LISTED)
    return list(connection.execute(query).scalars())


def sees_everything(connection: Connection, user: User) -> bool:
    """Return True if no data belongs to a tenant that this user may not see."""
    if user.tenants == (EVERY_TENANT,):
        return True
    others = select(Agent.id).where(Agent.tenant.not_in(user.tenants)).limit(1)
    return connection.execute(others).first() is None


def _tenants(tenants: Sequence[str]) -> list[str]:
    wanted = list(dict.fromkeys(tenants))
    if not wanted:
        raise UserRefused("name one tenant at least, or all of them")
    if EVERY_TENANT in wanted and len(wanted) > 1:
        raise UserRefused("name tenants, or all of them: not both")
    return [check_name("tenant", tenant) for tenant in wanted]


def _password(password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise UserRefused(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    return password


def _normal(password: str) -> bytes:
    """Normalise a password, because keyboards may write the same letters with different code points."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
