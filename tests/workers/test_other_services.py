"""Callers that know a broker or an HTTP address and no Slowwave: what they may send, and what becomes of it."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from celery import Celery
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.coordination.queue_messages import envelope, new_id, publish
from slowwave_server.services.dead_letters.redrive import redrive
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.processes import wait_until
from tests.workers.effects import rows, until_flushed, value
from tests.workers.fleet import PLAIN_APP, Fleet, Program
from tests.workers.servers import OwnValkey

pytestmark = [pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(180)]

RECORD = "slowwave.record_turn"
CREDENTIALS = "jonas:a-password"
SAID = """
    SELECT e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id
    JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent ORDER BY s.name, e.seq
"""
LETTERS = (
    "SELECT id, task, payload, error, state FROM slowwave.dead_letters WHERE payload ->> 'agent' = :agent ORDER BY id"
)
INVALIDATED = """
    SELECT s.invalidated_by FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.name = :agent
"""


@pytest.fixture(scope="module")
def worker(fleet: Fleet) -> Program:
    """The worker as it is shipped, with long waits: only what is asked for here happens."""
    fleet.environment["SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS"] = "3600"
    return fleet.worker(app=PLAIN_APP)


@pytest.fixture(scope="module")
def foreign(own_valkey: OwnValkey) -> Iterator[Celery]:
    """A Celery app of somebody else: it has the broker's address and the names of tasks."""
    with Celery(broker=own_valkey.url, set_as_current=False) as app:
        yield app


def turn(agent: str, content: str, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "session": "s1", "messages": [{"role": "user", "content": content}], **more}


def said(look: Engine, agent: str) -> list[str]:
    return [row.content for row in rows(look, SAID, agent=agent)]


def until_said(look: Engine, agent: str, *lines: str) -> None:
    wait_until(lambda: said(look, agent) == list(lines), 20, f"{agent} has {lines}")


def until_all_is_taken(fleet: Fleet, valkey: OwnValkey, worker: Program) -> None:
    """Everything that was sent before has been taken: a turn sent now comes after it."""
    mark = new_id()
    publish(valkey.client, "capture", envelope(RECORD, [], turn("mark", mark), "capture", task_id=mark))
    worker.says(f"{RECORD}[{mark}] succeeded")


def test_a_turn_comes_in_from_any_celery_client_and_twice_adds_nothing(
    fleet: Fleet, worker: Program, foreign: Celery, look: Engine, own_valkey: OwnValkey
) -> None:
    for _ in range(2):  # the client was not sure that the first one had arrived
        foreign.send_task(
            RECORD, kwargs=turn("maya", "I moved to Lisbon."), queue="capture", task_id="one-and-the-same"
        )
    until_said(look, "maya", "I moved to Lisbon.")
    foreign.send_task(RECORD, args=["maya", "s1", [{"role": "user", "content": "Near the river."}]], queue="capture")
    until_said(look, "maya", "I moved to Lisbon.", "Near the river.")
    until_all_is_taken(fleet, own_valkey, worker)
    assert said(look, "maya") == ["I moved to Lisbon.", "Near the river."]


def test_a_prompt_from_any_celery_client_boosts_the_agents_other_sessions(
    worker: Program, foreign: Celery, look: Engine
) -> None:
    foreign.send_task(RECORD, kwargs=turn("priya", "I sing in a choir."), queue="capture")
    until_said(look, "priya", "I sing in a choir.")
    foreign.send_task("slowwave.prompt_arrived", kwargs={"agent": "priya", "session": "s2"}, queue="capture")
    until_flushed(look, 20, "priya")
    worker.says("flush priya/s1: stored (1, 1)")


def test_a_flush_without_a_ticket_asks_for_one(worker: Program, foreign: Celery, look: Engine, memory: Memory) -> None:
    memory.turn_completed("tomas", "s1", [{"role": "user", "content": "I keep bees."}])
    foreign.send_task("slowwave.flush_session", args=["default", "tomas", "s1"], queue="flush")
    until_flushed(look, 20, "tomas")
    worker.says("flush tomas/s1: stored (1, 1)")
    foreign.send_task(
        "slowwave.flush_session", kwargs={"agent": "tomas", "session": "s1", "ticket": "made-up"}, queue="flush"
    )
    worker.says("flush tomas/s1: stale")


