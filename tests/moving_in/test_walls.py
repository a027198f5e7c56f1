"""Which logins may move something in: the owner and workers; a console's and a producer's login may not."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy.exc import ProgrammingError

from slowwave_server.services.moving_in.agent_export import export_agent
from slowwave_server.services.moving_in.agent_import import import_agent
from tests.moving_in.moving import KEPT, House
from tests.support.roles import deployed

pytestmark = pytest.mark.servers


def test_worker_may_and_others_may_not(house: House, database_url: str, tmp_path: Path) -> None:
    owner = house.engine
    with deployed(database_url) as deployment:
        house.engine = deployment.engine("worker")
        run = house.bring("zep", "graphiti_export.json").runs["ines"]
        assert house.count("memories") == 3
        export_agent(house.engine, "default", "ines", tmp_path / "ines.zip", now=datetime.now(UTC))
        with pytest.raises(ProgrammingError, match="permission denied"):
            import_agent(house.engine, "default", tmp_path / "ines.zip", name="b", by="test", now=datetime.now(UTC))
        house.undo(run)
        for part in ("acme desk", "acme app"):
            house.engine = deployment.engine(part)
            with pytest.raises(ProgrammingError, match="permission denied"):
                house.bring("zep", "graphiti_export.json")
    house.engine = owner
    assert house.counts() == dict.fromkeys(KEPT, 0)
