"""The audit log, kept for AUDIT_DAYS: logins, failed logins, exports, revealed secrets, changes of roles and keys."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypedDict

from sqlalchemy import Connection, Engine, delete, func, insert, select

from slowwave_server.models import AuditEntry
from slowwave_server.models.base import columns_of

Action = Literal["login", "failed login", "export", "reveal", "role", "key"]
Via = Literal["console", "shell", "http"]

AUDIT_DAYS = 365
"""How long a row is kept: the job `retention` removes older ones."""
BATCH = 5000


class ActDetails(TypedDict):
    """The arguments of `note_act` besides the act itself."""

    tenant: str | None
    via: Via
    now: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One act. actor: None for a login with an unknown name; tenant: None for an act on no single tenant."""

    id: int
    done_at: datetime
    tenant: str | None
    action: str
    actor: str | None
    via: str
    what: str


def note_act(
    connection: Connection, action: Action, actor: str | None, what: str, *, tenant: str | None, via: Via, now: datetime
) -> None:
    """Add one row in the transaction of `connection`, so that the act is committed only together with its row.

    tenant: the tenant's name. None means the tenant of this Postgres login, or no tenant if the login serves all
    tenants.
    """
    values = {"action": action, "actor": actor, "what": what, "via": via, "done_at": now}
    connection.execute(insert(AuditEntry).values(values if tenant is None else values | {"tenant": tenant}))


def list_acts(
    connection: Connection,
    tenant: str,
    *,
    nobodys: bool,
    action: str | None = None,
    before: int | None = None,
    limit: int,
) -> list[Entry]:
    """List the acts of a tenant, newest first. nobodys: True to include acts on no single tenant."""
    query = select(*columns_of(AuditEntry, Entry))
    mine = AuditEntry.tenant == tenant
    query = query.where(mine | AuditEntry.tenant.is_(None) if nobodys else mine)
    if action is not None:
        query = query.where(AuditEntry.action == action)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return [Entry(**row) for row in connection.execute(query.order_by(AuditEntry.id.desc()).limit(limit)).mappings()]


def remove_old_acts(
    engine: Engine, *, now: datetime, dry_run: bool = False, go_on: Callable[[], bool] = lambda: True
) -> int:
    """Remove rows of all tenants older than AUDIT_DAYS. Return the number of removed rows, or in a dry run of old rows.

    go_on: a function that is called before each statement; if it returns False, the removal stops, and the next call
    resumes.
    """
    old = AuditEntry.done_at < now - timedelta(days=AUDIT_DAYS)
    if dry_run:
        with engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(AuditEntry).where(old)).scalar_one())
    batch = delete(AuditEntry).where(AuditEntry.id.in_(select(AuditEntry.id).where(old).limit(BATCH)))
    total = 0
    while go_on():
        with engine.begin() as connection:
            gone = connection.execute(batch).rowcount
        total += gone
        if gone < BATCH:
            break
    return total
