"""Read a session once in its source: messages of its named runs are recorded, then flushed as usual.

    named runs ── none ──────────────────────────────▶ stop
      │
    read the session ── can't be reached ────────────▶ all runs wait, longer after each failure, without a limit
      │
    each run: private ───────────────────────────────▶ done; its messages are not recorded
              missing, or running ────────────────▶ retried for a day
              complete ──────────────────────────────▶ its messages are captured, then it is done

Events are captured before the run is marked as done, under the store's keys, so after a crash in between they are
deduplicated. A run stays marked after retention removed its events, and after the store deleted it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine

from slowwave.capture import Captured, Entry
from slowwave.errors import SlowwaveError, StoreUnavailable
from slowwave.identity import SessionRef
from slowwave.messages import MAX_MESSAGES, turn_events
from slowwave.settings import Tools
from slowwave_server.domain.failures import TransientError, backoff
from slowwave_server.services.sources.protocol import KeptRun, KeptSession, SessionSource
from slowwave_server.services.sources.store import (
    RETAKE_SECONDS,
    NamedRun,
    Postponed,
    Settled,
    named_runs,
    note_outcomes,
)

log = logging.getLogger(__name__)

LOOK_FOR_SECONDS = 86_400.0
"""How long a run is looked for that the store answers without: one that crashed never comes."""


@dataclass(slots=True)
class Looked:
    """Counts of one read: new events, and runs by result. due: the caller should offer a flush."""

    added: int = 0
    repeated: int = 0
    taken: int = 0
    private: int = 0
    gone: int = 0
    failed: int = 0
    waiting: int = 0
    due: bool = False
    outcomes: list[Settled | Postponed] = field(default_factory=list)

    def note(self, outcome: Settled | Postponed) -> None:
        self.outcomes.append(outcome)
        kind = outcome.outcome if isinstance(outcome, Settled) else "waiting"
        setattr(self, kind, getattr(self, kind) + 1)


@dataclass(frozen=True, slots=True)
class SessionReader:
    """The collaborators of a read. capture: records one entry, see slowwave.capture.Capture.one. jitter: returns a
    number from 0 to 1.
    tools: the parts of tool calls to record.
    """

    engine: Engine
    source: SessionSource
    capture: Callable[[Entry], Captured]
    clock: Callable[[], datetime]
    jitter: Callable[[], float]
    tools: Tools = field(default_factory=Tools)

    def look(self, ref: SessionRef) -> Looked:
        """Read the named runs of a session. Raises StoreUnavailable, SQLAlchemy's errors: the next tick tries again."""
        looked = Looked()
        named = named_runs(self.engine, ref)
        if not named:
            return looked
        now = self.clock()
        try:
            kept = self.source.read(ref.session, frozenset(run.run_id for run in named))
        except Exception as error:  # noqa: BLE001 (whatever a store raises: it is tried again, and shown)
            problem = str(error) if isinstance(error, TransientError) else type(error).__name__
            log.warning("%s/%s can't be read from %s: %s", ref.agent, ref.session, self.source.name, problem)
            for run in named:
                looked.note(Postponed(run, self._later(run, now), run.missing_since, problem))
        else:
            self._read(ref, named, kept, looked, now)
        note_outcomes(self.engine, looked.outcomes)
        return looked

    def _read(
        self, ref: SessionRef, named: Sequence[NamedRun], kept: KeptSession | None, looked: Looked, now: datetime
    ) -> None:
        runs = {} if kept is None else {run.run_id: run for run in kept.runs}
        order = {run_id: place for place, run_id in enumerate(runs)}
        for run in sorted(named, key=lambda run: order.get(run.run_id, len(order))):
            there = runs.get(run.run_id)
            if kept is not None and (kept.private or (there is not None and there.private)):
                looked.note(Settled(run, "private"))
            elif there is None or not there.settled:
                self._miss(ref, run, there, looked, now)
            else:
                self._take(ref, run, there, looked)

    def _miss(self, ref: SessionRef, run: NamedRun, there: KeptRun | None, looked: Looked, now: datetime) -> None:
        since = run.missing_since or now
        if now - since < timedelta(seconds=LOOK_FOR_SECONDS):
            # A run that a hook named at its start does not count as missing too early.
            early = run.due_at > now + timedelta(seconds=RETAKE_SECONDS)
            looked.note(Postponed(run, run.due_at if early else self._later(run, now), since))
        elif there is not None:
            self._take(ref, run, there, looked)
        else:
            looked.note(Settled(run, "gone"))

    def _take(self, ref: SessionRef, run: NamedRun, there: KeptRun, looked: Looked) -> None:
        new = [message for message in there.messages if message["key"] not in run.taken]
        try:
            for start in range(0, len(new), MAX_MESSAGES):
                self._capture(ref, run, new[start : start + MAX_MESSAGES], looked)
        except StoreUnavailable:
            raise
        except SlowwaveError as error:
            # This message can never be recorded; an error may quote a conversation.
            log.warning("a run of %s/%s can't be recorded: %s", ref.agent, ref.session, type(error).__name__)
            looked.note(Settled(run, "failed", error=type(error).__name__))
        else:
            looked.note(Settled(run, "taken", tuple(message["key"] for message in new)))

    def _capture(self, ref: SessionRef, run: NamedRun, messages: Sequence[Mapping[str, Any]], looked: Looked) -> None:
        events, _ = turn_events(messages, run.run_id, self.tools)
        for event in events:
            # The time at which it was said counts as the time of recording, so a message from before a forget stays
            # forgotten (I10).
            event["taken"] = event["at"]
        if not events:
            return
        captured = self.capture(Entry(ref.tenant, ref.agent, ref.session, events))
        looked.added += captured.added
        looked.repeated += captured.repeated
        looked.due = looked.due or captured.due

    def _later(self, run: NamedRun, now: datetime) -> datetime:
        return now + timedelta(seconds=backoff(run.looks + 1, self.jitter()))
