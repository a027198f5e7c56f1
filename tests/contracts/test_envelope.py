"""What we write into a queue is what Celery writes, and what Celery reads.

Celery's own code is the judge: its producer for the shape, a kombu consumer and its request class for the rest.
"""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from kombu import Connection, Queue
from redis import Redis

from slowwave.coordination.flush_queue import FlushQueue
from slowwave.coordination.keys import HIGH_QUEUE, NORMAL_QUEUE, QUEUES
from slowwave.coordination.queue_messages import FLUSH_TASK, envelope, new_id, publish
from slowwave.identity import SessionRef

celery_request: Any = importlib.import_module("celery.worker.request")  # its stubs lack what a worker calls

pytestmark = pytest.mark.servers

HOSTILE = [
    SessionRef("default", "Maya", "breakfast"),
    SessionRef("t}{/%", 'a"b\\c', '@BODY@ "@ID@" %1 %% \''),
    SessionRef("Ærø", "日本 🦊", "</script>\u2028{}[]"),
]


@pytest.fixture
def app(valkey_url: str, redis_client: Redis) -> Iterator[Celery]:
    app = Celery("contract", broker=valkey_url, set_as_current=False)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_create_missing_queues=False,
        task_queues=[Queue(name) for name in QUEUES],
        task_default_queue=NORMAL_QUEUE,
    )

    # Stand-ins with the names of the real tasks, which every app in this process gets once they were imported.
    for name in (FLUSH_TASK, "slowwave.sweep_sessions"):
        app.tasks.pop(name, None)

    @app.task(name=FLUSH_TASK, shared=False)
    def flush(tenant: str, agent: str, session: str, ticket: str) -> list[str]:
        return [tenant, agent, session, ticket]

    @app.task(name="slowwave.sweep_sessions", shared=False)
    def sweep(word: str, *, limit: int) -> list[object]:
        return [word, limit]

    yield app
    app.close()


def consumed(app: Celery, queue: str) -> Any:
    with app.connection() as connection:
        simple = connection.SimpleQueue(queue)
        message = simple.get(timeout=5)
        message.ack()
        simple.close()
    return message


def popped(redis: Redis) -> Any:
    raw = redis.rpop(NORMAL_QUEUE)
    assert isinstance(raw, bytes)
    return json.loads(raw)


def request_of(app: Celery, message: Any) -> Any:
    """Read a message as a worker's consumer does, before it hands it to a pool."""
    return celery_request.Request(
        message,
        body=message.payload,
        headers=message.headers,
        decoded=True,
        utc=True,
        app=app,
        on_ack=lambda *_: None,
        on_reject=lambda *_: None,
    )


@pytest.mark.parametrize("ref", HOSTILE)
def test_a_worker_runs_an_offered_flush(app: Celery, redis_client: Redis, ref: SessionRef) -> None:
    FlushQueue(redis_client).offer(ref, "high")
    request = request_of(app, consumed(app, HIGH_QUEUE))
    assert request.name == FLUSH_TASK
    tenant, agent, session, ticket = request.execute()
    assert SessionRef(tenant, agent, session) == ref
    assert ticket == request.id == request.root_id
    assert request.eta is None
    assert json.loads(request.argsrepr) == [tenant, agent, session, ticket]  # monitors show agent and session
    assert not request.ignore_result


def test_a_worker_runs_a_published_task(app: Celery, redis_client: Redis) -> None:
    task_id = new_id()
    publish(
        redis_client,
        "maintenance",
        envelope("slowwave.sweep_sessions", ["é"], {"limit": 5}, "maintenance", task_id=task_id),
    )
    request = request_of(app, consumed(app, "maintenance"))
    assert (request.id, request.name) == (task_id, "slowwave.sweep_sessions")
    assert request.execute() == ["é", 5]


def test_monitors_see_the_names_of_keyword_arguments_and_not_their_text() -> None:
    message = envelope("slowwave.remember", ["Maya"], {"content": "the door code is 4711"}, "capture", task_id="x")
    headers = json.loads(message)["headers"]
    assert headers["argsrepr"] == '["Maya"]'
    assert headers["kwargsrepr"] == "{content}"


def test_every_key_of_our_messages_is_one_that_celery_writes(app: Celery, redis_client: Redis) -> None:
    ref = HOSTILE[0]
    app.send_task(FLUSH_TASK, [ref.tenant, ref.agent, ref.session, "t"], queue=NORMAL_QUEUE, ignore_result=False)
    theirs = popped(redis_client)
    FlushQueue(redis_client).offer(ref, "normal")
    offered = popped(redis_client)
    ours = json.loads(envelope(FLUSH_TASK, [ref.tenant, ref.agent, ref.session, "t"], {}, NORMAL_QUEUE, task_id="t"))
    for message in (ours, offered):
        assert message.keys() == theirs.keys()
        assert message["headers"].keys() == theirs["headers"].keys()
        # Plain text instead of base64, so no word of the encoding.
        assert message["properties"].keys() == theirs["properties"].keys() - {"body_encoding"}
        assert message["properties"]["delivery_info"].keys() == theirs["properties"]["delivery_info"].keys()
        for part in ("content-type", "content-encoding"):
            assert message[part] == theirs[part]
        same = theirs["headers"].keys() - {"id", "root_id", "argsrepr", "origin"}
        assert {key: message["headers"][key] for key in same} == {key: theirs["headers"][key] for key in same}
    as_v2 = app.amqp.as_task_v2("t", FLUSH_TASK, (ref.tenant, ref.agent, ref.session, "t"))
    assert as_v2.headers.keys() == ours["headers"].keys()
    assert json.loads(ours["body"]) == json.loads(json.dumps(as_v2.body))


def test_a_message_handed_back_returns_to_its_own_queue(valkey_url: str, redis_client: Redis) -> None:
    """A worker that stops gives its messages back; without an exchange they need no binding to find home."""
    FlushQueue(redis_client).offer(HOSTILE[0], "high")
    before = redis_client.lindex(HIGH_QUEUE, 0)
    with Connection(valkey_url) as connection:
        simple = connection.SimpleQueue(HIGH_QUEUE)
        simple.get(timeout=5).requeue()
        assert redis_client.llen(HIGH_QUEUE) == 1
        again = simple.get(timeout=5)
        again.ack()
        simple.close()
    assert json.loads(before or b"")["body"].encode() == again.body
    assert redis_client.llen(HIGH_QUEUE) == 0
