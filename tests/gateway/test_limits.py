"""Limits of keys and tenants: counted in Redis, by key, whatever address a request comes from."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.gateway.conftest import Doors, open_doors
from tests.gateway.test_record import TURN

SEARCH = "/v1/agents/a/search"
BODY = {"query": "Lisbon"}


@pytest.fixture
def limited(database_url: str, valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Doors]:
    """A gateway that answers three requests of a key at once, and five of a tenant; a day has four events."""
    yield from open_doors(
        database_url,
        valkey_url,
        tmp_path,
        requests_per_second=0.01,
        burst=3,
        tenant_requests_per_second=0.01,
        tenant_burst=5,
        tenant_events_per_day=4,
    )


def test_key_over_its_limit_is_told_when_to_ask_again(limited: Doors) -> None:
    key = limited.key()
    left = [limited.post(SEARCH, BODY, key=key).headers["RateLimit-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    refused = limited.post(SEARCH, BODY, key=key, headers={"X-Forwarded-For": "203.0.113.7"})
    assert (refused.status_code, refused.json()["type"]) == (429, "/problems/too-many-requests")
    assert 90 <= int(refused.headers["Retry-After"]) <= 100
    assert refused.headers["RateLimit-Limit"] == "3"


def test_tenant_over_its_limit_holds_for_all_its_keys(limited: Doors) -> None:
    first, second = limited.key(), limited.key()
    codes = [limited.post(SEARCH, BODY, key=key).status_code for key in [first] * 3 + [second] * 3]
    assert codes == [200] * 5 + [429]
    assert limited.post(SEARCH, BODY, key=limited.key("globex")).status_code == 200


def test_wrong_requests_count_too(limited: Doors) -> None:
    key = limited.key()
    codes = [limited.post(SEARCH, {"nonsense": 1}, key=key).status_code for _ in range(4)]
    assert codes == [422] * 3 + [429]


def test_quota_of_events_ends_recording_for_the_day(limited: Doors) -> None:
    keys = [limited.key(), limited.key()]
    path = "/v1/agents/a/sessions/s/turns"
    assert [limited.post(path, TURN, key=keys[0]).status_code for _ in range(2)] == [200, 200]
    refused = limited.post(path, TURN, key=keys[1])
    assert (refused.status_code, refused.json()["type"]) == (429, "/problems/quota-used")
    assert 0 < int(refused.headers["Retry-After"]) <= 86_400


def test_requests_go_on_while_redis_is_away(database_url: str, tmp_path: Path, redis_client: redis.Redis) -> None:
    for doors in open_doors(database_url, "redis://127.0.0.1:1/0", tmp_path, requests_per_second=1, burst=1):
        assert [doors.post(SEARCH, BODY).status_code for _ in range(3)] == [200] * 3


def test_requests_count_after_redis_closed_connections(limited: Doors, redis_client: redis.Redis) -> None:
    """The gateway keeps its connections to Redis: one that broke is replaced within the request."""
    key = limited.key()
    assert limited.post(SEARCH, BODY, key=key).headers["RateLimit-Remaining"] == "2"
    redis_client.script_flush()
    redis_client.client_kill_filter(_type="normal", skipme=True)
    assert limited.post(SEARCH, BODY, key=key).headers["RateLimit-Remaining"] == "1"
    assert limited.post(SEARCH, BODY, key=key).headers["RateLimit-Remaining"] == "0"
