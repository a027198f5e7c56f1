"""Pay once per window: if another worker has an open call about the same window, wait for its answer.

    read ──▶ no call ─────────────▶ ask ──▶ an answer ──▶ stored until the window is committed
      │                              └── no answer ────▶ the row is deleted, and the next attempt asks again
      ├──▶ an answer ─────────────▶ used without a payment
      ├──▶ an open call ──────────▶ wait, read again
      │                              └── too long, or it failed: TransientError, the flush is retried later
      └──▶ the window is committed ▶ WindowTaken

A lease in Redis can be lost (FLUSHALL, a busy machine, a slow heartbeat), but the row in Postgres is not. It stores the
call and the events in the prompt, because the answer cites them. `expires_at` shows that a worker died: all attempts of
one question end before this time. A time that is too far ahead was written by a worker with a wrong clock, and counts
as past.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Engine, Row, text
from sqlalchemy.exc import OperationalError

from slowwave_server.domain.failures import TransientError, WindowTaken
from slowwave_server.domain.model_calls import Answer
from slowwave_server.domain.model_extraction import KnownContext

log = logging.getLogger(__name__)

MAX_STORED = 400_000
"""Characters of an answer's JSON. A longer one is used and not stored."""
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0

CLOCKS_DIFFER = timedelta(minutes=2)
"""A call that would be open for longer than this beyond the longest one was dated by a wrong clock: it is over."""

_LOOK = text(
    "SELECT s.processed_until, w.from_seq, w.to_seq, w.digest, w.owner, w.known, w.answer, w.expires_at"
    " FROM slowwave.sessions s LEFT JOIN slowwave.window_answers w ON w.session_id = s.id WHERE s.id = :session"
)
# Open no call about a committed window, or beside an open call about the same window.
_OPEN = text(
    "INSERT INTO slowwave.window_answers AS w"
    " (session_id, from_seq, to_seq, digest, owner, known, asked_at, expires_at)"
    " SELECT s.id, :from_seq, :to_seq, :digest, :owner, CAST(:known AS jsonb), :now, :expires"
    " FROM slowwave.sessions s WHERE s.id = :session AND s.processed_until = :from_seq - 1"
    " ON CONFLICT (session_id) DO UPDATE SET from_seq = excluded.from_seq, to_seq = excluded.to_seq,"
    "  digest = excluded.digest, owner = excluded.owner, known = excluded.known, answer = NULL, answered_at = NULL,"
    "  asked_at = excluded.asked_at, expires_at = excluded.expires_at"
    " WHERE (w.from_seq, w.to_seq, w.digest) <> (excluded.from_seq, excluded.to_seq, excluded.digest)"
    "  OR (w.answer IS NULL AND (w.expires_at <= excluded.asked_at OR w.expires_at > :latest)) RETURNING w.owner"
)
_KEEP = text(
    "UPDATE slowwave.window_answers w SET answer = CAST(:answer AS jsonb), answered_at = :now"
    " WHERE w.session_id = :session AND w.owner = :owner"
)
_CLOSE = text("DELETE FROM slowwave.window_answers w WHERE w.session_id = :session AND w.owner = :owner")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a window. digest: the digest of the window's text, the prompt's version and the model's name."""

    session_id: int
    from_seq: int
    to_seq: int
    digest: bytes
    known: KnownContext


@dataclass(frozen=True, slots=True)
class WindowAnswers:
    """Asks once per window, over all workers. wait_seconds: for another's answer; call_seconds: for all attempts."""

    engine: Engine
    clock: Callable[[], datetime]
    wait_seconds: float
    call_seconds: float
    pause: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    def ask(self, question: Question, ask: Callable[[], Answer]) -> tuple[Answer, KnownContext]:
        """Return the answer about a window, and the context of the question.

        Raises the errors of `ask`; TransientError if another worker's call gave no answer; WindowTaken.
        """
        owner, began, pause, waited = uuid4(), self.monotonic(), FIRST_PAUSE_SECONDS, False
        while True:
            row = self._look(question)
            if row is None or row.processed_until != question.from_seq - 1:
                raise WindowTaken
            ours = _is_about(row, question)
            if ours and row.answer is not None:
                return _answer(row.answer), KnownContext.from_json(row.known)
            if not (ours and self._is_open(row)):
                if waited:
                    raise TransientError("another worker asked the model about this window and got no answer")
                if self._open(question, owner):
                    return self._paid(question, owner, ask), question.known
            elif self.monotonic() - began > self.wait_seconds:
                raise TransientError("another worker still waits for the model's answer about this window")
            waited = True
            self.pause(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _is_open(self, row: Row[Any]) -> bool:
        now = self.clock()
        return bool(now < row.expires_at <= self._latest(now))

    def _latest(self, now: datetime) -> datetime:
        """Return the latest time at which a call that begins now may end, by any clock."""
        return now + timedelta(seconds=self.call_seconds) + CLOCKS_DIFFER

    def _paid(self, question: Question, owner: UUID, ask: Callable[[], Answer]) -> Answer:
        values: dict[str, Any] = {"session": question.session_id, "owner": owner}
        try:
            answer = ask()
        except BaseException:
            self._tell(_CLOSE, values)
            raise
        said = json.dumps(_stored(answer))
        if len(said) > MAX_STORED:
            self._tell(_CLOSE, values)
        else:
            self._tell(_KEEP, values | {"answer": said, "now": self.clock()})
        return answer

    def _open(self, question: Question, owner: UUID) -> bool:
        now = self.clock()
        values = {
            "session": question.session_id,
            "from_seq": question.from_seq,
            "to_seq": question.to_seq,
            "digest": question.digest,
            "owner": owner,
            "known": json.dumps(question.known.to_json()),
            "now": now,
            "expires": now + timedelta(seconds=self.call_seconds),
            "latest": self._latest(now),
        }
        return self._first(_OPEN, values) is not None

    def _look(self, question: Question) -> Row[Any] | None:
        return self._first(_LOOK, {"session": question.session_id})

    def _first(self, statement: Any, values: dict[str, Any]) -> Row[Any] | None:
        try:
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                return connection.execute(statement, values).first()
        except OperationalError as error:
            raise TransientError(
                "the answer about this window can't be looked up: Postgres is not reachable"
            ) from error

    def _tell(self, statement: Any, values: dict[str, Any]) -> None:
        """Store the outcome of a call. The answer is usable even if it can't be stored."""
        try:
            with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(statement, values)
        except OperationalError:
            log.warning("the answer about a window could not be stored: should this worker die, it is asked for again")


def _is_about(row: Row[Any], question: Question) -> bool:
    if row.owner is None:
        return False
    return (row.from_seq, row.to_seq, bytes(row.digest)) == (question.from_seq, question.to_seq, question.digest)


def _stored(answer: Answer) -> dict[str, Any]:
    return {
        "data": answer.data,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "model": answer.model,
    }


def _answer(stored: dict[str, Any]) -> Answer:
    return Answer("", stored["data"], stored["input_tokens"], stored["output_tokens"], stored["model"])
