"""Pages about work behind a login of Postgres that only looks and decides: read, and told what it may not."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import redis

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.models import DeadLetter, MaintenanceJob
from slowwave_server.services.access.console_users import add_user
from slowwave_server.workers.console.app import make_app
from tests.console.conftest import CHEAP, PASSWORD, TENANT, Console
from tests.support.installation import Installation
from tests.support.passing import Past, day, state
from tests.support.roles import Deployment, deployed

pytestmark = pytest.mark.servers


@pytest.fixture
def deployment(database_url: str) -> Iterator[Deployment]:
    with deployed(database_url) as deployment:
        yield deployment


@pytest.fixture
def desk(deployment: Deployment, valkey_url: str, redis_client: redis.Redis) -> Iterator[Console]:
    """A console whose own login is one tenant's."""
    with deployment.owner.begin() as connection:
        add_user(connection, "operator", "operator", [TENANT], PASSWORD, passwords=CHEAP)
    settings = Settings(database_url=deployment.url_of("acme desk"), broker_url=valkey_url, tenant=TENANT)
    engine = deployment.engine("acme desk")
    with Memory(settings) as memory:
        app = make_app(settings, engine, redis_client, lambda: datetime.now(UTC), memory)
        console = Console(settings, engine, redis_client, memory, app)
        yield console
        console.close()


def test_i8_a_login_that_only_decides_reads_all_of_it_and_is_told_what_it_may_not(
    deployment: Deployment, desk: Console
) -> None:
    past = Past(deployment.owner, tenant=TENANT)
    memory = past.say("Maya lives in Lisbon.")
    with past.run(at=day(1)) as run:
        run.set(memory, "promoted", status="active")
    Past(deployment.owner, tenant="globex").say("Jonas lives in Rome.")
    installation = Installation(deployment.owner)
    letter = installation.letter("slowwave.record_turn", {"n": 1}, "no session", tenant=TENANT)
    paths = [
        "/days",
        "/runs",
        f"/runs/{run.id}",
        "/budgets",
        "/quarantine",
        "/quarantine/events",
        "/quarantine/dead-letters",
    ]
    for path in (*paths, f"/quarantine/dead-letters/{letter}", "/jobs", "/exports", "/forget"):
        answer = desk.get(path, who="operator")
        assert answer.status_code == 200, (path, answer.text)
        assert ("Jonas" in answer.text, "globex" in answer.text) == (False, False), path
    assert desk.get("/exports/download?scope=agent:concierge", who="operator").status_code == 200
    before = state(deployment.owner)
    deeds: list[tuple[str, dict[str, str]]] = [
        (f"/runs/{run.id}/undo", {}),
        ("/quarantine/dead-letters/dismiss", {"letter": str(letter)}),
        ("/jobs/light-10/pause", {}),
        ("/jobs/light-10/run", {}),
        ("/forget", {"kind": "agent", "agent": "concierge", "confirm": "concierge"}),
    ]
    for path, form in deeds:
        answer = desk.post(path, **form)
        assert (answer.status_code, "this login may not do that" in answer.text) == (503, True), (path, answer.text)
    assert state(deployment.owner) == before
    assert installation.value(DeadLetter.state, id=letter) == "open"
    assert installation.value(MaintenanceJob.enabled, id="light-10") is True
