"""List dead letters: payloads that a task refused, with the error and the decision.

A dead letter with an unreadable tenant has no owner, and every operator sees it.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, func, select

from slowwave_server.models import DeadLetter
from slowwave_server.services.dead_letters.store import of_tenant
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.masking import masked, masked_values

LetterState = Literal["open", "redriven", "dismissed"]


@dataclass(frozen=True, slots=True)
class ListedDeadLetter:
    """One letter. The payload is complete, with secrets masked."""

    id: int
    tenant: str | None
    task: str
    error: str
    state: str
    created_at: datetime
    decided_at: datetime | None
    payload: dict[str, Any]


def list_dead_letters(
    connection: Connection,
    tenant: str,
    *,
    state: LetterState | None = "open",
    before: int | None = None,
    nobodys: bool = True,
    limit: int = 100,
) -> list[ListedDeadLetter]:
    """List the newest `limit` dead letters in `state` (None: any), older than number `before`.

    nobodys: True to include those with an unreadable tenant, for a user who may see all tenants.
    """
    query = _letters(tenant, nobodys=nobodys)
    if before is not None:
        query = query.where(DeadLetter.id < before)
    if state is not None:
        query = query.where(DeadLetter.state == state)
    return [_letter(row) for row in connection.execute(query.order_by(DeadLetter.id.desc()).limit(limit))]


def read_dead_letter(connection: Connection, tenant: str, number: int, *, nobodys: bool = True) -> ListedDeadLetter:
    """Return one letter. nobodys: see `list_dead_letters`. Raises UnknownName."""
    row = connection.execute(_letters(tenant, nobodys=nobodys).where(DeadLetter.id == number)).first()
    if row is None:
        raise UnknownName(f"no dead letter {number} in tenant {tenant!r}; `slowwave queue list` shows them")
    return _letter(row)


def count_open(connection: Connection, tenant: str, *, nobodys: bool = True) -> int:
    """Count the letters that wait for a decision. nobodys: see `list_dead_letters`."""
    mine = of_tenant(tenant, nobodys=nobodys)
    query = select(func.count()).select_from(DeadLetter).where(DeadLetter.state == "open", mine)
    return connection.execute(query).scalar_one()


def _letter(row: Row[*tuple[Any, ...]]) -> ListedDeadLetter:
    letter = ListedDeadLetter(*row)
    return replace(letter, error=masked(letter.error), payload=masked_values(letter.payload))


def _letters(tenant: str, *, nobodys: bool) -> Select[*tuple[Any, ...]]:
    return select(
        DeadLetter.id,
        DeadLetter.tenant,
        DeadLetter.task,
        DeadLetter.error,
        DeadLetter.state,
        DeadLetter.created_at,
        DeadLetter.decided_at,
        DeadLetter.payload,
    ).where(of_tenant(tenant, nobodys=nobodys))
