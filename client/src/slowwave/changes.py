"""The feed of changes of a tenant's memories, in commit order, each at least once."""

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

_CURSOR = re.compile(r"(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,18})")
_READ = "SELECT slowwave.read_changes(%s, %s, %s, %s)"
_PROBLEMS: Mapping[str, str] = {
    "unknown": "cursor {} is unknown here: it belongs to another database, or to one before a restore; read all"
    " memories again, and begin without a cursor",
    "old": "cursor {} is too old: the records of memories that were forgotten after it are removed; read all"
    " memories again, and begin without a cursor",
}


class CursorExpired(SlowwaveError):
    """The feed no longer contains this cursor: read all memories again, then follow the feed without a cursor."""


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """The memory that changed, in its state when the change is read, which may include later changes.

    Attributes:
        id: the memory's UUID.
        scope: "agent:NAME", "room:NAME" or "team:NAME".
        agent: the agent that owns the scope; None for a room or a team.
        type: fact, preference, decision and so on; None for a deleted memory, like all fields below.
        status: "inbox", "episode", "active", "review" or "archived".
        content: the memory's text.
        valid_from: the time from which it is valid.
        valid_to: the time at which it ceased to be valid; None while it is valid.
        revision: a number that grows with every change. A mirror ignores a revision lower than its own.
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
        id: the position in the feed, for `after` of `Memory.changes`; a repeated delivery has the same id.
        type: "created", "changed", "reaffirmed" (stated again), "superseded", "merged", "archived", "restored",
            "linked", "disputed", "removed" (by an undo) or "forgotten".
        memory: the memory as it is now; if it was removed or forgotten, only its id and scope.
        reason: the reason, as a sentence.
        run: the number of the run that made the change; None without a run.
        at: the time of the change.
    """

    id: str
    type: ChangeType
    memory: ChangedMemory
    reason: str
    run: int | None
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """The change as JSON, as the gateway and webhooks send it.

        Returns:
            Keys "id", "type", "memory", "reason", "run" and "at"; times in ISO 8601.
        """
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
        """Parse a change that `to_json` or Postgres wrote. Unknown fields are ignored.

        Args:
            told: the JSON object.

        Returns:
            The change.

        Raises:
            KeyError: a field is missing.
            ValueError: a time can't be parsed.
        """
        memory = {name: told["memory"].get(name) for name in ChangedMemory.__slots__}
        for name in ("valid_from", "valid_to"):
            memory[name] = _moment(memory[name])
        at = datetime.fromisoformat(told["at"]).astimezone(UTC)
        return cls(told["id"], told["type"], ChangedMemory(**memory), told["reason"], told["run"], at)


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A part of the feed.

    cursor: the start of the next part; more: True if the next part is not empty; waits: True if some committed changes
    become readable only after an older transaction has ended.
    """

    changes: tuple[Change, ...]
    cursor: str
    more: bool
    waits: bool = False


def read_page(
    connection: "psycopg.Connection[Any]", tenant: str, after: str | None, places: Sequence[str] | None
) -> ChangePage:
    """Read the changes after a cursor, over a connection to the primary. after: the cursor; with None, the page is
    empty and has the cursor of the feed's end.

    places: the result of `places_of`; None for all scopes. Raises CursorExpired, InvalidQuery.
    """
    if after is not None:
        check_cursor(after)
    told = connection.execute(_READ, (tenant, after, None if places is None else list(places), PAGE)).fetchone()
    return page_of(told[0] if told else {}, after)


def page_of(told: Mapping[str, Any], after: str | None) -> ChangePage:
    """Convert the result of slowwave.read_changes to a page. Raises CursorExpired."""
    if "problem" in told:
        raise CursorExpired(_PROBLEMS[told["problem"]].format(shown(after)))
    return ChangePage(tuple(map(Change.from_json, told["events"])), told["cursor"], told["more"], told["waits"])


def check_cursor(cursor: str) -> str:
    """Return the cursor if its form is valid. Raises InvalidQuery."""
    if not _CURSOR.fullmatch(cursor) or position(cursor) >= (1 << 64, 0):
        raise InvalidQuery(f"a cursor must be the id of a change, such as '1042-7', got {shown(cursor)}")
    if position(cursor)[1] >= 1 << 63:
        raise InvalidQuery(f"a cursor must be the id of a change, such as '1042-7', got {shown(cursor)}")
    return cursor


def position(cursor: str) -> tuple[int, int]:
    """Return a cursor's position in the feed; a greater position is later."""
    xid, number = cursor.split("-")
    return int(xid), int(number)


def places_of(agents: Iterable[str], scopes: Iterable[str]) -> list[str] | None:
    """Return LIKE patterns for the scopes of these agents, rooms and teams; `*` in a name matches any characters.

    Without agents and scopes the result is None, which means every scope. Raises InvalidName for any other kind of
    scope.
    """
    named = [f"agent:{name}" for name in agents]
    for scope in scopes:
        kind, _, name = scope.partition(":")
        if kind not in {"room", "team"} or not name:
            shared_scope(scope)  # This call raises an error with the allowed forms.
        named.append(scope)
    return [_like(place) for place in named] or None


def _like(place: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", place).replace("*", "%")


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
