"""Dead letters and quarantined events are shown to their tenant, decided once, and sent as they came."""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Engine

from slowwave.errors import SlowwaveError
from slowwave.identity import SessionRef
from slowwave_server.models import DeadLetter
from slowwave_server.services.dead_letters.redrive import dismiss, redrive
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.dead_letters import count_open, list_dead_letters, read_dead_letter
from slowwave_server.services.reports.dirty import dirty_sessions, goals_of, unmet
from slowwave_server.services.reports.quarantine import count_quarantined, list_quarantined
from tests.support.installation import NOW, Installation

pytestmark = pytest.mark.servers

TASK = "slowwave.record_turn"


class Outbox:
    """Keeps what is sent; refuses what it does not know."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, task: str, payload: Mapping[str, Any]) -> None:
        if task != TASK:
            raise SlowwaveError(f"no task {task}")
        self.sent.append((task, payload))


@pytest.fixture
def installation(engine: Engine) -> Installation:
    return Installation(engine)


def test_a_redriven_letter_is_sent_as_it_came_and_only_once(installation: Installation) -> None:
    first = installation.letter(TASK, {"agent": "concierge"}, "session: missing")
    second = installation.letter(TASK, {"agent": "butler"}, "session: missing")
    outbox = Outbox()
    with installation.engine.connect() as connection:
        assert redrive(connection, "default", [first], send=outbox, now=NOW) == ([first], {})
        sent, refused = redrive(connection, "default", [first, second], send=outbox, now=NOW)
        assert (sent, refused) == ([second], {first: "there is no such open letter"})
        assert count_open(connection, "default") == 0
        assert read_dead_letter(connection, "default", first).decided_at == NOW
    assert outbox.sent == [(TASK, {"agent": "concierge"}), (TASK, {"agent": "butler"})]


def test_what_cannot_be_sent_stays_open_and_says_why(installation: Installation) -> None:
    cut = installation.letter(TASK, {"cut": "{...", "characters": 2_000_000}, "too large")
    strange = installation.letter("slowwave.nothing", {}, "unknown")
    outbox = Outbox()
    with installation.engine.connect() as connection:
        sent, refused = redrive(connection, "default", None, send=outbox, now=NOW)
        assert (sent, set(refused)) == ([], {cut, strange})
        assert [letter.state for letter in list_dead_letters(connection, "default")] == ["open", "open"]
    assert outbox.sent == []


def test_i8_letters_of_another_tenant_are_neither_shown_nor_decided(installation: Installation) -> None:
    foreign = installation.letter(TASK, {"secret": "theirs"}, "bad", tenant="other")
    nobody = installation.letter(TASK, {}, "bad", tenant=None)
    with installation.engine.connect() as connection:
        assert [letter.id for letter in list_dead_letters(connection, "default")] == [nobody]
        with pytest.raises(UnknownName):
            read_dead_letter(connection, "default", foreign)
        assert dismiss(connection, "default", [foreign], now=NOW)[0] == []
        assert dismiss(connection, "default", None, now=NOW)[0] == [nobody]
        assert list_dead_letters(connection, "default") == []
        assert [letter.id for letter in list_dead_letters(connection, "default", state=None)] == [nobody]
    assert installation.value(DeadLetter.state, id=foreign) == "open"


def test_a_letter_that_someone_else_decides_on_is_left_alone(installation: Installation) -> None:
    number = installation.letter(TASK, {}, "bad")
    outbox = Outbox()
    with installation.engine.connect() as other, installation.engine.connect() as connection:
        other.execute(DeadLetter.__table__.select().with_for_update())
        assert redrive(connection, "default", None, send=outbox, now=NOW) == ([], {})
        other.rollback()
        assert redrive(connection, "default", None, send=outbox, now=NOW) == ([number], {})


def test_mistake_16_a_quarantined_event_is_shown_with_its_error(installation: Installation) -> None:
    for tenant in ("default", "other"):
        agent, scope = installation.agent("concierge", tenant=tenant), installation.scope("concierge", tenant=tenant)
        said = (("Maya", "Hello."), ("Maya", f"poison of {tenant}"))
        session = installation.session(agent, scope, "monday", *said, processed_until=2)
        installation.flush(session, (1, 1))
        installation.quarantine(session, 2, "RecursionError: too deep")
    with installation.engine.connect() as connection:
        (event,) = list_quarantined(connection, "default")
        assert (event.seq, event.content, event.error) == (2, "poison of default", "RecursionError: too deep")
        assert count_quarantined(connection, "default") == 1
        assert list_quarantined(connection, "default", agent="butler") == []
        assert len(list_quarantined(connection, "other", agent="concierge", session="monday")) == 1


def test_waiting_ends_at_the_watermark_that_was_asked_for(installation: Installation) -> None:
    agent, scope = installation.agent("concierge"), installation.scope("concierge")
    said = [("Maya", "Hello.")] * 3
    installation.session(agent, scope, "clean", *said, processed_until=3)
    dirty = installation.session(agent, scope, "dirty", *said, processed_until=1)
    refs = [SessionRef("default", "concierge", name) for name in ("clean", "dirty", "unknown")]
    with installation.engine.connect() as connection:
        assert dirty_sessions(connection, "default", "concierge") == ["dirty"]
        goals = goals_of(connection, refs)
        assert [(goal.session_id, goal.until) for goal in goals] == [(dirty, 3)]
        assert unmet(connection, goals) == goals
        connection.exec_driver_sql(
            "UPDATE slowwave.sessions SET processed_until = 3, last_seq = 5 WHERE id = %s", (dirty,)
        )
        assert unmet(connection, goals) == []