def test_a_bad_payload_is_a_dead_letter_once_and_goes_in_when_it_is_mended_and_driven_again(
    fleet: Fleet, worker: Program, foreign: Celery, look: Engine, own_valkey: OwnValkey
) -> None:
    foreign.send_task(RECORD, kwargs=turn("amara", "I bake.") | {"session": 7}, queue="capture")
    wait_until(lambda: bool(rows(look, LETTERS, agent="amara")), 20, "the letter is there")
    until_all_is_taken(fleet, own_valkey, worker)
    (letter,) = rows(look, LETTERS, agent="amara")
    assert (letter.task, letter.state) == (RECORD, "open")
    assert "session" in letter.error
    assert own_valkey.client.llen("capture") == 0, "it is not tried again"
    with look.begin() as connection:
        connection.execute(
            text("UPDATE slowwave.dead_letters SET payload = payload || :mended WHERE id = :id"),
            {"mended": '{"session": "s1"}', "id": letter.id},
        )

    def send(task: str, payload: Any) -> None:
        publish(own_valkey.client, "capture", envelope(task, [], payload, "capture", task_id=new_id()))

    with look.connect() as connection:
        now = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        assert redrive(connection, "default", [letter.id], send=send, now=now) == ([letter.id], {})
    until_said(look, "amara", "I bake.")
    (letter,) = rows(look, LETTERS, agent="amara")
    assert letter.state == "redriven"


class Opens:
    """When unpickled, it makes a file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return open, (self._path, "w")


def test_a_pickle_is_refused_and_not_opened(
    fleet: Fleet, worker: Program, foreign: Celery, own_valkey: OwnValkey, tmp_path: Path
) -> None:
    bait = tmp_path / "opened"
    foreign.send_task(RECORD, kwargs={"agent": Opens(str(bait))}, queue="capture", serializer="pickle")
    worker.says("Refusing to deserialize")
    until_all_is_taken(fleet, own_valkey, worker)
    assert not bait.exists()


@pytest.mark.parametrize(
    "raw",
    [
        envelope("slowwave.of_tomorrow", [], {}, "capture", task_id="of-tomorrow"),
        envelope(RECORD, [], {}, "capture", task_id="cut").replace('"body": "', '"body": "{['),
        envelope(RECORD, [], {}, "capture", task_id="64").replace(
            '"reply_to"', '"body_encoding": "base64", "reply_to"'
        ),
        json.dumps({"properties": {"delivery_tag": "x"}, "body": "[]"}),
        json.dumps({"what": "is this"}),
        "7",
        "[" * 100_000,
        "no JSON at all",
        "\x80\xff",
    ],
    ids=[
        "unknown task",
        "malformed body",
        "no base64",
        "no delivery",
        "no envelope",
        "number",
        "deep",
        "no JSON",
        "no UTF-8",
    ],
)
def test_mistake_30_a_message_that_makes_no_sense_does_not_stop_a_worker(
    fleet: Fleet, worker: Program, own_valkey: OwnValkey, raw: str
) -> None:
    own_valkey.client.lpush("capture", raw.encode("latin-1"))
    until_all_is_taken(fleet, own_valkey, worker)
    assert worker.exit_code is None
    assert "Connection to broker lost" not in worker.log


@pytest.fixture(scope="module")
def flower(fleet: Fleet, worker: Program, folder: Path) -> str:
    """Flower's address, with a password."""
    port = settle_ports(folder / "ports.json", {"flower": 0})["flower"]
    fleet.flower(port, CREDENTIALS)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: http(f"{url}/healthcheck")[0] == 200, 40, "Flower answers")
    worker.says("Events of group {task} enabled by remote.")  # none were sent before: nobody listened

    def heard() -> Any:
        """The workers of which Flower has received an event. It may ask for events before it listens."""
        _, answer = http(f"{url}/workers?json=1", credentials=CREDENTIALS)
        return (answer or {}).get("data")

    wait_until(heard, 40, "Flower hears the worker")
    return url


