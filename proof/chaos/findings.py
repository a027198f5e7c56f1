"""The result of a check: the violated guarantee, in a sentence, with details for a search of the cause."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Engine, text

Promise = Literal["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "redis", "unchecked"]
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation. invariant: I1..I10, redis, or unchecked; what: a sentence; detail: names and numbers, never
    conversation text.
    """

    invariant: Promise
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}" + (f" ({self.detail})" if self.detail else "")


def rows(engine: Engine, statement: str, **values: Any) -> list[Any]:
    """Return all rows of one query, in its own transaction."""
    with engine.connect() as connection:
        return list(connection.execute(text(statement), values))


def some(things: Any) -> str:
    """Return the first few items, and the number of all."""
    listed = sorted(str(thing) for thing in things)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def none_of(engine: Engine, promise: Promise, what: str, statement: str, **values: Any) -> list[Finding]:
    """Return a finding if a query that must return nothing returns rows, which are its detail."""
    found = rows(engine, statement, **values)
    return [Finding(promise, f"{len(found)} {what}", some(tuple(row) for row in found))] if found else []
