"""Reads and writes of a flush in Postgres, as dataclasses. The SQL functions are in the migrations."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, LiteralString

from psycopg import Connection
from psycopg.rows import dict_row

from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.candidates import Extraction, ExtractionOrigin, Extractor, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.windows import most_events
from slowwave_server.services.flush.rows import aliases_json, candidates_json, clean_error, event_of, passages_json

MAX_FAILURES = 30_000
"""A column of two bytes counts no further, and an outage may last for months."""

_BEGIN = "SELECT * FROM slowwave.begin_flush(%s, %s, %s, %s, %s, %s, %s, %s, %s)"
_COMMIT = (
    "SELECT * FROM slowwave.commit_extraction("
    "%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_PLAIN = (
    "state session_id scope_id time_zone processed_until invalidated_at attempts failures window_limit shown"
).split()
_FAIL = "SELECT slowwave.fail_flush(%s, %s, %s, %s, %s, %s, %s, %s)"


@dataclass(frozen=True, slots=True)
class Begun:
    """A begun flush, or the reason why none began.

    events: contiguous from processed_until + 1. shown: True if a context showed the session memories that no reply has
    used so far.
    """

    state: Literal["begin", "unknown", "clean", "early"]
    session_id: int = 0
    scope_id: int | None = None
    time_zone: str = "UTC"
    processed_until: int = 0
    invalidated_at: int | None = None
    attempts: int = 0
    failures: int = 0
    window_limit: int | None = None
    shown: bool = False
    events: tuple[Event, ...] = ()
    preceding: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of a commit. committed: False if another worker was faster and nothing was written."""

    committed: bool
    flush_id: int | None
    stored: int
    repeated: int
    due: bool


@dataclass(frozen=True, slots=True)
class Commit:
    """All data that one window writes. It can be sent again if the server becomes unavailable in between."""

    session_id: int
    from_seq: int
    to_seq: int
    invalidated_at: int | None
    outcome: Literal["stored", "no_reply", "quarantined"]
    extractor: str
    extractor_version: str
    attempt: int
    candidates: str
    passages: str
    noise: int
    redactions: int
    error: str | None
    window_limit: int | None
    idle_seconds: float
    max_dirty_age_seconds: float
    turn_threshold: int
    started_at: datetime
    tokens: int = 0
    fallback: str | None = None
    fallback_why: str | None = None
    dropped: str | None = None
    aliases: str | None = None

    @classmethod
    def of_extraction(
        cls,
        begun: Begun,
        window: Window,
        extraction: Extraction,
        extractor: Extractor,
        settings: AutoFlush,
        now: datetime,
    ) -> "Commit":
        """Return the commit of a completely processed window. If bisection had cut it, its size limit doubles again."""
        limit = begun.window_limit
        if limit is not None:
            limit = limit * 2 if limit * 2 < most_events(settings.extractor.max_messages_per_flush) else None
        commit = cls._of(
            begun,
            window,
            extractor,
            settings,
            now,
            outcome="stored" if extraction.candidates else "no_reply",
            candidates=candidates_json(extraction.candidates, window.events),
            noise=extraction.noise,
            redactions=extraction.redactions,
            window_limit=limit,
            aliases=aliases_json(window.events),
        )
        return commit if extraction.made is None else commit.made_by(extraction.made)

    def made_by(self, made: ExtractionOrigin) -> "Commit":
        """Return the commit with the extractor that made the extraction, and its cost."""
        return replace(
            self,
            extractor=made.extractor,
            extractor_version=made.version,
            tokens=made.tokens,
            fallback=made.fallback,
            fallback_why=None if made.why is None else clean_error(made.why),
            dropped=json.dumps(dict(made.dropped)) if made.dropped else None,
        )

    @classmethod
    def of_quarantine(
        cls, begun: Begun, window: Window, error: str, extractor: Extractor, settings: AutoFlush, now: datetime
    ) -> "Commit":
        """Return the commit that quarantines a window's only event and moves the watermark past it."""
        return cls._of(begun, window, extractor, settings, now, outcome="quarantined", error=clean_error(error))

    @classmethod
    def _of(
        cls,
        begun: Begun,
        window: Window,
        extractor: Extractor,
        settings: AutoFlush,
        now: datetime,
        *,
        outcome: Literal["stored", "no_reply", "quarantined"],
        candidates: str = "[]",
        noise: int = 0,
        redactions: int = 0,
        error: str | None = None,
        window_limit: int | None = None,
        aliases: str | None = None,
    ) -> "Commit":
        return cls(
            session_id=begun.session_id,
            from_seq=window.from_seq,
            to_seq=window.to_seq,
            invalidated_at=begun.invalidated_at,
            outcome=outcome,
            extractor=extractor.name,
            extractor_version=extractor.version,
            attempt=begun.attempts,
            candidates=candidates,
            passages=passages_json(window, begun.preceding),
            noise=noise,
            redactions=redactions,
            error=error,
            window_limit=window_limit,
            idle_seconds=settings.idle_seconds,
            max_dirty_age_seconds=settings.max_dirty_age_seconds,
            turn_threshold=settings.turn_threshold,
            started_at=now,
            aliases=aliases,
        )


