"""What a turn waited, told from what was called, recorded and committed: by hand, second by second."""

from collections.abc import Sequence
from typing import Any

import pytest

from proof.load.__main__ import cut_short
from proof.load.fairness import begun_between
from proof.load.lags import Asked, Conversation, Turn, Window, conversations, turns_of
from proof.load.recovery import batches
from proof.load.traffic import Hook, Shape, messages, plan

IDLE, AGE = 10.0, 60.0
NAMES = {1: "run-1"}


def line(at: float, kind: str, turn: int, **more: object) -> dict[str, object]:
    return {"hook": [at, kind, 7, 1, turn], "scheduled": at, "began": at, "returned": at + 0.01} | more


def turns(recorded: dict[int, float], asked: Sequence[tuple[float, Asked]], *windows: Window) -> list[Turn]:
    lines = [line(at, "turn", turn) for turn, at in recorded.items()]
    return turns_of(lines, {"run-1": Conversation(recorded, asked, windows)}, NAMES, idle=IDLE, age=AGE)


def test_a_quiet_session_is_due_when_it_has_been_quiet_for_long_enough() -> None:
    first, second = turns({1: 100.0, 2: 105.0}, [], Window(1, 2, begun=117.0, committed=117.5))
    assert (first.asked, first.due, first.policy) == ("quiet", 115.0, 15.0)
    assert (second.policy, second.queue, second.work) == (10.0, 2.0, 0.5)
    assert (second.from_due, second.from_said) == (2.5, 12.5)


def test_a_prompt_elsewhere_makes_due_what_is_there_and_what_comes_until_the_flush_begins() -> None:
    first, second = turns({1: 100.0, 2: 104.0}, [(103.0, "prompt")], Window(1, 2, begun=105.0, committed=105.2))
    assert (first.asked, first.due, first.from_due) == ("prompt", 103.0, pytest.approx(2.2))
    assert (second.due, second.policy, second.from_due) == (104.0, 0.0, pytest.approx(1.2))


def test_what_was_asked_for_before_a_windows_first_turn_was_another_windows() -> None:
    windows = (Window(1, 1, begun=101.5, committed=101.6), Window(2, 2, begun=114.0, committed=114.1))
    first, second = turns({1: 100.0, 2: 102.0}, [(101.0, "prompt")], *windows)
    assert (first.asked, first.due) == ("prompt", 101.0)
    assert (second.asked, second.due) == ("quiet", 112.0)


def test_a_session_that_is_never_quiet_is_due_by_its_age() -> None:
    recorded = {turn: 100.0 + 5 * turn for turn in range(1, 14)}
    found = turns(recorded, [], Window(1, 13, begun=170.0, committed=170.1))
    assert (found[0].asked, found[0].due) == ("age", 165.0)
    assert found[12].policy == 0.0


def test_a_turn_that_was_never_flushed_has_no_lag_and_one_without_a_reason_says_so() -> None:
    first, second = turns({1: 100.0, 2: 103.0}, [], Window(1, 1, begun=101.0, committed=101.1))
    assert (first.asked, first.from_due) == ("none", pytest.approx(0.1))
    assert (second.from_due, second.from_said) == (None, None)


def test_a_hook_that_began_late_counts_from_when_it_should_have_begun() -> None:
    late = line(100.0, "turn", 1, began=103.0, returned=103.2)
    talk = Conversation({1: 103.1}, [(103.1, "turns")], [Window(1, 1, begun=103.5, committed=104.0)])
    (turn,) = turns_of([late], {"run-1": talk}, NAMES, idle=IDLE, age=AGE)
    assert (turn.hook, turn.late) == (pytest.approx(3.2), pytest.approx(3.0))
    assert turn.from_said == pytest.approx(4.0)


def test_what_the_hooks_answered_says_who_asked_for_what() -> None:
    lines = [
        line(100.0, "turn", 6, due="turns"),
        line(101.0, "prompt", 7, boosted=["run-9"]),
        line(102.0, "idle", 6, due="idle"),
    ]
    talks = conversations(lines, {"run-1": {6: 100.002}, "run-9": {1: 90.0}}, {}, NAMES)
    assert talks["run-1"].asked == [(100.002, "turns"), (102.0, "end")]
    assert talks["run-9"].asked == [(101.0, "prompt")]


def test_a_plan_offers_its_load_in_order_and_is_the_same_for_the_same_seed() -> None:
    hooks = plan(Shape(), load=40, seconds=300, weights=[1.0] * 20, seed=3)
    assert hooks == sorted(hooks) == plan(Shape(), load=40, seconds=300, weights=[1.0] * 20, seed=3)
    said = [hook for hook in hooks if hook.kind == "turn"]
    assert len(said) / 300 == pytest.approx(40, rel=0.15)
    by_session: dict[int, list[int]] = {}
    for hook in said:
        assert 0 <= hook.at < 300
        by_session.setdefault(hook.session, []).append(hook.turn)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_session.values())
    # The load is there from the first second, and is no less at the last.
    assert sum(hook.at < 100 for hook in said) == pytest.approx(len(said) / 3, rel=0.25)


def test_a_loud_agent_says_as_many_times_more_as_its_weight() -> None:
    said = [
        hook.agent for hook in plan(Shape(), load=50, seconds=400, weights=[9.0, 1.0], seed=4) if hook.kind == "turn"
    ]
    assert said.count(0) / len(said) == pytest.approx(0.9, abs=0.03)


def test_a_batch_has_a_session_once_and_batches_keep_the_order() -> None:
    hooks = [hook for hook in plan(Shape(), load=30, seconds=60, weights=[1.0], seed=5) if hook.kind != "prompt"]
    cut = list(batches(hooks))
    assert [hook for batch in cut for hook in batch] == hooks
    assert all(len({hook.session for hook in batch}) == len(batch) for batch in cut)


def test_what_is_said_in_a_turn_is_the_same_whenever_it_is_asked() -> None:
    hook = Hook(1.0, "turn", 2, 3, 4)
    assert messages(hook) == messages(hook._replace(at=9.0))
    assert messages(hook) != messages(hook._replace(turn=5))


def test_flushes_of_the_loud_agent_count_while_another_ones_turn_waits_and_a_window_counts_once() -> None:
    def turn(due: float, queue: float, asked: Asked = "end") -> Turn:
        return Turn(1, due, 0.0, 0.0, queue=queue, due=due, asked=asked)

    loud = [turn(0.0, 4.0), turn(1.0, 3.0), turn(5.0, 2.0), turn(9.0, 1.0)]  # begins: 4, 4, 7, 10
    others = [turn(3.0, 6.0), turn(4.0, 1.0), turn(4.0, 90.0, "quiet"), Turn(1, 3.0, 0.0, 0.0)]
    assert begun_between(others, loud) == [2.0, 0.0]
    assert begun_between(others, []) == [0.0, 0.0]


def test_a_part_that_is_ended_keeps_what_it_had_measured_and_nothing_of_an_older_run() -> None:
    old: dict[str, Any] = {"steps": [{"offered": 1}]}
    assert cut_short("lag", old, old, "was ended") == {"error": "was ended"}
    assert cut_short("lag", old, {"steps": []}, "was ended") == {"error": "was ended"}
    assert cut_short("recovery", {}, {"recorded": 5}, "was ended") == {"error": "was ended"}
    new = {"steps": [{"offered": 2}]}
    assert cut_short("lag", old, new, "was ended") == {**new, "cut": "was ended"}
