"""What a flush asks of its scope before anything is read and compared for endings."""

import pytest

from slowwave_server.domain.endings.sought import sought

TASK = ("Maya is trying to fix the login bug.", "task")
DONE = ("Maya fixed the login bug.", "event")
CALLED_OFF = ("Maya called off: the newsletter plan.", "decision")


def test_most_statements_ask_for_nothing() -> None:
    assert sought([("Maya likes strong coffee in the morning.", "preference"), ("Maya is a nurse.", "fact")]) is None
    assert sought([]) is None


@pytest.mark.parametrize(
    ("statement", "types"),
    [
        (("The team decided: meet every Thursday.", "decision"), set()),
        (DONE, {"task"}),
        (("Maya instructs: answer in French.", "instruction"), {"instruction"}),
        (TASK, {"result", "lesson", "event", "fact", "decision"}),
        (CALLED_OFF, {"decision", "task", "instruction", "result"}),
        (('Maya lifted an instruction: "You can use emojis again."', "decision"), {"instruction"}),
        (
            ('Maya corrected: "It is seat 14C, not 12A."', "fact"),
            {"decision", "task", "fact", "event", "result", "preference"},
        ),
    ],
)
def test_a_statement_asks_for_the_types_that_it_may_end_or_be_ended_by(
    statement: tuple[str, str], types: set[str]
) -> None:
    asked = sought([statement])
    assert asked is not None
    assert asked.types >= types
    assert not asked.within


@pytest.mark.parametrize("other", [DONE, CALLED_OFF])
def test_statements_of_one_window_may_end_each_other(other: tuple[str, str]) -> None:
    for stored in ([TASK, other], [other, TASK]):
        asked = sought(stored)
        assert asked is not None
        assert asked.within


def test_statements_that_have_nothing_to_do_with_each_other_do_not() -> None:
    asked = sought([DONE, ("Maya likes strong coffee in the morning.", "preference")])
    assert asked is not None
    assert not asked.within
