"""Hooks of a person who has an address and an API key, and no login of the database."""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from proof.coding_host import ClaudeCode, Home, context_in, wait_for
from slowwave_server.workers.listening_sockets import listen_on
from tests.gateway.conftest import Doors, open_doors
from tests.support.capturing import contents, rows
from tests.support.recalling import Shelf
from tests.transports.conftest import served

pytestmark = pytest.mark.servers

PATIENT = ("--wait", "30")
AGENT = "github.com/acme/shop"


@pytest.fixture(scope="module")
def doors(module_database: str, module_broker: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    yield from open_doors(module_database, module_broker, tmp_path_factory.mktemp("gateway"), requests_per_second=0)


@pytest.fixture
def address(doors: Doors) -> Iterator[str]:
    with listen_on("127.0.0.1", 0) as listening, served(doors.app, listening) as address:
        yield address


@pytest.fixture
def home_with(tmp_path: Path) -> Iterator[Callable[[str, str], Home]]:
    """Makes the home of a person who has an address and a key."""
    homes: list[Home] = []

    def make(address: str, key: str) -> Home:
        spool = {"SLOWWAVE_SPOOL": str(tmp_path / "spool")}
        homes.append(Home(tmp_path / "home", {"SLOWWAVE_URL": address, "SLOWWAVE_KEY": key} | spool))
        return homes[-1]

    yield make
    for home in homes:
        home.close()


def test_session_is_in_the_next_ones_context_by_key(
    doors: Doors, address: str, module_database: str, home_with: Callable[[str, str], Home]
) -> None:
    home = home_with(address, doors.key(agents=[AGENT], rights=["record", "read"]))
    first = ClaudeCode(home, "monday")
    first.turn("Our staging server is called heron.", "Noted.")
    for _ in range(2):
        assert context_in(first.run("Stop")) == ""
        wait_for(lambda: len(contents(module_database, "monday")) >= 2 and not home.inbox(), "the turn is recorded")
    first.run("SessionEnd", reason="exit")
    assert contents(module_database, "monday") == ["Our staging server is called heron.", "Noted."]
    tenants = rows(module_database, "SELECT tenant FROM slowwave.agents WHERE name = %s", [AGENT])
    assert tenants == [("acme",)]
    with psycopg.connect(module_database, autocommit=True) as connection:
        Shelf(connection).keep("Heron restarts at noon.", agent=AGENT, tenant="acme")
    second = ClaudeCode(home, "tuesday")
    assert "heron" in context_in(second.run("SessionStart", *PATIENT, source="startup"))
    second.turn("When does it restart?", "At noon.")
    second.run("Stop")
    noted = "SELECT count(*) FROM slowwave.memory_uses WHERE shown_at IS NOT NULL"
    wait_for(lambda: rows(module_database, noted) == [(1,)], "the shown memory is noted")


def test_key_that_may_not_record_loses_nothing(
    doors: Doors, address: str, module_database: str, home_with: Callable[[str, str], Home]
) -> None:
    home = home_with(address, doors.key(agents=["another"], rights=["record", "read"]))
    session = ClaudeCode(home, "wednesday")
    session.turn("I like tea.", "Noted.")
    assert context_in(session.run("Stop")) == ""
    wait_for(home.helpers, "the helper runs")
    assert context_in(session.run("UserPromptSubmit", *PATIENT, prompt="Hello?")) == ""
    (waiting,) = home.inbox()
    assert "wednesday" in waiting.read_text()
    assert contents(module_database, "wednesday") == []


def test_gateway_that_is_away_leaves_the_turn_in_the_spool(
    home_with: Callable[[str, str], Home], tmp_path: Path
) -> None:
    home = home_with("http://127.0.0.1:1", "sw_abcdefgh_" + "x" * 43)
    session = ClaudeCode(home, "monday")
    session.turn("I like tea.", "Noted.")
    assert context_in(session.run("Stop")) == ""
    spool = tmp_path / "spool"
    wait_for(lambda: "I like tea." in "".join(file.read_text() for file in spool.glob("*.jsonl")), "it is spooled")
