"""The owner of files: a scope's folder, its day boundary, and the fence against forgotten data (I10)."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, and_, func, or_, select

from slowwave_server.domain.memory_files import FileHeader, scope_folder
from slowwave_server.models import Agent, ErasedName, Erasure, Scope, Session


class Forgotten(Exception):
    """A forget of this tenant ran while files were read, so the data that was read must not be stored. Read again."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Values that every forget changes. epoch: the epoch of the agent that owns the scope; receipt: the tenant's last
    receipt;
    erased_at: the last forget of the scope itself; older files do not exist any more.
    """

    epoch: int | None
    receipt: int | None
    erased_at: datetime | None


@dataclass(frozen=True, slots=True)
class Owner:
    """A scope by its names. header: the header of its MEMORY.md."""

    scope_id: int
    header: FileHeader
    fence: Fence

    def folder(self, root: Path) -> Path:
        """The folder of its files below the root folder."""
        return root / scope_folder(self.header.tenant, self.header.kind, self.header.name)


def read_owner(connection: Connection, scope_id: int) -> Owner | None:
    """Return the owner or None. A shared scope has the day boundary of the agent that wrote to it first."""
    scope = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).first()
    if scope is None:
        return None
    own = select(Agent.time_zone, Agent.cutoff_hour).where(Agent.tenant == scope.tenant, Agent.name == scope.name)
    first = (
        select(Agent.time_zone, Agent.cutoff_hour)
        .join(Session, Session.agent_id == Agent.id)
        .where(Session.scope_id == scope_id)
        .order_by(Session.id)
        .limit(1)
    )
    clock = connection.execute(own if scope.kind == "agent" else first).first()
    zone, cutoff = (clock.time_zone, clock.cutoff_hour) if clock is not None else ("UTC", 0)
    header = FileHeader(scope.tenant, scope.kind, scope.name, zone, cutoff)
    return Owner(scope_id, header, _fence(connection, header))


def hold_fence(connection: Connection, owner: Owner) -> None:
    """Lock the scope against a forget until the transaction ends. Raises Forgotten after a newer forget."""
    header = owner.header
    agent = select(Agent.id).where(Agent.tenant == header.tenant, Agent.name == header.name)
    if header.kind == "agent":
        connection.execute(agent.with_for_update(read=True))
    scope = select(Scope.id).where(Scope.id == owner.scope_id).with_for_update(read=True)
    if connection.execute(scope).first() is None or _fence(connection, header) != owner.fence:
        raise Forgotten(f"scope {owner.scope_id}")


def _fence(connection: Connection, header: FileHeader) -> Fence:
    epoch = select(Agent.epoch).where(Agent.tenant == header.tenant, Agent.name == header.name)
    named = and_(ErasedName.agent == "", ErasedName.session == f"{header.kind}:{header.name}")
    if header.kind == "agent":
        named = or_(named, and_(ErasedName.agent == header.name, ErasedName.session == ""))
    erased = select(func.max(ErasedName.erased_at)).where(ErasedName.tenant == header.tenant, named)
    receipt = select(func.max(Erasure.id)).where(Erasure.tenant == header.tenant)
    return Fence(
        connection.execute(epoch).scalar() if header.kind == "agent" else None,
        connection.execute(receipt).scalar(),
        connection.execute(erased).scalar(),
    )


def scopes_of(connection: Connection, tenant: str) -> dict[str, int]:
    """List all scopes of a tenant: an agent's own by its name, others as `kind:name`."""
    query = select(Scope.id, Scope.kind, Scope.name).where(Scope.tenant == tenant).order_by(Scope.id)
    return {row.name if row.kind == "agent" else f"{row.kind}:{row.name}": row.id for row in connection.execute(query)}
