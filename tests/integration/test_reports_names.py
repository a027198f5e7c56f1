"""Names that are not known name the nearest ones, and never those of another tenant (I8)."""

import pytest
from sqlalchemy import Engine

from slowwave_server.services.lookup import UnknownName, find_agent, find_scope, find_session
from tests.support.installation import Installation

pytestmark = pytest.mark.servers


@pytest.fixture
def installation(engine: Engine) -> Installation:
    made = Installation(engine)
    agent = made.agent("Concierge")
    made.session(agent, made.scope("Concierge"), "monday-morning", ("Maya", "Good morning."))
    made.agent("Consultant", tenant="other")
    return made


def test_an_unknown_agent_names_the_nearest_of_its_own_tenant(installation: Installation) -> None:
    with installation.engine.connect() as connection, pytest.raises(UnknownName) as caught:
        find_agent(connection, "default", "concierg")
    assert caught.value.nearest == ("Concierge",)
    assert str(caught.value) == "no agent 'concierg' in tenant 'default'; did you mean 'Concierge'?"


def test_i8_the_nearest_name_of_another_tenant_is_not_told(installation: Installation) -> None:
    with installation.engine.connect() as connection, pytest.raises(UnknownName) as caught:
        find_agent(connection, "default", "Consultant")
    assert "Consultant" not in caught.value.nearest
    with installation.engine.connect() as connection, pytest.raises(UnknownName, match="there is none yet"):
        find_agent(connection, "nobody", "Concierge")


def test_an_unknown_session_names_the_nearest_of_its_agent(installation: Installation) -> None:
    with installation.engine.connect() as connection:
        agent = find_agent(connection, "default", "Concierge")
        assert find_session(connection, "default", "Concierge", "monday-morning").agent_id == agent
        with pytest.raises(UnknownName, match="did you mean 'monday-morning'"):
            find_session(connection, "default", "Concierge", "monday_mornin")


@pytest.mark.parametrize("name", ["'; DROP TABLE slowwave.agents; --", "%", "%s", "{}", "\\", "é" * 200])
def test_hostile_names_are_just_names(installation: Installation, name: str) -> None:
    with installation.engine.connect() as connection:
        with pytest.raises(UnknownName):
            find_agent(connection, "default", name)
        assert find_scope(connection, "default", "room", name) is None
        assert find_agent(connection, "default", "Concierge") > 0
