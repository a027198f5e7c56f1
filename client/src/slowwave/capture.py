"""The only way events enter the store: one statement for the events of one call, or for those of many calls."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from slowwave.errors import Refused
from slowwave.event_json import EventJson
from slowwave.identity import SessionRef, check_name, shared_scope
from slowwave.postgres import Postgres, PreparedStatement, Row
from slowwave.settings import MemorySettings

Trigger = Literal["idle", "compaction", "reset", "unread", "note", "shown"]

# An empty text stands for NULL, because parameters of a prepared statement are sent unchanged.
_ONE = PreparedStatement(
    b"slowwave_capture_session",
    b"SELECT * FROM slowwave.capture_session($1, $2, $3, $4, nullif($5, '')::jsonb, nullif($6, ''),"
    b" $7, $8, $9, $10, $11)",
)
_MANY = PreparedStatement(b"slowwave_capture", b"SELECT * FROM slowwave.capture_batch($1, $2, $3, $4, $5, $6, $7)")


class Captured(NamedTuple):
    """The outcome of one call. problem: the reason why nothing was written; due: True if the caller should offer a
    flush now.
    """

    last_seq: int
    added: int
    repeated: int
    due: bool
    reason: str | None
    problem: str | None


@dataclass(slots=True)
class Entry:
    """One recorded call: events of one session in order. Queues, the spool and the SQL statements carry entries.

    about: the properties of a new session: {scope_kind, scope_name, room_id, thread_id}, or None. trigger: the reason
    for an early flush of the session, if any. by: the owner of the entry, if one process records for several owners;
    only spooled entries have an owner.
    """

    tenant: str
    agent: str
    session: str
    events: list[EventJson]
    about: dict[str, str] | None = None
    trigger: Trigger | None = None
    by: str | None = None

    @property
    def ref(self) -> SessionRef:
        return SessionRef(self.tenant, self.agent, self.session)

    def stamp(self, at: str) -> None:
        """Set the time at which a call was accepted, because the call is stored later. Events without a time get the
        same time.
        """
        for event in self.events:
            event.setdefault("at", at)
            event.setdefault("taken", at)

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"tenant": self.tenant, "agent": self.agent, "session": self.session}
        fields |= {"events": self.events, "about": self.about, "trigger": self.trigger}
        return fields if self.by is None else fields | {"by": self.by}


def about_of(scope: str | None, room_id: str | None, thread_id: str | None) -> dict[str, str] | None:
    """Return the properties of a new session.

    scope: None (the agent's own), "room:NAME" or "team:NAME". Raises InvalidName.
    """
    if scope is None and room_id is None and thread_id is None:
        return None
    about: dict[str, str] = {}
    if scope is not None:
        about["scope_kind"], about["scope_name"] = shared_scope(scope)
    if room_id is not None:
        about["room_id"] = check_name("room_id", room_id)
    if thread_id is not None:
        about["thread_id"] = check_name("thread_id", thread_id)
    return about


class Delivery(NamedTuple):
    """The outcome of many entries: one for each session and statement, and the rejected entries with their reasons."""

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

    def deliver(self, entries: Sequence[Entry]) -> Delivery:
        """Record all entries that Postgres accepts; a rejected entry does not affect the others.

        Raises `StoreUnavailable`. Some entries may then be recorded already; a repeated delivery is harmless.
        """
        return self.begin(entries)()

    def begin(self, entries: Sequence[Entry]) -> Callable[[], Delivery]:
        """Send entries as `deliver` does, without waiting for the result.

        The caller must call the returned function exactly once; it waits for the result.
        """
        answered = self._begin(entries)

        def end() -> Delivery:
            try:
                answers = answered()
            except Refused:
                return self._one_by_one(entries)
            return _delivery(answers)

        return end

    def _begin(self, entries: Sequence[Entry]) -> Callable[[], list[tuple[list[Entry], Captured]]]:
        """Send entries of any sessions, grouped by session, in order.

        Each tenant needs one statement, and a further one if entries of one session differ in its properties. Each
        statement is its own transaction. The returned function gives one outcome for each session and statement, with
        its entries.
        """
        rounds = _rounds(entries)
        if not rounds:
            return list
        begun = self._postgres.begin(_MANY, self._batch(*rounds[0]))

        def end() -> list[tuple[list[Entry], Captured]]:
            answers = _answers(rounds[0][1], begun())
            for tenant, parts in rounds[1:]:
                answers += _answers(parts, self._postgres.call(_MANY, self._batch(tenant, parts)))
            return answers

        return end

    def _batch(self, tenant: str, parts: "list[Part]") -> tuple[bytes, ...]:
        return (tenant.encode(), encode([item for item, _ in parts]), *self._rules)

    def _one_by_one(self, entries: Iterable[Entry]) -> Delivery:
        delivery = Delivery([], [])
        for entry in entries:
            try:
                outcome = self.one(entry)
            except Refused as error:
                delivery.rejected.append((entry, str(error)))
                continue
            if outcome.problem:
                delivery.rejected.append((entry, outcome.problem))
            else:
                delivery.captured.append((entry.ref, outcome))
        return delivery


Part = tuple[dict[str, Any], list[Entry]]


def _answers(parts: list[Part], rows: list[Row]) -> list[tuple[list[Entry], Captured]]:
    return [(parts[int(row[0] or 0)][1], _captured(row[1:])) for row in rows]


def _delivery(answers: list[tuple[list[Entry], Captured]]) -> Delivery:
    captured = [(part[0].ref, outcome) for part, outcome in answers if not outcome.problem]
    rejected = [(entry, outcome.problem) for part, outcome in answers if outcome.problem for entry in part]
    return Delivery(captured, rejected)


def _rounds(entries: Iterable[Entry]) -> list[tuple[str, list[Part]]]:
    """Group entries into batches that contain each session at most once. The batches must be sent in order."""
    rounds: list[tuple[str, dict[tuple[str, str], Part]]] = []
    newest: dict[str, int] = {}
    for entry in entries:
        key = (entry.agent, entry.session)
        place = newest.get(entry.tenant)
        part = rounds[place][1].get(key) if place is not None else None
        if part is not None and _append(part[0], entry):
            part[1].append(entry)
            continue
        if place is None or part is not None:
            place = newest[entry.tenant] = len(rounds)
            rounds.append((entry.tenant, {}))
        item = {
            "agent": entry.agent,
            "session": entry.session,
            "about": entry.about,
            "trigger": entry.trigger,
            "events": list(entry.events),
        }
        rounds[place][1][key] = (item, [entry])
    return [(tenant, list(parts.values())) for tenant, parts in rounds]


def _append(item: dict[str, Any], entry: Entry) -> bool:
    """Add an entry to its session's part of the batch. Return False if the entry has other properties of the session.

    Postgres may refuse such an entry, and the refusal must not affect the other entries.
    """
    if item["about"] != entry.about:
        return False
    item["trigger"] = entry.trigger or item["trigger"]
    events: list[EventJson] = item["events"]
    turns = events[-1]["step"] if events else 0
    # Count the turns on from the previous entry. The entry itself stays unchanged, because it may be written again.
    events.extend({**event, "step": event["step"] + turns} for event in entry.events)
    return True


def encode(value: Any) -> bytes:
    """Return `value` as JSON on one line."""
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
