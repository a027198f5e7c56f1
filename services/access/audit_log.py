"""The audit log: who logged in, failed to, exported, revealed secrets, gave a role or a key; for AUDIT_DAYS."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypedDict

from sqlalchemy import Connection, Engine, delete, func, insert, select

from slowwave_server.models import AuditEntry

Action = Literal["login", "failed login", "export", "reveal", "role", "key"]
Via = Literal["console", "shell", "http"]

AUDIT_DAYS = 365
"""How long a row is kept: the job `retention` removes older ones."""
BATCH = 5000


class ActDetails(TypedDict):
    """What `note_act` takes besides the act itself."""

    tenant: str | None
    via: Via
    now: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """One act. actor: None for a login with an unknown name. tenant: None for what belongs to no single one."""

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
    """Add one row, in the transaction of `connection`: the act is committed only together with its row.

    tenant: None for the tenant of this login of Postgres, and for none where the login serves them all.
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
    """The acts of a tenant, the newest first. nobodys: those that belong to no single tenant, too."""
    query = select(
        AuditEntry.id,
        AuditEntry.done_at,
        AuditEntry.tenant,
        AuditEntry.action,
        AuditEntry.actor,
        AuditEntry.via,
        AuditEntry.what,
    )
    mine = AuditEntry.tenant == tenant
    query = query.where(mine | AuditEntry.tenant.is_(None) if nobodys else mine)
    if action is not None:
        query = query.where(AuditEntry.action == action)
    if before is not None:
        query = query.where(AuditEntry.id < before)
    return [Entry(*row) for row in connection.execute(query.order_by(AuditEntry.id.desc()).limit(limit))]


def remove_old_acts(
    engine: Engine, *, now: datetime, dry_run: bool = False, go_on: Callable[[], bool] = lambda: True
) -> int:
    """Remove the rows of all tenants that are older than AUDIT_DAYS; how many went, or would.

    go_on: asked before each statement; False stops, and the next call goes on.
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
