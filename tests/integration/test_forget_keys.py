"""A forget deletes every key of the broker that names the agent; a new word in a key needs a decision here."""

from collections.abc import Mapping
from datetime import date

import pytest
from redis import Redis

from slowwave.coordination.keys import OUR_KINDS, agent_keys, consolidation_key, day_key, files_key
from slowwave_server.services.forget.broker import take_keys
from slowwave_server.services.forget.forgotten import Forgotten

pytestmark = pytest.mark.servers

NAME_AN_AGENT = {"AGENT", "SCOPE"}
NAME_NO_AGENT = {"TENANT", "SESSION", "PRIORITY", "MODE", "DAY", "ENDPOINT", "MESSAGE", "BY", "NAME", "DIGEST"}


def keys_of(agent: str) -> Mapping[str, str]:
    """A key of each kind that names the agent, by the kind's name."""
    keys = agent_keys("default", agent)
    return {
        "session": keys.session_prefix.decode() + "monday",
        "running": keys.running.decode(),
        "waiting": keys.waiting.decode(),
        "queued": keys.queued_normal.decode(),
        "pass": consolidation_key("light", "default", "agent", agent),
        "day": day_key("default", agent, None, date(2026, 3, 5)),
        "files": files_key("default", "agent", agent),
    }


def test_each_kind_of_key_names_an_agent_or_does_not() -> None:
    assert frozenset().union(*(kind.words for kind in OUR_KINDS)) == NAME_AN_AGENT | NAME_NO_AGENT
    assert {kind.name for kind in OUR_KINDS if kind.words & NAME_AN_AGENT} == set(keys_of("maya"))


def test_a_forget_deletes_the_keys_of_its_agent_alone(redis_client: Redis) -> None:
    gone, kept = keys_of("maya"), keys_of("mayan")
    for key in (*gone.values(), *kept.values()):
        redis_client.set(key, "x")
    take_keys(redis_client, Forgotten("default", agent="maya"))
    assert [kind for kind, key in gone.items() if redis_client.exists(key)] == []
    assert all(redis_client.exists(key) for key in kept.values())
