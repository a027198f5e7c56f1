"""Say written histories of changing values in any order, with flushes and a pass after each statement."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import mean
from typing import Any

from redis import Redis
from sqlalchemy import Engine, text

from judge.train.histories import History, Told
from slowwave.settings import Consolidation
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.extraction.judging import installed_judge
from slowwave_server.services.lookup import find_scope
from slowwave_server.services.undo.undo import undo
from tests.support.emptying import emptying
from tests.support.flushing import make_scene
from tests.support.passing import state

ROOTS = ("agents", "scopes", "events", "memory_changes", "maintenance_runs")
HOUR = timedelta(hours=1)
_HELD = text(
    "SELECT DISTINCT m.*, n.content AS newer FROM slowwave.memory_sources x"
    " JOIN slowwave.sessions s ON s.id = x.session_id"
    " JOIN slowwave.memories o ON o.id = x.memory_id AND x.via IS NULL"
    " JOIN slowwave.memories m ON m.id = coalesce(o.merged_into, o.id)"
    " LEFT JOIN slowwave.memories n ON n.id = m.superseded_by WHERE s.name = :session"
)


@dataclass
class Outcome:
    """What holds after a history. wrong: what does not, in words for a person."""

    name: str
    current: bool = True
    complete: bool = True
    undone: bool = True
    wrong: list[str] = field(default_factory=list)


class Teller:
    """Says histories to a database through capture, flushes by rules, and light passes."""

    def __init__(self, engine: Engine, redis: Redis) -> None:
        self._engine = engine
        self._scene = make_scene(engine, redis)
        self._scene.extractor = RulesExtractor(installed_judge())  # type: ignore[assignment]
        self._settings = Consolidation()

    def close(self) -> None:
        """Close the connections."""
        self._scene.engine.dispose()

    def tell(self, history: History, seed: int) -> Outcome:
        """Say everything in the order of the seed, with a pass and its undo after each statement."""
        with self._engine.begin() as connection:
            connection.execute(text(emptying(*ROOTS)))
        outcome = Outcome(history.name)
        order = list(enumerate(history.told))
        random.Random(f"{seed} {history.name}").shuffle(order)  # noqa: S311 (an order that each run repeats)
        for place, told in order:
            self._say(f"s{place}", told)
            outcome.undone &= self._passes()
        self._judge(history, outcome)
        return outcome

    def _say(self, session: str, told: Told) -> None:
        self._scene.say(session, told.text, at=told.at.isoformat(), trigger="explicit")
        self._scene.flush(session)
        self._scene.clock.now += HOUR

    def _passes(self) -> bool:
        """A pass; whether its undo restores each row, and the undo of the undo each row that the pass left."""
        with self._engine.connect() as connection:
            scope = find_scope(connection, "default", "agent", "maya")
        if scope is None:
            return True
        before = state(self._engine)
        clock = self._scene.clock
        report = consolidate(self._engine, Order(scope, "light", by="test"), settings=self._settings, clock=clock)
        if report.run is None:
            return True
        after = state(self._engine)
        if after == before:
            return True
        taken_back = undo(self._engine, "default", report.run, by="test", now=clock())
        exact = state(self._engine) == before
        undo(self._engine, "default", taken_back.run, by="test", now=clock())
        return exact and state(self._engine) == after

    def _judge(self, history: History, outcome: Outcome) -> None:
        held = [self._held(f"s{place}") for place, _ in enumerate(history.told)]
        last = max(told.value for told in history.told)
        begins = {told.value: told.at for told in reversed(history.told)}
        for told, rows in zip(history.told, held, strict=True):
            valid = [row for row in rows if _is_valid(row)]
            if told.value in {0, last}:
                if not valid and (rows or told.value):
                    outcome.current = False
                    outcome.wrong.append(f"not valid: {told.text}")
            elif valid:
                outcome.current = False
                outcome.wrong.append(f"still valid: {[row.content for row in valid]}")
            if told.value and not rows:
                outcome.complete = False
                outcome.wrong.append(f"not remembered: {told.text}")
            for row in rows:
                next_at = begins.get(told.value + 1) if told.value else None
                ends_right = row.valid_to is None if next_at is None else _is_between(told.at, row.valid_to, next_at)
                if not ends_right or row.status == "archived":
                    outcome.complete = False
                    outcome.wrong.append(f"{row.content!r} ends {row.valid_to}, not {next_at}, by {row.newer!r}")

    def _held(self, session: str) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(_HELD, {"session": session}))


def _is_between(first: datetime, at: datetime | None, last: datetime) -> bool:
    """Whether a value ended after it began, and not after the next one: "last night" is before the statement."""
    return at is not None and first < at <= last


def _is_valid(row: Any) -> bool:
    return row.status in {"inbox", "episode", "active"} and row.valid_to is None and row.superseded_by is None


def table(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The shares of histories that hold."""
    return {name: mean(getattr(one, name) for one in outcomes) for name in ("current", "complete", "undone")}
