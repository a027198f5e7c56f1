"""What a check found: which promise does not hold, in a sentence, with enough of it to look further."""

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Engine, text

Promise = Literal["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "redis", "unchecked"]
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """invariant: I1..I10, redis, or unchecked; what: a sentence; detail: names and numbers, never conversation text."""

    invariant: Promise
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what}" + (f" ({self.detail})" if self.detail else "")


def rows(engine: Engine, statement: str, **values: Any) -> list[Any]:
    """All rows of one query, in its own transaction."""
    with engine.connect() as connection:
        return list(connection.execute(text(statement), values))


def some(things: Any) -> str:
    """The first few of many things, and how many there are."""
    listed = sorted(str(thing) for thing in things)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more


def none_of(engine: Engine, promise: Promise, what: str, statement: str, **values: Any) -> list[Finding]:
    """A finding where a query that must answer nothing answers rows; these are its detail."""
    found = rows(engine, statement, **values)
    return [Finding(promise, f"{len(found)} {what}", some(tuple(row) for row in found))] if found else []
