"""Read the texts of memories to which changes refer: a successor, or the survivor of a merge."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Connection, select

from slowwave_server.domain.change_words import mentioned
from slowwave_server.models import Memory, Scope
from slowwave_server.services.memories.masking import masked


class Changed(Protocol):
    """A change with the values before and after it."""

    @property
    def before(self) -> Mapping[str, Any] | None: ...

    @property
    def after(self) -> Mapping[str, Any] | None: ...


def contents_named(connection: Connection, tenant: str, changes: Iterable[Changed]) -> dict[UUID, str]:
    """Return the contents of the memories of `tenant` that these changes name, without secrets."""
    named = {memory for change in changes for memory in mentioned(change.before, change.after)}
    return contents_of(connection, tenant, named)


def contents_of(connection: Connection, tenant: str, memories: Iterable[UUID]) -> dict[UUID, str]:
    """Return the contents of these memories of `tenant`, without secrets."""
    wanted = set(memories)
    if not wanted:
        return {}
    query = (
        select(Memory.id, Memory.content)
        .join(Scope, Scope.id == Memory.scope_id)
        .where(Scope.tenant == tenant, Memory.id.in_(wanted))
    )
    return {row.id: masked(row.content) for row in connection.execute(query)}
