"""The commit of a flush: when it waits for the disk, and by which plans it reads."""

import pytest
from sqlalchemy import Engine, text

pytestmark = pytest.mark.servers

_NOTHING = text(
    "SELECT committed FROM slowwave.commit_extraction(0, 1, 1, NULL, 'stored', 'rules', '1', 1, '[]', '[]', 0, 0, NULL,"
    " NULL, 1, 1, now(), now(), 0, NULL, NULL, NULL, 1, NULL)"
)
_WAITS = text("SELECT current_setting('synchronous_commit'), current_setting('plan_cache_mode')")


@pytest.mark.parametrize(("backend", "waits"), [(None, "off"), ("file", "on"), ("mem0", "on")])
def test_only_with_a_backend_a_commit_waits_for_the_disk(engine: Engine, backend: str | None, waits: str) -> None:
    with engine.connect() as connection:
        if backend is not None:
            connection.execute(text("INSERT INTO slowwave.memory_backends (name) VALUES (:name)"), {"name": backend})
        assert connection.execute(_NOTHING).scalar_one() is False
        assert tuple(connection.execute(_WAITS).one()) == (waits, "auto")
        connection.rollback()
        assert tuple(connection.execute(_WAITS).one()) == ("on", "auto")
