"""The agents and scopes that a key may use, as patterns in which `*` matches any characters."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, false, literal_column, or_, true
from sqlalchemy.engine import make_url

from slowwave_server.models import Scope

ANY = "*"
_DIALECT = make_url("postgresql+psycopg://").get_dialect()()


@dataclass(frozen=True, slots=True)
class Reach:
    """The reach of a key, as names or patterns. No agents: all agents; no scopes: the agents' own scopes only."""

    agents: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        """Return True if the whole tenant is within reach."""
        return (not self.agents or ANY in self.agents) and (
            ANY in self.scopes or {"room:*", "team:*"} <= {*self.scopes}
        )

    def admits_agent(self, name: str) -> bool:
        """Return True if an agent is within reach."""
        return not self.agents or any(matches(name, pattern) for pattern in self.agents)

    def admits(self, kind: str, name: str) -> bool:
        """Return True if a scope is within reach. kind: "agent", "room" or "team"."""
        if kind == "agent":
            return self.admits_agent(name)
        return any(matches(f"{kind}:{name}", pattern) for pattern in self.scopes)

    def agents_condition(self, column: Any) -> ColumnElement[bool]:
        """Return the SQL condition for a column with names of agents."""
        return or_(*(_like(column, pattern) for pattern in self.agents)) if self.agents else true()

    def scopes_condition(self) -> ColumnElement[bool]:
        """Return the SQL condition for the rows of scopes that a query joins."""
        own = and_(Scope.kind == "agent", self.agents_condition(Scope.name))
        shared = (_like(Scope.kind.concat(":").concat(Scope.name), pattern) for pattern in self.scopes)
        return or_(own, and_(Scope.kind != "agent", or_(false(), *shared)))

    def scopes_text(self) -> tuple[str, dict[str, Any]]:
        """Return the same condition as text in the driver's form, and its parameters."""
        return _text(self.scopes_condition())

    def agents_text(self, column: str) -> tuple[str, dict[str, Any]]:
        """Return `agents_condition` as text in the driver's form, and its parameters."""
        return _text(self.agents_condition(literal_column(column)))

    def covers(self, other: "Reach") -> bool:
        """Return True if the whole reach of `other` is within this reach."""
        agents = not self.agents or (bool(other.agents) and all(self.admits_agent(pattern) for pattern in other.agents))
        # A star in the other's pattern counts as a character, which only a star of this reach matches.
        return agents and all(any(matches(asked, mine) for mine in self.scopes) for asked in other.scopes)


def matches(name: str, pattern: str) -> bool:
    """Return True if a pattern matches a name."""
    first, *rest = pattern.split(ANY)
    if not rest:
        return name == pattern
    *middle, last = rest
    place, end = len(first), len(name) - len(last)
    if place > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in middle:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _text(condition: ColumnElement[bool]) -> tuple[str, dict[str, Any]]:
    compiled = condition.compile(dialect=_DIALECT)
    return f"({compiled})", dict(compiled.params)


def _like(column: Any, pattern: str) -> ColumnElement[bool]:
    if ANY not in pattern:
        equal: ColumnElement[bool] = column == pattern
        return equal
    literal = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    like: ColumnElement[bool] = column.like(literal.replace(ANY, "%"), escape="\\")
    return like
