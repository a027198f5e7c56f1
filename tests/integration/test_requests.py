"""Requests that a worker answers: each once, in the name of whoever asked, whatever is lost meanwhile (I3, I6, I10)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from redis import Redis
from sqlalchemy import Engine, text

from slowwave import Settings
from slowwave.coordination.request_queue import REQUEST_QUEUE, wake_request
from slowwave.messages import ANSWER_REQUEST
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.requests.store import (
    ATTEMPTS,
    KEPT_DAYS,
    Refused,
    Request,
    Unavailable,
    add_request,
    answer_request,
    overdue_requests,
    read_request,
    remove_old_requests,
)
from slowwave_server.workers.app import SlowwaveApp, make_app
from tests.support.reviewing import Dispute

pytestmark = pytest.mark.servers


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def app(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> Iterator[SlowwaveApp]:
    redis_client.ping()
    memory: Any = {"files": {"root": str(tmp_path / "memory")}}
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool", memory=memory)
    app = make_app(settings)
    app.loader.import_default_modules()
    yield app
    app.close_runtime()


@pytest.fixture
def dispute(engine: Engine) -> Dispute:
    return Dispute(engine)


def add(engine: Engine, kind: Any, **arguments: Any) -> UUID:
    with engine.begin() as connection:
        return add_request(connection, "default", kind, arguments)


def read(engine: Engine, request: UUID) -> Request:
    with engine.connect() as connection:
        return read_request(connection, "default", request)


def answer(app: SlowwaveApp, request: UUID) -> Any:
    return app.tasks[ANSWER_REQUEST].apply(args=[str(request)]).get()


def test_i10_a_forget_is_previewed_confirmed_and_done_by_a_worker(app: SlowwaveApp, dispute: Dispute) -> None:
    dispute.memory("Maya works at Acme.")
    preview = add(dispute.engine, "forget_preview", agent="maya")
    assert answer(app, preview) == "done"
    told = read(dispute.engine, preview).result
    assert told is not None
    assert (told["target"], told["confirm"], told["counts"]["memories"]) == ("agent 'maya'", "maya", 1)
    for confirm in (None, "may"):
        refused = add(dispute.engine, "forget", agent="maya", confirm=confirm)
        assert answer(app, refused) == "failed"
        assert read(dispute.engine, refused).result == {"problem": "invalid"}
    done = add(dispute.engine, "forget", agent="maya", confirm="maya")
    assert answer(app, done) == "done"
    assert dispute.sql("SELECT FROM slowwave.memories") == []
    result = read(dispute.engine, done).result
    receipt = dispute.sql("SELECT id, erased_by FROM slowwave.erasures")[0]
    assert result is not None
    assert (result["receipt"], receipt.erased_by) == (receipt.id, read(dispute.engine, done).by)


def test_i6_corrections_and_their_undo_are_runs_of_whoever_asked(app: SlowwaveApp, dispute: Dispute) -> None:
    memory = dispute.memory("Maya works at Acmee.")
    request = add(dispute.engine, "correct", memory=str(memory), content="Maya works at Acme.", reason="a typo")
    assert answer(app, request) == "done"
    corrected = read(dispute.engine, request)
    assert corrected.result is not None
    assert "content" not in corrected.arguments, "what somebody said stands in the memory alone"
    run = corrected.result["run"]
    (made,) = dispute.sql("SELECT started_by, summary FROM slowwave.maintenance_runs WHERE id = :run", run=run)
    assert (made.started_by, made.summary) == (corrected.by, "a memory in other words: a typo")
    undo = add(dispute.engine, "undo", run=run)
    assert answer(app, undo) == "done"
    assert dispute.status(memory) == ("inbox", None)
    again = add(dispute.engine, "undo", run=run)
    assert answer(app, again) == "failed"
    refused = read(dispute.engine, again)
    assert refused.result == {"problem": "conflict"}
    assert "was undone already" in (refused.error or "")
    archive = add(dispute.engine, "archive", memory=str(memory))
    assert answer(app, archive) == "done"
    assert dispute.status(memory) == ("archived", "removed by hand")


@pytest.mark.parametrize(
    ("kind", "arguments", "problem"),
    [
        ("undo", {"run": 987_654}, "not-found"),
        ("undo", {"run": "all"}, "invalid"),
        ("undo", {}, "invalid"),
        ("forget_preview", {"agent": "nobody"}, "not-found"),
        ("forget_preview", {"agent": "a", "scope": "room:b"}, "invalid"),
        ("forget_preview", {"session": "monday"}, "invalid"),
        ("forget_preview", {"scope": "kitchen"}, "invalid"),
        ("forget_preview", {"agent": "a\u0001b"}, "invalid"),
        ("correct", {"memory": str(uuid4()), "content": "New words."}, "not-found"),
        ("correct", {"memory": "first"}, "invalid"),
        ("archive", {"memory": str(uuid4()), "tenant": "acme"}, "invalid"),
    ],
)
def test_what_can_not_be_done_fails_with_a_sentence(
    app: SlowwaveApp, engine: Engine, kind: str, arguments: dict[str, Any], problem: str
) -> None:
    request = add(engine, kind, **arguments)
    assert answer(app, request) == "failed"
    found = read(engine, request)
    assert found.result == {"problem": problem}
    assert found.error
    assert found.finished_at is not None


def test_i8_a_request_is_carried_out_for_the_tenant_of_its_row(app: SlowwaveApp, dispute: Dispute) -> None:
    memory = dispute.memory("Maya works at Acme.")
    request = add(dispute.engine, "archive", memory=str(memory))
    dispute.sql("UPDATE slowwave.requests SET tenant = 'globex' WHERE id = :id", id=request)
    assert answer(app, request) == "failed"
    assert dispute.status(memory) == ("inbox", None)
    with dispute.engine.connect() as connection, pytest.raises(UnknownName):
        read_request(connection, "default", request)


def test_i3_a_lost_message_or_worker_costs_time_alone(app: SlowwaveApp, dispute: Dispute, redis_client: Redis) -> None:
    memory = dispute.memory("Maya works at Acme.")
    request = add(dispute.engine, "archive", memory=str(memory))
    app.tasks["slowwave.sweep_requests"].apply().get()
    assert redis_client.llen(REQUEST_QUEUE) == 0, "its message may be on the way"
    # A worker took it and died, which let go of its lock.
    old = "created_at = now() - interval '1 minute'"
    dispute.sql(f"UPDATE slowwave.requests SET state = 'running', attempts = 1, {old}")
    app.tasks["slowwave.sweep_requests"].apply().get()
    assert redis_client.llen(REQUEST_QUEUE) == 1
    assert answer(app, request) == "done"
    assert answer(app, request) is None, "a message too many changes nothing"
    app.tasks["slowwave.sweep_requests"].apply().get()
    assert redis_client.llen(REQUEST_QUEUE) == 1, "what was answered is not offered again"


def test_two_workers_never_carry_out_one_request(engine: Engine) -> None:
    request = add(engine, "undo", run=1)
    second: list[Any] = []

    def work(asked: Request) -> dict[str, Any]:
        second.append(answer_request(engine, request, lambda _: {"by": "the second"}, now))
        return {"by": "the first"}

    assert answer_request(engine, request, work, now) == "done"
    assert (second, read(engine, request).result) == ([None], {"by": "the first"})


def test_an_outage_is_waited_for_and_a_killer_given_up(engine: Engine) -> None:
    def away(_: Request) -> dict[str, Any]:
        raise Unavailable("Redis is away")

    request = add(engine, "undo", run=1)
    states = [answer_request(engine, request, away, now) for _ in range(ATTEMPTS)]
    assert states == ["waiting"] * (ATTEMPTS - 1) + ["failed"]
    assert read(engine, request).result == {"problem": "unavailable"}
    killer = add(engine, "undo", run=1)
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE slowwave.requests SET state = 'running', attempts = :n WHERE id = :id"),
            {"id": killer, "n": ATTEMPTS},
        )
    assert answer_request(engine, killer, lambda _: {}, now) == "failed"
    assert "each time its worker ended" in (read(engine, killer).error or "")


def test_an_unexpected_error_fails_the_request_and_is_raised(engine: Engine) -> None:
    def broken(_: Request) -> dict[str, Any]:
        raise ZeroDivisionError

    request = add(engine, "undo", run=1)
    with pytest.raises(ZeroDivisionError):
        answer_request(engine, request, broken, now)
    assert read(engine, request).result == {"problem": "internal"}


def test_a_refusal_says_its_own_sentence(engine: Engine) -> None:
    def refuse(_: Request) -> dict[str, Any]:
        raise Refused("conflict", "later runs depend on it")

    request = add(engine, "undo", run=1)
    assert answer_request(engine, request, refuse, now) == "failed"
    assert read(engine, request).error == "later runs depend on it"


def test_answered_requests_go_after_a_week_and_waiting_ones_stay(engine: Engine) -> None:
    answered, waiting = add(engine, "undo", run=1), add(engine, "undo", run=2)
    assert answer_request(engine, answered, lambda _: {}, now) == "done"
    late = now() + timedelta(days=KEPT_DAYS, seconds=1)
    assert remove_old_requests(engine, now=now()) == 0
    assert remove_old_requests(engine, now=late) == 1
    assert read(engine, waiting).state == "waiting"
    with engine.connect() as connection:
        assert overdue_requests(connection, late, limit=10) == [waiting]


def test_a_wake_up_names_the_row_and_nothing_else(redis_client: Redis) -> None:
    request = uuid4()
    wake_request(redis_client, request)
    (message,) = redis_client.lrange(REQUEST_QUEUE, 0, -1)
    assert ANSWER_REQUEST in message.decode()
    assert str(request) in message.decode()