def begin_flush(
    connection: Connection[Any],
    ref: SessionRef,
    settings: AutoFlush,
    now: datetime,
    *,
    preceding: int,
) -> Begun:
    """Count an attempt and read the window in one round trip, committed before the work starts."""
    values = (
        ref.tenant,
        ref.agent,
        ref.session,
        settings.extractor.max_messages_per_flush,
        preceding,
        settings.idle_seconds,
        settings.max_dirty_age_seconds,
        settings.lease_seconds + 1,
        now,
    )
    return _begun(_one_row(connection, _BEGIN, values))


def _one_row(connection: Connection[Any], statement: LiteralString, values: tuple[object, ...]) -> dict[str, Any]:
    """Return the one row of a statement that every flush runs, prepared at its first use."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statement, values, prepare=True).fetchone()
    if row is None:
        raise AssertionError("a function with OUT parameters answers a row")
    return row


def _begun(row: Mapping[str, Any]) -> Begun:
    if row["state"] != "begin":
        return Begun(row["state"])
    events = [event_of(e) for e in row["events"] or ()]
    return Begun(
        **{name: row[name] for name in _PLAIN},
        events=tuple(e for e in events if e.seq > row["processed_until"]),
        preceding=tuple(e for e in events if e.seq <= row["processed_until"]),
    )


def commit_flush(connection: Connection[Any], commit: Commit, now: datetime) -> Committed:
    """Write the window, or nothing: one statement, one transaction, one round trip."""
    values = (
        commit.session_id,
        commit.from_seq,
        commit.to_seq,
        commit.invalidated_at,
        commit.outcome,
        commit.extractor,
        commit.extractor_version,
        commit.attempt,
        commit.candidates,
        commit.passages,
        commit.noise,
        commit.redactions,
        commit.error,
        commit.window_limit,
        commit.idle_seconds,
        commit.max_dirty_age_seconds,
        commit.started_at,
        now,
        commit.tokens,
        commit.fallback,
        commit.fallback_why,
        commit.dropped,
        commit.turn_threshold,
        commit.aliases,
    )
    return Committed(**_one_row(connection, _COMMIT, values))


@dataclass(frozen=True, slots=True)
class Failure:
    """The stored result of a failed window. window_limit: the next size; not_before: the next attempt."""

    attempts: int
    window_limit: int | None
    not_before: datetime | None
    error: str


def fail_flush(connection: Connection[Any], begun: Begun, failure: Failure, now: datetime) -> None:
    """Store a failure of the window, unless the session has moved on in the meantime."""
    connection.execute(
        _FAIL,
        (
            begun.session_id,
            begun.processed_until,
            failure.attempts,
            min(begun.failures + 1, MAX_FAILURES),
            failure.window_limit,
            failure.not_before,
            clean_error(failure.error),
            now,
        ),
    )
