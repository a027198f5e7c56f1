"""The feed of changes: what happened to a tenant's memories, in the order of commits, each at least once.

Must not know: how changes come about, HTTP.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import psycopg

from slowwave.errors import InvalidQuery, SlowwaveError, shown
from slowwave.identity import shared_scope

BEGINNING = "0-0"
"""The cursor before the oldest change."""
PAGE = 200

ChangeType = Literal[
    "created",
    "changed",
    "reaffirmed",
    "superseded",
    "merged",
    "archived",
    "restored",
    "linked",
    "disputed",
    "removed",
    "forgotten",
]
CHANGE_TYPES: tuple[ChangeType, ...] = (
    "created",
    "changed",
    "reaffirmed",
    "superseded",
    "merged",
    "archived",
    "restored",
    "linked",
    "disputed",
    "removed",
    "forgotten",
)

_CURSOR = re.compile(r"(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,18})")
_READ = "SELECT slowwave.read_changes(%s, %s, %s, %s)"
_PROBLEMS: Mapping[str, str] = {
    "unknown": "cursor {} is unknown here: it belongs to another database, or to one before a restore; read all"
    " memories again, and begin without a cursor",
    "old": "cursor {} is too old: what tells of forgotten memories after it was removed; read all memories again, and"
    " begin without a cursor",
}


class CursorExpired(SlowwaveError):
    """Changes can't be read from this cursor on: read all memories again, and begin without a cursor."""


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """The memory that changed, as it is when the change is read: that may be after later changes.

    Attributes:
        id: its UUID.
        scope: "agent:NAME", "room:NAME" or "team:NAME".
        agent: the agent that owns the scope; None for a room or a team.
        type: fact, preference, decision and so on; None if the memory is gone, like all fields below.
        status: "inbox", "episode", "active", "review" or "archived".
        content: what it says.
        valid_from: since when it holds.
        valid_to: until when it held; None while it holds.
        revision: counts up with every change. A mirror ignores a revision lower than the one that it has.
    """

    id: str
    scope: str
    agent: str | None
    type: str | None
    status: str | None
    content: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    revision: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one memory.

    Attributes:
        id: the position in the feed, which `Memory.changes` takes as `after`; a repeated delivery has the same id.
        type: what happened: "created", "changed", "reaffirmed" (said again), "superseded", "merged", "archived",
            "restored", "linked", "disputed", "removed" (by an undo) or "forgotten".
        memory: the memory as it is now; of a removed or forgotten one only its id and scope.
        reason: why, in words.
        run: number of the maintenance run that made the change, if one did.
        at: when the change was made.
    """

    id: str
    type: ChangeType
    memory: ChangedMemory
    reason: str
    run: int | None
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """The change as events of the gateway and webhooks hold it."""
        memory = {name: _plain(getattr(self.memory, name)) for name in ChangedMemory.__slots__}
        return {
            "id": self.id,
            "type": self.type,
            "memory": memory,
            "reason": self.reason,
            "run": self.run,
            "at": _plain(self.at),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> "Change":
        """The change that `to_json` or Postgres wrote; unknown fields are ignored."""
        memory = {name: told["memory"].get(name) for name in ChangedMemory.__slots__}
        for name in ("valid_from", "valid_to"):
            memory[name] = _moment(memory[name])
        at = datetime.fromisoformat(told["at"]).astimezone(UTC)
        return cls(told["id"], told["type"], ChangedMemory(**memory), told["reason"], told["run"], at)


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Part of the feed. cursor: where to read on. more: whether there is more at once. waits: whether changes are
    committed that can be read only after an older transaction has ended.
    """

    changes: tuple[Change, ...]
    cursor: str
    more: bool
    waits: bool = False


def read_page(
    connection: "psycopg.Connection[Any]",
    tenant: str,
    after: str | None,
    places: Sequence[str] | None = None,
    limit: int = PAGE,
) -> ChangePage:
    """Read the changes after a cursor, over a connection to the primary. after: None answers the end of the feed.

    places: what `places_of` answers; None for all scopes. Raises CursorExpired, InvalidQuery.
    """
    if after is not None:
        check_cursor(after)
    told = connection.execute(_READ, (tenant, after, None if places is None else list(places), limit)).fetchone()
    return page_of(told[0] if told else {}, after)


def page_of(told: Mapping[str, Any], after: str | None) -> ChangePage:
    """The page that slowwave.read_changes answered. Raises CursorExpired."""
    if "problem" in told:
        raise CursorExpired(_PROBLEMS[told["problem"]].format(shown(after)))
    return ChangePage(tuple(map(Change.from_json, told["events"])), told["cursor"], told["more"], told["waits"])


def check_cursor(cursor: str) -> str:
    """The cursor, if it can be one. Raises InvalidQuery."""
    if not _CURSOR.fullmatch(cursor) or position(cursor) >= (1 << 64, 0):
        raise InvalidQuery(f"a cursor is the id of a change, as '1042-7', not {shown(cursor)}")
    if position(cursor)[1] >= 1 << 63:
        raise InvalidQuery(f"a cursor is the id of a change, as '1042-7', not {shown(cursor)}")
    return cursor


def position(cursor: str) -> tuple[int, int]:
    """Where a cursor stands in the feed: of two positions the greater one is later."""
    xid, number = cursor.split("-")
    return int(xid), int(number)


def places_of(agents: Iterable[str], scopes: Iterable[str]) -> list[str] | None:
    """The LIKE patterns for the scopes of these agents, rooms and teams; `*` in a name stands for any characters.

    No agents and no scopes: None, which is every scope. Raises InvalidName for a scope that is no room and no team.
    """
    named = [f"agent:{name}" for name in agents]
    for scope in scopes:
        kind, _, name = scope.partition(":")
        if kind not in {"room", "team"} or not name:
            shared_scope(scope)  # raises, with the forms that are allowed
        named.append(scope)
    return [_like(place) for place in named] or None


def _like(place: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", place).replace("*", "%")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