def http(url: str, body: Any = None, credentials: str | None = None) -> tuple[int, Any]:
    """GET, or POST of JSON; answers the status (0: nobody answers) and the JSON of the answer."""
    address = urlsplit(url)
    headers = {} if credentials is None else {"Authorization": f"Basic {b64encode(credentials.encode()).decode()}"}
    data = None if body is None else json.dumps(body)
    try:
        with closing(HTTPConnection(address.netloc, timeout=10)) as connection:
            connection.request("GET" if body is None else "POST", f"{address.path}?{address.query}", data, headers)
            answer = connection.getresponse()
            content = answer.read()
    except OSError:
        return 0, None
    return answer.status, json.loads(content) if content.startswith(b"{") else None


def test_a_turn_comes_in_by_http_with_a_password_and_not_without(flower: str, look: Engine) -> None:
    url = f"{flower}/api/task/send-task/{RECORD}"
    body = {"kwargs": turn("ines", "I row on Sundays.", key="a-key"), "queue": "capture"}
    assert http(url, body)[0] == 401
    assert http(url, body, "jonas:a-guess")[0] == 401
    for _ in range(2):
        status, answer = http(url, body, CREDENTIALS)
        assert status == 200
        assert answer["task-id"]
    until_said(look, "ines", "I row on Sundays.")
    prompt = {"kwargs": {"agent": "ines", "session": "s2"}}
    assert http(f"{flower}/api/task/send-task/slowwave.prompt_arrived", prompt, CREDENTIALS)[0] == 200
    until_flushed(look, 20, "ines")
    assert said(look, "ines") == ["I row on Sundays."]


NAMES = "{agent, key, messages, session}"


def test_monitors_show_no_text_of_any_sender(flower: str, memory: Memory, look: Engine, own_valkey: OwnValkey) -> None:
    told = "I never told anyone about the lighthouse."
    task_id = new_id()
    publish(own_valkey.client, "capture", envelope(RECORD, [], turn("noor", told), "capture", task_id=task_id))
    until_said(look, "noor", told)
    by_http = {"kwargs": turn("noor", "It was red.", key="noor-key"), "queue": "capture"}
    assert http(f"{flower}/api/task/send-task/{RECORD}", by_http, CREDENTIALS)[0] == 200
    until_said(look, "noor", told, "It was red.")
    memory.session_idle("noor", "s1")
    until_flushed(look, 20, "noor")

    def seen() -> list[dict[str, Any]]:
        _, tasks = http(f"{flower}/api/tasks?limit=500", credentials=CREDENTIALS)
        return list((tasks or {}).values())

    wait_until(lambda: any("noor" in str(task["args"]) for task in seen()), 20, "Flower has seen the flush")
    wait_until(lambda: any(task["kwargs"] == NAMES for task in seen()), 20, "Flower has seen what it sent")
    (flush,) = (task for task in seen() if "noor" in str(task["args"]))
    assert flush["name"] == "slowwave.flush_session"
    assert json.loads(flush["args"])[:3] == ["default", "noor", "s1"]
    assert any(task["uuid"] == task_id for task in seen())
    assert "lighthouse" not in json.dumps(seen())
    assert "It was red" not in json.dumps(seen())


def test_a_worker_on_another_schema_refuses_to_start_and_says_what_to_run(
    fleet: Fleet, database_url: str, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE slowwave.alembic_version SET version_num = '0100'")
    stranger = fleet.worker(app=PLAIN_APP, ready=False, SLOWWAVE_DATABASE_URL=database_url)
    assert stranger.wait(40) != 0
    assert "slowwave admin migrate" in stranger.log
    assert value(engine, "SELECT count(*) FROM slowwave.agents") == 0
