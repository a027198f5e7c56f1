"""The one way into the store: events of one call in one statement, or of many calls in one statement.

Must not know: who calls, whether somebody waits, what follows when a flush is due.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from slowwave.errors import InvalidMessage, Refused
from slowwave.identity import SessionRef, check_name
from slowwave.messages import EventJson
from slowwave.postgres import Postgres, Row, Statement
from slowwave.settings import MemorySettings

Trigger = Literal["idle", "compaction", "reset"]

# An empty text stands for NULL: the parameters of a prepared statement go over the wire as they are.
_ONE = Statement(
    b"slowwave_capture_session",
    b"SELECT * FROM slowwave.capture_session($1, $2, $3, $4, nullif($5, '')::jsonb, nullif($6, ''),"
    b" $7, $8, $9, $10, $11)",
)
_MANY = Statement(b"slowwave_capture", b"SELECT * FROM slowwave.capture($1, $2, $3, $4, $5, $6, $7)")


class Captured(NamedTuple):
    """What one call came to. `problem` says why nothing of it was written; `due`: a flush is to be offered now."""

    last_seq: int
    added: int
    repeated: int
    due: bool
    reason: str | None
    problem: str | None


@dataclass(slots=True)
class Entry:
    """One call to record: events of one session, in their order. What queues, the spool and the statements carry.

    about: what a new session is made with: {scope_kind, scope_name, room_id, thread_id}, None for nothing of these.
    """

    tenant: str
    agent: str
    session: str
    events: list[EventJson]
    about: dict[str, str] | None = None
    trigger: Trigger | None = None

    @property
    def ref(self) -> SessionRef:
        return SessionRef(self.tenant, self.agent, self.session)

    def stamp(self, at: str) -> None:
        """Date what has no time of its own: events that are stored later were still said now."""
        for event in self.events:
            event.setdefault("at", at)

    def to_json(self) -> dict[str, Any]:
        fields = {"tenant": self.tenant, "agent": self.agent, "session": self.session, "events": self.events}
        return fields | {"about": self.about, "trigger": self.trigger}


def about_of(scope: str | None, room_id: str | None, thread_id: str | None) -> dict[str, str] | None:
    """Answer what a session is made with. `scope`: None (the agent's own), "room:NAME" or "team:NAME".

    Raises InvalidMessage or InvalidName.
    """
    if scope is None and room_id is None and thread_id is None:
        return None
    about: dict[str, str] = {}
    if scope is not None:
        kind, colon, name = scope.partition(":") if isinstance(scope, str) else ("", "", "")
        if kind not in {"room", "team"} or not colon:
            raise InvalidMessage(f'a scope is "room:NAME" or "team:NAME", not {scope!r:.60}')
        about["scope_kind"], about["scope_name"] = kind, check_name(kind, name)
    if room_id is not None:
        about["room_id"] = check_name("room_id", room_id)
    if thread_id is not None:
        about["thread_id"] = check_name("thread_id", thread_id)
    return about


class Delivery(NamedTuple):
    """What became of many entries: an outcome a session and statement, and what can't be stored, each with its why."""

    captured: list[tuple[SessionRef, Captured]]
    rejected: list[tuple[Entry, str]]

    @property
    def due(self) -> list[SessionRef]:
        return list(dict.fromkeys(ref for ref, outcome in self.captured if outcome.due))


class Capture:
    """Writes entries. Returns after the commit (I1). Raises `Refused` and `StoreUnavailable`."""

    def __init__(self, postgres: Postgres, settings: MemorySettings) -> None:
        self._postgres = postgres
        flushing, days = settings.auto_flush, settings.days
        limits = (flushing.idle_seconds, flushing.max_dirty_age_seconds, flushing.turn_threshold)
        self._rules = tuple(str(value).encode() for value in (*limits, days.timezone, days.cutoff_hour))

    def one(self, entry: Entry) -> Captured:
        """Record one entry, in one round trip."""
        rows = self._postgres.call(
            _ONE,
            (
                entry.tenant.encode(),
                entry.agent.encode(),
                entry.session.encode(),
                encode(entry.events),
                encode(entry.about) if entry.about else b"",
                entry.trigger.encode() if entry.trigger else b"",
                *self._rules,
            ),
        )
        return _captured(rows[0])

    def many(self, entries: Sequence[Entry]) -> list[tuple[SessionRef, Captured]]:
        """Record entries of any sessions, those of one session together, in their order.

        One statement a tenant; more where entries of one session name different scopes. Every statement is a
        transaction of its own. Answers one outcome a session and statement.
        """
        answers = []
        for tenant, items in _rounds(entries):
            rows = self._postgres.call(_MANY, (tenant.encode(), encode(items), *self._rules))
            for row in rows:
                item = items[int(row[0] or 0)]
                answers.append((SessionRef(tenant, item["agent"], item["session"]), _captured(row[1:])))
        return answers

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record what can be recorded: an entry that is refused holds up none of the others.

        Raises `StoreUnavailable`; then part of them may be recorded, and recording all of them again is harmless.
        """
        try:
            captured = self.many(entries)
        except Refused:
            captured, again = [], list(entries)
        else:
            blocked = {ref for ref, outcome in captured if outcome.problem}
            again = [entry for entry in entries if entry.ref in blocked] if blocked else []
            captured = [(ref, outcome) for ref, outcome in captured if not outcome.problem]
        rejected = []
        for entry in again:
            try:
                outcome = self.one(entry)
            except Refused as error:
                rejected.append((entry, str(error)))
                continue
            if outcome.problem:
                rejected.append((entry, outcome.problem))
            else:
                captured.append((entry.ref, outcome))
        return Delivery(captured, rejected)


def _rounds(entries: Iterable[Entry]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Group entries into batches in which each session stands once; a later batch is to be sent later."""
    rounds: list[tuple[str, dict[tuple[str, str], dict[str, Any]]]] = []
    newest: dict[str, int] = {}
    for entry in entries:
        key = (entry.agent, entry.session)
        place = newest.get(entry.tenant)
        known = rounds[place][1].get(key) if place is not None else None
        if known is not None and not _append(known, entry):
            place, known = None, None
        if place is None:
            place = newest[entry.tenant] = len(rounds)
            rounds.append((entry.tenant, {}))
        if known is None:
            rounds[place][1][key] = {
                "agent": entry.agent,
                "session": entry.session,
                "about": entry.about,
                "trigger": entry.trigger,
                "events": list(entry.events),
            }
    return [(tenant, list(items.values())) for tenant, items in rounds]


def _append(item: dict[str, Any], entry: Entry) -> bool:
    """Put an entry behind what its session has in this batch; False if it says anything new about it."""
    if entry.about and item["about"] != entry.about:
        return False
    item["trigger"] = entry.trigger or item["trigger"]
    events: list[EventJson] = item["events"]
    turns = events[-1]["step"] if events else 0
    # Turns count on from the entry before; the entry itself stays as it is, since it may be written again.
    events.extend({**event, "step": event["step"] + turns} for event in entry.events)
    return True


def encode(value: Any) -> bytes:
    """Answer `value` as JSON, one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _captured(row: Row) -> Captured:
    last_seq, added, repeated, due, reason, problem = row
    return Captured(
        int(last_seq or 0),
        int(added or 0),
        int(repeated or 0),
        due == b"t",
        reason.decode() if reason else None,
        problem.decode() if problem else None,
    )
