"""Whatever runs did, in any order: undone in reverse, every state on the way comes back (I6, mistakes 25 and 26)."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from slowwave_server.services.undo.checks import CannotUndo, NothingToUndo
from slowwave_server.services.undo.undo import undo
from tests.support.emptying import emptying
from tests.support.passing import Past, Step, day, state

pytestmark = [pytest.mark.long, pytest.mark.servers]

SAID = (
    "Maya lives in Rome.", "Maya lives in Lisbon.", "Maya's home is Lisbon.", "Maya has two cats.", "Maya has no pets.",
    "Jonas plays the cello.",
)  # fmt: skip
NOTED = ("Jonas plays the cello every day.", "Maya has a cat.")

Move = tuple[str, int, int]


@dataclass
class Hand:
    """Makes random moves in runs; those that the present state doesn't allow are passed over."""

    past: Past
    items: list[UUID]
    memories: list[UUID]
    conflicts: list[tuple[int, UUID]] = field(default_factory=list)
    questions: list[tuple[int, UUID]] = field(default_factory=list)

    def move(self, step: Step, move: Move) -> None:
        name, first, second = move
        a = self.memories[first % len(self.memories)]
        b = self.memories[second % len(self.memories)]
        moves: dict[str, Callable[[], None]] = {
            "promote": lambda: step.set(a, "promoted", status="active"),
            "archive": lambda: step.set(a, "archived", status="archived", archive_reason="stale"),
            "edit": lambda: step.set(a, "edited", content=SAID[second % len(SAID)]),
            "retype": lambda: step.set(a, "edited", type="decision"),
            "supersede": lambda: step.supersede(a, b, day(second)),
            "hold": lambda: step.set(a, "holding", valid_to=None, superseded_by=None),
            "merge": lambda: self._merge(step, a, b),
            "unmerge": lambda: step.unmerge(a) if self._column(step, a, "merged_into") else None,
            "link": lambda: step.link(a, b),
            "triple": lambda: step.triple(a, "Maya", "lives in", f"place {step.id} {first}"),
            "conflict": lambda: self._conflict(step, a, b),
            "ask": lambda: self._ask(step, a),
            "settle": lambda: self._settle(step, second),
            "keep": lambda: self._keep(step, second),
            "repeat": lambda: self._repeat(step, a),
        }  # fmt: skip
        if a == b and name in {"supersede", "merge", "link", "conflict"}:
            return
        try:
            with step.connection.begin_nested():
                moves[name]()
        except IntegrityError:
            return  # the same words twice: what a pass would be refused too

    def _merge(self, step: Step, part: UUID, survivor: UUID) -> None:
        if not self._column(step, part, "merged_into") and not self._column(step, survivor, "merged_into"):
            step.merge(part, survivor)

    def _conflict(self, step: Step, a: UUID, b: UUID) -> None:
        number = step.conflict(a, b)
        if number is not None:
            self.conflicts.append((number, a))
            item = step.ask(conflict=number)
            if item is not None:
                self.questions.append((item, b))

    def _ask(self, step: Step, memory: UUID) -> None:
        step.set(memory, "review", status="review")
        item = step.ask(memory=memory)
        if item is not None:
            self.questions.append((item, memory))

    def _settle(self, step: Step, number: int) -> None:
        if self.conflicts:
            step.settle(*self.conflicts[number % len(self.conflicts)])
        if self.questions:
            step.answer(*self.questions[number % len(self.questions)])

    def _keep(self, step: Step, number: int) -> None:
        if self.items:
            self.memories.append(step.keep(self.items.pop(), NOTED[number % len(NOTED)]))

    def _repeat(self, step: Step, memory: UUID) -> None:
        if self.items:
            step.repeat(self.items.pop(), memory)

    def _column(self, step: Step, memory: UUID, name: str) -> object:
        query = text(f"SELECT {name} FROM slowwave.memories WHERE id = :id")
        return step.connection.execute(query, {"id": memory}).scalar_one()


