"""Random histories of passes, undos, undos of undos and later passes: every row is restored and nothing is lost."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, text

from slowwave_server.services.undo.checks import CannotUndo, NothingToUndo
from slowwave_server.services.undo.undo import undo
from tests.support.consolidating import Hearer
from tests.support.emptying import emptying
from tests.support.passing import state

pytestmark = [pytest.mark.long, pytest.mark.servers]

SAID = (
    "Maya lives in Rome.", "Maya lives in Lisbon.", "Maya's home is Lisbon.", "The user prefers dark mode.",
    "The user prefers the dark mode.", "Maya likes sushi.", "Maya does not like sushi.", "Maya likes sushi a lot.",
    "Level 3 of the game is hard.", "Level 4 of the game is hard.",
)  # fmt: skip
ROOTS = ("agents", "scopes", "events", "memory_changes", "maintenance_runs")
# Without shrinking, which would take longer than a test may.
SLOWLY = settings(
    max_examples=12,
    stateful_step_count=14,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)


class Histories(RuleBasedStateMachine):
    """`engine` is set on a subclass, since a machine is built without arguments."""

    engine: Engine

    @initialize()
    def begin(self) -> None:
        with self.engine.begin() as connection:
            connection.exec_driver_sql(emptying(*ROOTS))
        self.hearer = Hearer(self.engine)
        self.heard = 0

    @rule(words=st.sampled_from(SAID), days_ago=st.integers(31, 60), session=st.sampled_from("abc"))
    def hear(self, words: str, days_ago: int, session: str) -> None:
        self.hearer.hear(words, days_ago=days_ago, session=session)
        self.heard += 1

    @rule(kind=st.sampled_from(["light", "deep"]))
    def consolidate(self, kind: str) -> None:
        self.hearer.run("deep" if kind == "deep" else "light")

    @precondition(lambda self: self.standing("kind <> 'undo'"))
    @rule(pick=st.integers(0, 20), no_repeat=st.booleans())
    def undo_and_restore(self, pick: int, *, no_repeat: bool) -> None:
        """Whatever the history: an undo and its undo leave every row as it was."""
        before = state(self.engine)
        undone = self.undo(pick, "kind <> 'undo'", no_repeat=no_repeat)
        if undone is not None:
            self.undo_run(undone)
        assert state(self.engine) == before

    @precondition(lambda self: self.standing("kind <> 'undo'"))
    @rule(pick=st.integers(0, 20), no_repeat=st.booleans())
    def undo_one(self, pick: int, *, no_repeat: bool) -> None:
        self.undo(pick, "kind <> 'undo'", no_repeat=no_repeat)

    @precondition(lambda self: self.standing("kind = 'undo'"))
    @rule(pick=st.integers(0, 20))
    def restore_one(self, pick: int) -> None:
        """An undo of an undo, and of that in turn, goes back and forth between two states, if it is not refused."""
        before = state(self.engine)
        again = self.undo(pick, "kind = 'undo'")
        if again is not None:
            after = state(self.engine)
            back = self.undo_run(again)
            assert state(self.engine) == before
            self.undo_run(back)
            assert state(self.engine) == after

    @invariant()
    def nothing_is_lost(self) -> None:
        if not hasattr(self, "hearer"):
            return
        with self.engine.begin() as connection:
            sources = connection.execute(
                text("SELECT count(DISTINCT (session_id, seq)) FROM slowwave.memory_sources WHERE via IS NULL")
            ).scalar_one()
            astray = connection.execute(
                text(
                    "SELECT count(*) FROM slowwave.memory_sources x LEFT JOIN slowwave.memories p ON p.id = x.via"
                    " WHERE x.via IS NOT NULL AND p.merged_into IS DISTINCT FROM x.memory_id"
                )
            ).scalar_one()
            orphans = connection.execute(
                text(
                    "SELECT count(*) FROM slowwave.review_items i JOIN slowwave.maintenance_runs r ON r.id = i.run_id"
                    " WHERE r.status = 'undone'"
                )
            ).scalar_one()
        assert (sources, astray, orphans) == (self.heard, 0, 0)

    def standing(self, condition: str) -> list[int]:
        rows = self.hearer.sql(
            f"SELECT id FROM slowwave.maintenance_runs WHERE status = 'completed' AND {condition} ORDER BY id"
        )
        return [row.id for row in rows]

    def newest(self) -> int:
        return self.standing("true")[-1]

    def undo(self, pick: int, condition: str, *, no_repeat: bool = False) -> int | None:
        runs = self.standing(condition)
        before = state(self.engine)
        try:
            return self.undo_run(runs[pick % len(runs)], no_repeat=no_repeat)
        except CannotUndo as refused:
            assert state(self.engine) == before, "a refusal changes nothing"
            if runs[pick % len(runs)] == self.newest() and not isinstance(refused, NothingToUndo):
                raise  # nothing is later than the newest run, so nothing may block its undo
            return None

    def undo_run(self, run: int, *, no_repeat: bool = False) -> int:
        return undo(self.engine, "default", run, by="priya", now=self.hearer.now, no_repeat=no_repeat).run


def test_i6_undo_restores_every_row_in_any_history(engine: Engine) -> None:
    machine = type("OfEngine", (Histories,), {"engine": engine})
    run_state_machine_as_test(machine, settings=SLOWLY)
