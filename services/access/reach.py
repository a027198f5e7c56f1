"""Which agents and scopes a key reaches: by patterns, in which `*` matches any characters."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, false, or_, true

from slowwave_server.models import Scope

ANY = "*"


@dataclass(frozen=True, slots=True)
class Reach:
    """agents: names or patterns, none for all agents. scopes: "room:NAME" or "team:NAME", patterns too; none for no
    scope but the agents' own.
    """

    agents: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether nothing of the tenant is out of reach."""
        return (not self.agents or ANY in self.agents) and (
            ANY in self.scopes or {"room:*", "team:*"} <= {*self.scopes}
        )

    def admits_agent(self, name: str) -> bool:
        """Whether an agent is within reach."""
        return not self.agents or any(matches(name, pattern) for pattern in self.agents)

    def admits(self, kind: str, name: str) -> bool:
        """Whether a scope is: ("agent", name) and so on."""
        if kind == "agent":
            return self.admits_agent(name)
        return any(matches(f"{kind}:{name}", pattern) for pattern in self.scopes)

    def agents_condition(self, column: Any) -> ColumnElement[bool]:
        """The same of a column with names of agents."""
        return or_(*(_like(column, pattern) for pattern in self.agents)) if self.agents else true()

    def scopes_condition(self) -> ColumnElement[bool]:
        """The same of the rows of scopes that a query joins."""
        own = and_(Scope.kind == "agent", self.agents_condition(Scope.name))
        shared = (_like(Scope.kind.concat(":").concat(Scope.name), pattern) for pattern in self.scopes)
        return or_(own, and_(Scope.kind != "agent", or_(false(), *shared)))

    def covers(self, other: "Reach") -> bool:
        """Whether nothing is within the reach of `other` that is out of this one's."""
        agents = not self.agents or (bool(other.agents) and all(self.admits_agent(pattern) for pattern in other.agents))
        # A star of the other's pattern counts as a character, which only a star of one of ours matches.
        return agents and all(any(matches(asked, mine) for mine in self.scopes) for asked in other.scopes)


def matches(name: str, pattern: str) -> bool:
    """Whether a name is one that the pattern means."""
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


def _like(column: Any, pattern: str) -> ColumnElement[bool]:
    if ANY not in pattern:
        equal: ColumnElement[bool] = column == pattern
        return equal
    literal = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    like: ColumnElement[bool] = column.like(literal.replace(ANY, "%"), escape="\\")
    return like
