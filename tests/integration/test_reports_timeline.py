"""What followed what, by event time, of one scope of one tenant (I8, I9)."""

from uuid import UUID

import pytest
from sqlalchemy import Engine

from slowwave_server.domain.similarity import read
from slowwave_server.domain.triples import triples
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.memories.triples import store_triples
from slowwave_server.services.reports.timeline import Value, changed_relations, values_of
from tests.support.passing import Past, day

pytestmark = pytest.mark.servers


def say(past: Past, content: str, at: float) -> UUID:
    memory = past.say(content, at=day(at))
    with past.run(at=day(at)) as run:
        store_triples(run.connection, past.scope_id, {memory: triples(read(content))}, run_id=run.id, now=day(at))
    return memory


@pytest.fixture
def past(engine: Engine) -> Past:
    """Maya works at Initech, then at Globex; in another tenant somebody of that name always worked at Umbrella."""
    past, other = Past(engine), Past(engine, tenant="other")
    old, new = say(past, "Maya works at Initech", 0), say(past, "Maya works at Globex", 10)
    with past.run(at=day(20)) as run:
        run.supersede(old, new, day(10))
    first, second = say(other, "Maya works at Umbrella", 0), say(other, "Maya works at Hooli", 3)
    with other.run(at=day(20)) as run:
        run.supersede(first, second, day(3))
    return past


def values(past: Past, subject: str = "maya", **more: int) -> list[Value]:
    with past.engine.connect() as connection:
        (changed,) = changed_relations(connection, past.tenant, past.agent)
        assert (changed.subject, changed.ended, changed.changed_at) == ("Maya", 1, day(10))
        return values_of(connection, past.tenant, past.agent, subject, changed.predicate, **more)


def test_i9_values_stand_in_the_order_of_when_they_held_with_what_replaced_them(past: Past) -> None:
    first, second = values(past)
    assert (first.value, first.valid_from, first.valid_to, first.superseded_by) == (
        "Initech", day(0), day(10), second.memory,
    )  # fmt: skip
    assert (second.value, second.valid_to, second.superseded_by) == ("Globex", None, None)
    assert [value.value for value in values(past, limit=1)] == ["Globex"]
    assert values(past, "nobody") == []


def test_what_was_archived_or_waits_in_review_is_no_value(past: Past) -> None:
    late = say(past, "Maya works at Vandelay", 30)
    with past.run(at=day(31)) as run:
        run.set(late, "rejected", status="archived", archive_reason="rejected")
    assert [value.value for value in values(past)] == ["Initech", "Globex"]


def test_a_scope_to_which_nothing_was_written_has_no_timeline(past: Past) -> None:
    with past.engine.connect() as connection:
        assert changed_relations(connection, past.tenant, past.agent, scope=("room", "lobby")) == []
        with pytest.raises(UnknownName):
            changed_relations(connection, past.tenant, "nobody")
