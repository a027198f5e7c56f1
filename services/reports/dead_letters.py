"""List dead letters, which a task refused. One with an unreadable tenant has no owner: all operators see it."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from slowwave_server.models.driver import Reads, read_rows
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.masking import masked, masked_values

LetterState = Literal["open", "redriven", "dismissed"]
_OF_TENANT = "(tenant = %(tenant)s OR %(nobodys)s AND tenant IS NULL)"
_LETTERS = (
    "SELECT id, tenant, task, error, state, created_at, decided_at, payload FROM slowwave.dead_letters"
    f" WHERE {_OF_TENANT} AND {{}} ORDER BY id DESC LIMIT %(limit)s"
)
_OPEN = f"SELECT count(*) AS number FROM slowwave.dead_letters WHERE state = 'open' AND {_OF_TENANT}"


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
    connection: Reads,
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
    wanted = ["true"]
    if before is not None:
        wanted.append("id < %(before)s")
    if state is not None:
        wanted.append("state = %(state)s")
    values = {"tenant": tenant, "nobodys": nobodys, "before": before, "state": state, "limit": limit}
    return [_letter(row) for row in read_rows(connection, _LETTERS.format(" AND ".join(wanted)), values)]


def read_dead_letter(connection: Reads, tenant: str, number: int, *, nobodys: bool = True) -> ListedDeadLetter:
    """Return one letter. nobodys: see `list_dead_letters`. Raises UnknownName."""
    values = {"tenant": tenant, "nobodys": nobodys, "id": number, "limit": 1}
    found = read_rows(connection, _LETTERS.format("id = %(id)s"), values)
    if not found:
        raise UnknownName(f"no dead letter {number} in tenant {tenant!r}; `slowwave queue list` shows them")
    return _letter(found[0])


def count_open(connection: Reads, tenant: str, *, nobodys: bool = True) -> int:
    """Count the letters that wait for a decision. nobodys: see `list_dead_letters`."""
    (row,) = read_rows(connection, _OPEN, {"tenant": tenant, "nobodys": nobodys})
    return int(row["number"])


def _letter(row: dict[str, Any]) -> ListedDeadLetter:
    letter = ListedDeadLetter(**row)
    return replace(letter, error=masked(letter.error), payload=masked_values(letter.payload))
