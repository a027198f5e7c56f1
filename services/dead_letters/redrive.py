"""Decide dead letters: send them to their task again, or dismiss them.

A letter is sent before its row commits. If this process dies in between, the letter stays open and may be sent twice.
This is harmless, because hooks carry idempotency keys, and all other messages only wake a worker.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from slowwave.errors import SlowwaveError
from slowwave_server.models import DeadLetter
from slowwave_server.services.dead_letters.store import of_tenant

AT_ONCE = 1000

Send = Callable[[str, Mapping[str, Any]], None]
"""(task, payload as keyword arguments) → sent. Raises SlowwaveError for what can't be sent."""


def redrive(
    connection: Connection,
    tenant: str,
    numbers: Sequence[int] | None,
    *,
    send: Send,
    now: datetime,
    nobodys: bool = True,
) -> tuple[list[int], dict[int, str]]:
    """Send open letters of `tenant` again (all if `numbers` is None, at most AT_ONCE), in one transaction.

    Return the letters that were sent, and the reasons why others were not. Letters that another transaction decides are
    skipped. nobodys: True to include letters whose tenant could not be read.
    """
    query = select(DeadLetter.id, DeadLetter.task, DeadLetter.payload).where(_open(tenant, numbers, nobodys))
    rows = connection.execute(query.order_by(DeadLetter.id).limit(AT_ONCE).with_for_update(skip_locked=True)).all()
    sent: list[int] = []
    refused: dict[int, str] = {}
    for row in rows:
        if "cut" in row.payload:
            refused[row.id] = "its payload could not be kept whole"
            continue
        try:
            send(row.task, row.payload)
        except SlowwaveError as error:
            refused[row.id] = str(error)
            continue
        sent.append(row.id)
    _decide(connection, sent, "redriven", now)
    connection.commit()
    return sent, refused | _missing(numbers, [row.id for row in rows])


def dismiss(
    connection: Connection, tenant: str, numbers: Sequence[int] | None, *, now: datetime, nobodys: bool = True
) -> tuple[list[int], dict[int, str]]:
    """Close open letters without sending them (None: at most AT_ONCE). nobodys: also those of an unreadable tenant."""
    query = select(DeadLetter.id).where(_open(tenant, numbers, nobodys)).order_by(DeadLetter.id).limit(AT_ONCE)
    found = list(connection.execute(query.with_for_update(skip_locked=True)).scalars())
    _decide(connection, found, "dismissed", now)
    connection.commit()
    return found, _missing(numbers, found)


def _open(tenant: str, numbers: Sequence[int] | None, nobodys: bool) -> Any:
    wanted = of_tenant(tenant, nobodys=nobodys) & (DeadLetter.state == "open")
    return wanted if numbers is None else wanted & DeadLetter.id.in_(numbers)


def _decide(connection: Connection, numbers: Sequence[int], state: str, now: datetime) -> None:
    if numbers:
        connection.execute(update(DeadLetter).where(DeadLetter.id.in_(numbers)).values(state=state, decided_at=now))


def _missing(numbers: Sequence[int] | None, found: Sequence[int]) -> dict[int, str]:
    return {number: "there is no such open letter" for number in numbers or () if number not in found}
