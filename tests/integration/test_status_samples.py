"""Samples: the figures of each tenant over time, what they count, and how long they are kept."""

from datetime import timedelta

import pytest
from sqlalchemy import Engine, text

from slowwave_server.services.reports.history import RANGES, read_history
from slowwave_server.services.samples import HOURS_KEPT, MINUTES_KEPT, take_samples
from tests.support.installation import NOW, Installation, ago

pytestmark = pytest.mark.servers

MINUTE = NOW.replace(second=0, microsecond=0)


@pytest.fixture
def installation(engine: Engine) -> Installation:
    made = Installation(engine)
    for tenant in ("default", "other"):
        agent, scope = made.agent("concierge", tenant=tenant), made.scope("concierge", tenant=tenant)
        said = [("Maya", "I moved to Lisbon.")] * 3
        clean = made.session(agent, scope, "clean", *said, processed_until=3)
        made.session(agent, scope, "waiting", *said, processed_until=1, dirty_since=ago(90), flush_due_at=ago(5))
        since = MINUTE - timedelta(seconds=30)
        made.flush(clean, (1, 2), oldest_recorded_at=since - timedelta(seconds=4), committed_at=since)
        made.letter("slowwave.record_turn", {}, "agent: missing", tenant=tenant)
    with engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.dead_letters SET created_at = :at"), {"at": since})
    return made


def samples(engine: Engine, tenant: str = "default") -> list[dict[str, object]]:
    query = text("SELECT * FROM slowwave.status_samples WHERE tenant = :tenant ORDER BY taken_at")
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(query, {"tenant": tenant}).mappings()]


def test_a_sample_counts_each_tenants_own_figures(installation: Installation) -> None:
    assert take_samples(installation.engine, NOW) == 2
    for tenant in ("default", "other"):
        (row,) = samples(installation.engine, tenant)
        assert (row["taken_at"], row["seconds"], row["hourly"]) == (MINUTE, 60, False)
        assert (row["sessions_waiting"], row["events_waiting"], row["inbox_open"]) == (1, 2, 0)
        assert (row["events"], row["failures"], row["lag_p50_seconds"]) == (2, 1, 4.0)


def test_a_second_worker_in_the_same_minute_adds_no_row(installation: Installation) -> None:
    take_samples(installation.engine, NOW)
    assert take_samples(installation.engine, NOW) == 0
    assert len(samples(installation.engine)) == 1


def test_a_sample_after_a_pause_counts_what_happened_meanwhile(installation: Installation) -> None:
    take_samples(installation.engine, MINUTE - timedelta(minutes=10))
    take_samples(installation.engine, NOW)
    first, second = samples(installation.engine)
    assert (first["events"], second["events"], second["seconds"]) == (0, 2, 600)


def test_old_minutes_become_hours_and_old_hours_go(installation: Installation) -> None:
    hour = MINUTE.replace(minute=0)
    for minutes in (1, 2, 60):
        take_samples(installation.engine, hour + timedelta(minutes=minutes))
    before = samples(installation.engine)
    later = hour + MINUTES_KEPT + timedelta(hours=1)
    take_samples(installation.engine, later)
    merged, newest = samples(installation.engine)
    assert (merged["hourly"], merged["taken_at"]) == (True, hour + timedelta(hours=1))
    assert merged["events"] == sum(int(str(row["events"])) for row in before)
    assert merged["sessions_waiting"] == 1
    assert newest["hourly"] is False
    take_samples(installation.engine, hour + HOURS_KEPT + timedelta(hours=2))
    assert merged["taken_at"] not in [row["taken_at"] for row in samples(installation.engine)]


def test_history_has_every_step_and_one_tenant_alone(installation: Installation) -> None:
    take_samples(installation.engine, NOW)
    with installation.engine.begin() as connection:
        connection.execute(text("UPDATE slowwave.status_samples SET events = 99 WHERE tenant = 'other'"))
        for over, (length, step) in RANGES.items():
            found = read_history(connection, "default", NOW, over=over)
            assert len(found) == length // step
            assert [one.events for one in found if one.events is not None] == [2], over
            assert found[-1].starts < NOW <= found[-1].starts + step
