"""An agent's report names the thing that the call before it changed."""

from datetime import UTC, datetime

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from tests.support.judging import Judge

AT = datetime(2031, 4, 7, 8, tzinfo=UTC)
MOVE = 'move_booking(booking_id="KX771", user_id="ada_1")'


def results(*turns: tuple[EventKind, str, str]) -> list[str]:
    """Return what the agent reports in a talk of turns (kind, role, text)."""
    events = tuple(Event(seq, kind, role, text, AT) for seq, (kind, role, text) in enumerate(turns, 1))
    found = RulesExtractor(Judge(lambda _: 0.9)).extract(Window(events), ExtractionContext("sauna", "UTC"), AT)
    return [one.content for one in found.candidates if "agent" in one.signals]


def talk(report: str, *asked: str) -> list[str]:
    tools: list[tuple[EventKind, str, str]] = []
    for call in asked:
        tools += [("tool", "tool_call", call), ("tool", "tool", "status: ok")]
    return results(("user", "user", "Move my sauna to Friday."), *tools, ("assistant", "assistant", report))


def test_a_report_without_an_identifier_gets_that_of_the_call() -> None:
    (told,) = talk("Your sauna has been moved to Friday at 19:30.", MOVE)
    assert told.rstrip(".").endswith("(booking KX771)")


@pytest.mark.parametrize(
    ("report", "calls"),
    [
        ("Your sauna has been moved to Friday at 19:30.", ()),
        ("Your sauna has been moved to Friday at 19:30.", ('get_booking(booking_id="KX771")',)),
        ("Your sauna has been moved to Friday at 19:30.", (MOVE, 'cancel_booking(booking_id="KX772")')),
        ("Your sauna has been moved to Friday at 19:30.", ('send_mail(user_id="ada_1")',)),
        ("The booking QRSTU has been moved to Friday at 19:30.", (MOVE,)),
        ("The booking KX771 has been moved to Friday at 19:30.", (MOVE,)),
        ("The booking of 19:30 has been moved, and VIP1 is not possible.", (MOVE,)),
    ],
)
def test_nothing_is_named_that_is_uncertain_or_named_already(report: str, calls: tuple[str, ...]) -> None:
    assert not any("(booking" in told for told in talk(report, *calls))


def test_a_call_before_another_turn_names_nothing() -> None:
    moved: tuple[EventKind, str, str] = ("assistant", "assistant", "Your sauna has been moved to Friday at 19:30.")
    told = results(
        ("user", "user", "Move it."),
        ("tool", "tool_call", MOVE),
        ("tool", "tool", "ok"),
        ("user", "user", "So?"),
        moved,
    )
    assert not any("(booking" in one for one in told)