NAMES = (
    "promote", "archive", "edit", "retype", "supersede", "hold", "merge", "merge", "merge", "unmerge", "link", "triple",
    "conflict", "ask", "settle", "keep", "repeat",
)  # fmt: skip
MOVES = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=8)
RUNS = st.lists(MOVES, min_size=1, max_size=5)
# The tables that all others hang off, but for events, which name no session that must exist.
ROOTS = ("agents", "scopes", "events", "memory_changes", "maintenance_runs")
# Without shrinking: it would take longer than a test may. What fails is short enough to be read.
SLOWLY = settings(
    max_examples=8,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def begin(engine: Engine) -> Past:
    with engine.begin() as connection:
        connection.exec_driver_sql(emptying(*ROOTS))
    return Past(engine)


def said(past: Past) -> list[UUID]:
    return [past.say(words, session=f"s{n % 2}", at=day(n), confidence=0.5 + n / 20) for n, words in enumerate(SAID)]


def perform(hand: Hand, moves: Sequence[Move], number: int) -> int:
    # A run that fails adds nothing, so neither may what the hand remembers of it; none of these fail as a whole.
    with hand.past.run("light", at=day(10 + number)) as step:
        for move in moves:
            hand.move(step, move)
    return step.id


def take_back(engine: Engine, run: int) -> None:
    """Undo a run; one of which every move was passed over has nothing to undo."""
    with contextlib.suppress(NothingToUndo):
        undo(engine, "default", run, by="priya", now=day(30))


# What was noted for one memory comes along when a later run merges that into a memory of its own.
@example(runs=[[("keep", 0, 0)], [("keep", 0, 1), ("merge", 6, 7)]])
@SLOWLY
@given(runs=RUNS)
def test_runs_undone_in_reverse_order_bring_back_every_state(engine: Engine, runs: list[list[Move]]) -> None:
    past = begin(engine)
    hand = Hand(past, memories=said(past), items=[past.note(words) for words in NOTED])
    states, numbers = [], []
    for number, moves in enumerate(runs):
        states.append(state(engine))
        numbers.append(perform(hand, moves, number))
    for run, before in zip(reversed(numbers), reversed(states), strict=True):
        take_back(engine, run)
        assert state(engine) == before


@SLOWLY
@given(runs=RUNS, order=st.randoms(use_true_random=False))
def test_in_any_order_an_undo_brings_back_all_of_it_or_changes_nothing(
    engine: Engine, runs: list[list[Move]], order: Random
) -> None:
    """And what refuses is undone once those are that it names: in the end the first state is back."""
    past = begin(engine)
    hand = Hand(past, memories=said(past), items=[past.note(words) for words in NOTED])
    first = state(engine)
    left = [perform(hand, moves, number) for number, moves in enumerate(runs)]
    while left:
        run = order.choice(left)
        before = state(engine)
        try:
            take_back(engine, run)
        except CannotUndo:
            assert state(engine) == before
            assert run != left[-1], "nothing is later than the last one"
            run = left[-1]
            take_back(engine, run)
        left.remove(run)
    assert state(engine) == first


@SLOWLY
@given(runs=RUNS, heard=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=6))
def test_what_is_said_between_runs_is_never_lost_by_their_undo(
    engine: Engine, runs: list[list[Move]], heard: list[tuple[int, int]]
) -> None:
    """Each event stands where it was heard, no copy outlives its merge, a memory is what its evidence makes of it."""
    past = begin(engine)
    hand = Hand(past, memories=said(past), items=[past.note(words) for words in NOTED])
    numbers = []
    for number, moves in enumerate(runs):
        numbers.append(perform(hand, moves, number))
        for words, session in heard[number :: len(runs)]:
            past.say(SAID[words], session=f"t{session}", at=day(10.5 + number), confidence=0.8)
    for run in reversed(numbers):
        with contextlib.suppress(CannotUndo):
            undo(engine, "default", run, by="priya", now=day(30))
    with engine.begin() as connection:
        events, sources = connection.execute(
            text(
                "SELECT (SELECT count(*) FROM slowwave.events),"
                " (SELECT count(DISTINCT (session_id, seq)) FROM slowwave.memory_sources WHERE via IS NULL)"
            )
        ).one()
        astray = connection.execute(
            text(
                "SELECT x.memory_id, x.via FROM slowwave.memory_sources x"
                " LEFT JOIN slowwave.memories p ON p.id = x.via"
                " WHERE x.via IS NOT NULL AND p.merged_into IS DISTINCT FROM x.memory_id"
            )
        ).all()
        changed = connection.execute(
            text("SELECT id FROM slowwave.memories WHERE slowwave.score_memory(id, now())")
        ).all()
    assert (sources, astray, changed) == (events, [], [])
