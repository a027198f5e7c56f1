"""Convert rows of an agent's file to the numbers, ids and search vectors of this installation."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid5

from slowwave_server.services.moving_in.agent_file import BadAgentFile
from slowwave_server.services.moving_in.agent_tables import Table

_OF_JSON = {"review_item": "review_items", "conflict": "memory_conflicts"}
_MAY_BE_AWAY = frozenset(("run_id", "ended_by", "flush_id"))
"""Columns whose rows need not be in the file: of a job's run over all agents, or of a conversation elsewhere."""


class Numbers:
    """A map from old to new numbers of a table, in two sorted columns of eight bytes per row."""

    def __init__(self) -> None:
        self.old, self.new = array("q"), array("q")

    def add(self, old: int, new: int) -> None:
        if self.old and old <= self.old[-1]:
            raise BadAgentFile(f"number {old} stands out of order")
        self.old.append(old)
        self.new.append(new)

    def get(self, old: Any) -> int | None:
        if not isinstance(old, int):
            return None
        at = bisect_left(self.old, old)
        return self.new[at] if at < len(self.old) and self.old[at] == old else None


@dataclass
class Translation:
    """Converts numbers of a file to those of this installation. renaming: the seed of new ids; None: ids stay."""

    scope_there: int
    scope_here: int
    renaming: UUID | None = None
    numbers: dict[str, Numbers] = field(default_factory=dict)

    def row(self, table: Table, given: Mapping[str, Any], fresh: Iterator[int]) -> dict[str, Any]:
        """Return a row in the form to insert. fresh: new numbers, for a table that is numbered. Raises BadAgentFile."""
        row = dict(given)
        if table.numbered:
            new = next(fresh)
            self.numbers.setdefault(table.name, Numbers()).add(number_of(table, row.get("id")), new)
            row["id"] = new
        for column, of in table.numbers:
            if row.get(column) is not None:
                row[column] = self.number(of, row[column])
                if row[column] is None and column not in _MAY_BE_AWAY:
                    raise BadAgentFile(f"table {table.name} names a row of {of} that the file does not hold")
        for column in table.uuids:
            if row.get(column) is not None:
                row[column] = self.renamed(uuid_of(row[column]))
        return self._special(table, row)

    def number(self, table: str, old: Any) -> int | None:
        """Return the new number of a row of a table; None if the file does not contain the row."""
        numbers = self.numbers.get(table)
        return None if numbers is None else numbers.get(old)

    def renamed(self, value: UUID) -> str:
        """Return the new id."""
        return str(value if self.renaming is None else uuid5(self.renaming, str(value)))

    def reference(self, table: Table, value: Any) -> Any:
        """Return a reference to a row of the same table."""
        if value is None:
            return None
        return self.renamed(uuid_of(value)) if table.keeps_id else self.number(table.name, value)

    def _special(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        if isinstance(row.get("search"), str):
            # The scope precedes each lexeme; see slowwave.scoped_search_vector.
            there, here = f" '{self.scope_there}:", f" '{self.scope_here}:"
            row["search"] = f" {row['search']}".replace(there, here).strip()
        if table.name == "memory_conflicts":
            # In a pair, the smaller id comes first.
            pair = ("memory_id", "conflicting_memory_id")
            row |= dict(zip(pair, sorted(str(row.get(name)) for name in pair), strict=True))
        if table.name == "memory_changes":
            row |= {side: self._told(row.get(side)) for side in ("before", "after")}
        if table.name == "maintenance_runs" and row.get("status") == "running":
            row["status"] = "stopped"
        return row

    def _told(self, value: Any, key: str = "") -> Any:
        """Return a change with its ids replaced by those of this installation."""
        if isinstance(value, dict):
            return {name: self._told(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self._told(one, key) for one in value]
        if key in _OF_JSON:
            return self.number(_OF_JSON[key], value)
        if key == "scope_id" and value is not None:
            return self.scope_here
        if self.renaming is not None and isinstance(value, str) and key != "content" and _is_uuid(value):
            return self.renamed(UUID(value))
        return value


def uuid_of(value: Any) -> UUID:
    """Return the id of a memory or a note. Raises BadAgentFile."""
    try:
        return UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise BadAgentFile(f"an id must be a UUID, got {value!r:.60}") from None


def _is_uuid(value: str) -> bool:
    try:
        return str(UUID(value)) == value
    except ValueError:
        return False


def number_of(table: Table, value: Any) -> int:
    """Return the number of a row. Raises BadAgentFile."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadAgentFile(f"table {table.name} has an id that is not a number: {value!r:.60}")
    return value
