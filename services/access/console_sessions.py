"""Make, find and end login sessions of the console. The browser keeps a secret, the table the secret's digest."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from slowwave_server.domain.console_roles import role_of
from slowwave_server.models import ConsoleSession, ConsoleUser
from slowwave_server.services.access.console_users import User


@dataclass(frozen=True, slots=True)
class Login:
    """A person who is logged in, and the tenant whose memories they look at. secret: the secret in their browser."""

    secret: str
    user: User
    tenant: str

    @property
    def form_token(self) -> str:
        """The token in every form of this login. It depends on the tenant, so that a page that was open before the
        person switched tenants can't change data of the new tenant.
        """
        return hmac.new(self.secret.encode(), f"form {self.tenant}".encode(), hashlib.sha256).hexdigest()


def open_session(connection: Connection, user: User, tenant: str, *, now: datetime, lasts: timedelta) -> Login:
    """Log a user in. Expired sessions of all users are deleted."""
    connection.execute(delete(ConsoleSession).where(ConsoleSession.expires_at <= now))
    secret = secrets.token_urlsafe(32)
    values = {"digest": _digest(secret), "user_name": user.name, "tenant": tenant}
    connection.execute(insert(ConsoleSession).values(**values, created_at=now, expires_at=now + lasts))
    return Login(secret, user, tenant)


def find_session(connection: Connection, secret: str, *, now: datetime) -> Login | None:
    """Return the login with this secret and its present rights, so that a revoked role ends at once, or None."""
    query = (
        select(ConsoleUser.name, ConsoleUser.role, ConsoleUser.tenants, ConsoleSession.tenant)
        .join(ConsoleUser, ConsoleUser.name == ConsoleSession.user_name)
        .where(ConsoleSession.digest == _digest(secret), ConsoleSession.expires_at > now)
    )
    row = connection.execute(query).first()
    if row is None:
        return None
    name, role, tenants, tenant = row
    user = User(name, role_of(role), tuple(tenants))
    return Login(secret, user, tenant) if user.sees(tenant) else None


def choose_tenant(connection: Connection, login: Login, tenant: str) -> bool:
    """Switch the login to another tenant. Return False if the person may not see this tenant."""
    if not login.user.sees(tenant):
        return False
    here = ConsoleSession.digest == _digest(login.secret)
    return bool(connection.execute(update(ConsoleSession).where(here).values(tenant=tenant)).rowcount)


def close_session(connection: Connection, secret: str) -> None:
    """End the login with this secret."""
    connection.execute(delete(ConsoleSession).where(ConsoleSession.digest == _digest(secret)))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
