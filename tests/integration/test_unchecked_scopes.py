"""Which scopes the tick asks a light pass for: those with memories that no pass has compared yet."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.unchecked import FIRST_RETRY, LONGEST_RETRY, unchecked_scopes
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers


def _due(hearer: Hearer, settings: Consolidation | None = None) -> list[str]:
    with hearer.engine.connect() as connection:
        found = unchecked_scopes(connection, settings or hearer.settings, limit=10, now=hearer.now)
    return [scope.name for scope in found]


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def test_a_new_memory_makes_its_scope_due_until_a_pass(hearer: Hearer) -> None:
    assert _due(hearer) == []
    hearer.hear("Maya lives in Porto")
    assert _due(hearer) == ["maya"]
    hearer.run()
    assert _due(hearer) == []


def test_a_repeated_memory_makes_its_scope_due_again(hearer: Hearer) -> None:
    hearer.hear("Maya lives in Porto", days_ago=300)
    hearer.run()
    hearer.hear("Maya lives in Porto", days_ago=10, session="later")
    assert _due(hearer) == ["maya"]


def test_a_young_memory_waits_if_a_setting_says_so(hearer: Hearer) -> None:
    hearer.hear("Maya lives in Porto", days_ago=30)
    hearer.now -= timedelta(days=27)
    assert _due(hearer, Consolidation(min_age_days=7)) == []
    assert _due(hearer, Consolidation(min_age_days=1)) == ["maya"]


FAILURES = [("failed", "{}"), ("stopped", "{}"), ("completed", '{"failed": 1}')]


def _fail(hearer: Hearer, status: str = "failed", stats: str = "{}", *, ahead: timedelta = timedelta(0)) -> None:
    hearer.sql(
        "INSERT INTO slowwave.maintenance_runs (kind, scope_id, status, started_at, completed_at, stats)"
        " VALUES ('light', :scope, :status, :now, :now, CAST(:stats AS jsonb))",
        scope=hearer.scope_id,
        status=status,
        now=hearer.now + ahead,
        stats=stats,
    )


@pytest.mark.parametrize(("status", "stats"), FAILURES)
def test_a_scope_whose_passes_fail_waits_longer_each_time(hearer: Hearer, status: str, stats: str) -> None:
    hearer.hear("Maya lives in Porto")
    _fail(hearer, status, stats)
    assert _due(hearer) == ["maya"], "one outage is no reason to wait"
    for wait in (FIRST_RETRY, 2 * FIRST_RETRY, 4 * FIRST_RETRY):
        _fail(hearer, status, stats)
        hearer.now += wait - timedelta(seconds=1)
        assert _due(hearer) == []
        hearer.now += timedelta(seconds=1)
        assert _due(hearer) == ["maya"]


def test_a_scope_never_waits_longer_than_half_a_day(hearer: Hearer) -> None:
    hearer.hear("Maya lives in Porto")
    for _ in range(30):
        _fail(hearer)
    hearer.now += LONGEST_RETRY - timedelta(seconds=1)
    assert _due(hearer) == []
    hearer.now += timedelta(seconds=1)
    assert _due(hearer) == ["maya"]


def test_failed_passes_that_a_wrong_clock_dated_ahead_hold_nobody_up(hearer: Hearer) -> None:
    hearer.hear("Maya lives in Porto")
    for _ in range(3):
        _fail(hearer, ahead=timedelta(hours=6))
    assert _due(hearer) == ["maya"]


def test_the_scope_that_waited_longest_comes_first(engine: Engine, hearer: Hearer) -> None:
    other = Hearer(engine, agent="jonas", now=hearer.now - timedelta(days=1))
    hearer.hear("Maya lives in Porto")
    other.hear("Jonas lives in Turku")
    assert _due(hearer) == ["jonas", "maya"]
