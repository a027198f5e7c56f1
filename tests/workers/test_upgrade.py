"""The release before this one and this one, on the same servers, while agents talk: nothing waits, nothing is lost."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from proof.drills.site import Site
from proof.drills.upgrade import Plan, Upgrade, Upgraded
from proof.drills.versions import NoHistory, Version, unpack_previous
from slowwave_server.models.driver import head_revision
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(400)]

DATABASE = "slowwave_upgrade"
PLAN = Plan(producers=3, rate=15, events=500, flushes=50, together=True, quiet_seconds=600)


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Version:
    try:
        return unpack_previous(tmp_path_factory.mktemp("previous"))
    except NoHistory as error:
        pytest.skip(f"the release before this one can't be unpacked here: {error}")


@pytest.fixture
def site(postgres_url: str, own_valkey: OwnValkey, tmp_path: Path) -> Iterator[Site]:
    """Servers on which nothing was ever migrated."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {DATABASE}")
        own_valkey.client.flushall()
        yield Site(tmp_path, postgres_url.replace("/postgres?", f"/{DATABASE}?"), own_valkey.url)
        connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def _check(seen: Upgraded, previous: Version) -> None:
    assert seen.findings == []
    assert (seen.before, seen.after) == (previous.revision, head_revision())
    assert seen.delayed == 0, "no hook failed or had to wait on a disk"


@pytest.mark.drill
def test_i1_i2_i3_an_upgrade_under_way_loses_nothing_and_old_messages_are_taken(site: Site, previous: Version) -> None:
    seen = Upgrade(site, previous, Plan()).run()
    _check(seen, previous)
    assert 0 < seen.taken <= seen.waited, "messages of the old version were there, and were taken"


@pytest.mark.drill
@pytest.mark.timeout(1200)
def test_i1_i2_i3_workers_of_both_versions_work_side_by_side(site: Site, previous: Version) -> None:
    seen = Upgrade(site, previous, PLAN).run()
    _check(seen, previous)
    assert seen.events > 3 * PLAN.events
