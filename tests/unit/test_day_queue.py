"""What may be asked of days, and the keys under which an ask is one."""

import json
from datetime import date
from itertools import product
from typing import Any

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slowwave.coordination.keys import (
    ASKED_SECONDS,
    DAYS_QUEUE,
    FINALIZE_DEBOUNCE_SECONDS,
    FINALIZE_KEY,
    PREFIX,
    day_key,
)
from slowwave.errors import InvalidMessage, InvalidName, SlowwaveError
from slowwave.messages import FINALIZE_DAYS, SUMMARIZE_DAY
from slowwave_server.services.days.day_queue import ask_for_finalize, ask_for_summary, begin_summary
from slowwave_server.services.forget.broker import take_keys
from slowwave_server.services.forget.forgotten import Forgotten
from slowwave_server.services.task_payloads import SummarizeDay, day_of

DAY = date(2026, 3, 5)
NAMES = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=12)


@given(NAMES, NAMES, st.none() | NAMES.map("room:{}".format), st.dates())
def test_the_key_of_a_day_holds_all_that_tells_days_apart(
    tenant: str, agent: str, scope: str | None, day: date
) -> None:
    """I8: percent-encoded parts with bare separators can be read back, so two days never share a key."""
    key = day_key(tenant, agent, scope, day)
    assert key.isascii()
    prefix, of, where = key.split(":", 2)
    who_tenant, who_agent, place, which = where.split("/")
    assert (prefix, of, which) == ("slowwave", "day", day.isoformat())
    assert not set(who_tenant + who_agent + place.partition(":")[2]) & set(":/{} ")


def test_days_that_differ_in_one_thing_have_different_keys() -> None:
    ways = product(("t", "t/a"), ("a", "a:b", "a/room:x"), (None, "room:a", "team:a"), (DAY, date(2026, 3, 6)))
    keys = [day_key(tenant, agent, scope, day) for tenant, agent, scope, day in ways]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("agent", "scope"), [("", None), ("a\nb", None), ("a", "kitchen"), ("a", "room:")])
def test_a_key_of_something_that_has_no_name_is_refused(agent: str, scope: str | None) -> None:
    with pytest.raises(InvalidName):
        day_key("default", agent, scope, DAY)


@pytest.mark.parametrize(
    "value",
    ["2026-3-5", "2026-02-30", "20260305", "2026-03-05T10:00", "today", "", 20260305, 1772668800, None, "0001-01-01"],
)
def test_what_is_no_day_is_refused_in_a_sentence(value: Any) -> None:
    with pytest.raises(InvalidMessage, match=r"(day must be written like 2026-03-05|must be from 1900 to 2999)"):
        day_of(value)


def test_a_payload_names_an_agent_and_a_day() -> None:
    asked = SummarizeDay.model_validate({"agent": "atlas", "day": "2026-03-05"})
    assert (asked.day, asked.scope, asked.final, asked.tenant) == (DAY, None, False, None)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"agent": "atlas"},
        {"agent": "atlas", "day": "yesterday"},
        {"agent": "a\nb", "day": "2026-03-05"},
        {"agent": "atlas", "day": "2026-03-05", "scope": "kitchen"},
        {"agent": "atlas", "day": "2026-03-05", "tenant": ""},
        {"agent": "atlas", "day": "2026-03-05", "until": "now"},
    ],
)
def test_a_payload_that_breaks_a_rule_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, SlowwaveError)):
        SummarizeDay.model_validate(payload)


def message_of(client: redis.Redis) -> tuple[list[Any], str]:
    """The arguments and the task of the oldest message in the queue, which is taken."""
    raw = client.rpop(DAYS_QUEUE)
    assert isinstance(raw, bytes)
    message = json.loads(raw)
    arguments, _, _ = json.loads(message["body"])
    return arguments, message["headers"]["task"]


@pytest.mark.servers
def test_thirty_asks_for_a_summary_are_one_message_until_it_begins(redis_client: redis.Redis) -> None:
    asked = [ask_for_summary(redis_client, "default", "atlas", None, DAY) for _ in range(30)]
    assert (sum(asked), redis_client.llen(DAYS_QUEUE)) == (1, 1)
    arguments, task = message_of(redis_client)
    payload = SummarizeDay.model_validate(dict(zip(SummarizeDay.model_fields, arguments, strict=True)))
    assert (task, payload.agent, payload.day, payload.final) == (SUMMARIZE_DAY, "atlas", DAY, True)
    for other in ("somebody else's", "\ud800"):  # what a message of anybody's may carry
        begin_summary(redis_client, "default", "atlas", None, DAY, other)
    assert not ask_for_summary(redis_client, "default", "atlas", None, DAY)
    begin_summary(redis_client, "default", "atlas", None, DAY, payload.ticket or "")
    assert ask_for_summary(redis_client, "default", "atlas", None, DAY), "it may have read before this came"


@pytest.mark.servers
def test_a_summary_on_its_way_swallows_none_of_another_day(redis_client: redis.Redis) -> None:
    assert ask_for_summary(redis_client, "default", "atlas", None, DAY)
    assert ask_for_summary(redis_client, "default", "atlas", "room:office", DAY)
    assert ask_for_summary(redis_client, "acme", "atlas", None, DAY)
    assert ask_for_summary(redis_client, "default", "atlas", None, date(2026, 3, 6))
    keys = list(redis_client.scan_iter(f"{PREFIX}day:*"))
    assert len(keys) == redis_client.llen(DAYS_QUEUE) == 4
    assert all(0 < redis_client.ttl(key) <= ASKED_SECONDS for key in keys), "a lost message blocks nothing for ever"


@pytest.mark.servers
def test_i10_what_is_forgotten_leaves_no_ticket_of_its_days(redis_client: redis.Redis) -> None:
    ways = [("atlas", None), ("atlas", "room:office"), ("helper", "room:office"), ("helper", None), ("atlas/x", None)]
    for agent, scope in ways:
        assert ask_for_summary(redis_client, "default", agent, scope, DAY)
    left = {key.decode() for key in redis_client.scan_iter(f"{PREFIX}day:*")}
    for forgotten, some in (
        (Forgotten("default", agent="atlas"), ways[:2]),
        (Forgotten("default", scope="room:office"), ways[2:3]),
    ):
        assert take_keys(redis_client, forgotten) == len(some)
        left -= {day_key("default", agent, scope, DAY) for agent, scope in some}
        assert {key.decode() for key in redis_client.scan_iter(f"{PREFIX}day:*")} == left


@pytest.mark.servers
def test_sweeps_over_ended_days_are_debounced(redis_client: redis.Redis) -> None:
    assert [ask_for_finalize(redis_client) for _ in range(5)] == [True, False, False, False, False]
    assert message_of(redis_client) == ([], FINALIZE_DAYS)
    assert 0 < redis_client.ttl(FINALIZE_KEY) <= FINALIZE_DEBOUNCE_SECONDS
    redis_client.delete(FINALIZE_KEY)  # as its lifetime does
    assert ask_for_finalize(redis_client)
