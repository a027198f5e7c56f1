"""The shell on real servers, as a person and as a script use it."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest
from redis import Redis

from slowwave.identity import SessionRef
from slowwave_server.models import DeadLetter
from slowwave_server.models.engine import make_engine
from tests.support.flushing import Scene
from tests.support.installation import Installation
from tests.support.shelling import Shell

pytestmark = pytest.mark.servers


class EventShell(Shell):
    """A shell with a folder for event files."""

    def __init__(self, database_url: str, valkey_url: str, folder: Path) -> None:
        super().__init__(database_url, valkey_url, folder)
        self.folder = folder

    def file(self, *lines: str | dict[str, Any]) -> Path:
        path = self.folder / "talk.jsonl"
        path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return path


class Drain(threading.Thread):
    """Flushes whatever is queued, as a worker would, until told to stop."""

    def __init__(self, scene: Scene, redis: Redis) -> None:
        super().__init__()
        self._scene, self._redis, self._stopped = scene, redis, threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.join()

    def run(self) -> None:
        while not self._stopped.is_set():
            taken = self._redis.brpop(["flush.high", "flush"], timeout=0.2)
            if taken is not None:
                tenant, agent, session, _ = json.loads(json.loads(taken[1])["body"])[0]
                self._scene.flusher.flush(SessionRef(tenant, agent, session))


def said(session: str, content: str, **more: Any) -> dict[str, Any]:
    return {"agent": "concierge", "session": session, "role": "user", "name": "Maya", "content": content} | more


@pytest.fixture
def shell(database_url: str, valkey_url: str, redis_client: Redis, tmp_path: Path) -> EventShell:
    return EventShell(database_url, valkey_url, tmp_path)


@pytest.fixture
def installation(database_url: str) -> Iterator[Installation]:
    engine = make_engine(database_url)
    yield Installation(engine)
    engine.dispose()


def test_a_file_goes_in_once_and_its_bad_lines_are_told(shell: EventShell) -> None:
    file = shell.file(said("monday", "I moved to Lisbon."), "no json", "", said("tuesday", "I have two cats."))
    first = shell("import", "events", str(file))
    assert first.exit_code == 1
    assert "3 lines: 2 added, 1 rejected; 2 sessions." in first.stdout
    assert "line 2: no JSON" in first.stderr
    rejects = Path(f"{file}.rejects.jsonl")
    assert [json.loads(line)["line"] for line in rejects.read_text().splitlines()] == ["no json"]

    shell.file(said("monday", "I moved to Lisbon."), said("tuesday", "I have two cats."))
    again = shell("import", "events", str(file))
    assert again.exit_code == 0
    assert "0 added, 2 recorded before" in again.stdout
    assert not rejects.exists()


def test_events_come_from_stdin_too(shell: EventShell) -> None:
    result = shell("import", "events", "-", "--json", stdin=json.dumps(said("monday", "I moved to Lisbon.")))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["added"] == 1
    assert shell("import", "events", str(shell.folder / "nothing")).exit_code == 2


def test_rejected_lines_are_their_users_alone(shell: EventShell) -> None:
    file = shell.file("no json")
    rejects, elsewhere = Path(f"{file}.rejects.jsonl"), shell.folder / "elsewhere"
    elsewhere.write_text("kept")
    rejects.symlink_to(elsewhere)
    assert shell("import", "events", str(file)).exit_code == 1
    assert (rejects.is_symlink(), elsewhere.read_text()) == (False, "kept")
    assert stat.S_IMODE(rejects.stat().st_mode) == 0o600
    rejects.chmod(0o644)
    assert shell("import", "events", str(file)).exit_code == 1
    assert stat.S_IMODE(rejects.stat().st_mode) == 0o600


def test_no_line_goes_round_the_tenant_of_the_command(shell: EventShell, scene: Scene) -> None:
    file = shell.file(said("monday", "I moved."), said("monday", "Me too.", tenant="globex"))
    result = shell("--tenant", "acme", "import", "events", str(file))
    assert result.exit_code == 1
    assert "line 2: tenant must be 'acme' and no other, got 'globex'" in result.stderr
    assert [row.tenant for row in scene.sql("SELECT DISTINCT tenant FROM slowwave.agents")] == ["acme"]


def test_ingest_reads_a_pipe_by_its_name(shell: EventShell) -> None:
    reading, writing = os.pipe()
    os.write(writing, json.dumps(said("monday", "I moved to Lisbon.")).encode() + b"\n")
    os.close(writing)
    try:
        result = shell("import", "events", f"/dev/fd/{reading}", "--json")
    finally:
        os.close(reading)
    assert (result.exit_code, json.loads(result.stdout)["added"]) == (0, 1)
    told = shell("import", "events", str(shell.folder))
    words = " ".join(told.stderr.replace("│", " ").split())
    assert (told.exit_code, "FILE must be a file, or - for standard input" in words) == (2, True)
    assert "is a folder" in words


def test_ingest_waits_until_all_of_it_is_memory(shell: EventShell, scene: Scene, redis_client: Redis) -> None:
    file = shell.file(*(said(f"s{n % 7}", f"Fact number {n}.") for n in range(60)))
    with Drain(scene, redis_client):
        result = shell("import", "events", str(file), "--wait", "--timeout", "60")
    assert result.exit_code == 0, result.output
    assert "60 added; 7 sessions, all processed." in result.stdout
    assert len(scene.memories()) == 60
    assert shell.json("status", exit_code=1)["dirty_sessions"] == 0


def test_status_counts_events_in_languages_without_rules(shell: EventShell, scene: Scene, redis_client: Redis) -> None:
    polish = ("Mieszkam w Krakowie od trzech lat.", "Moja siostra prowadzi małą piekarnię w Toruniu.")
    file = shell.file(*(said("pl", line) for line in polish), said("en", "I moved to Lisbon."))
    with Drain(scene, redis_client):
        assert shell("import", "events", str(file), "--wait", "--timeout", "60").exit_code == 0
    assert shell.json("status", exit_code=1)["without_rules"] == {"Polish": 2}
    assert "2 events (Polish 2): searchable" in " ".join(shell("status").stdout.split())
    (hit,) = shell.json("search", "concierge", "Kto prowadzi piekarnię?")
    assert "piekarnię" in hit["content"]


def test_mistake_14_a_wait_that_ends_too_late_says_what_it_waited_for(shell: EventShell) -> None:
    result = shell("import", "events", str(shell.file(said("monday", "I moved."))), "--wait", "--timeout", "0")
    assert result.exit_code == 3
    assert "1 session not processed yet" in result.stderr
    assert "concierge monday: It is queued at normal priority, and no worker listens to 'flush'." in result.stderr


def test_an_interrupted_ingest_loses_and_doubles_nothing(shell: EventShell, scene: Scene) -> None:
    # A run in the background of a script ignores SIGINT, and its children inherit that.
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    command = [
        sys.executable,
        "-c",
        f"{heed}from slowwave_server.workers.cli import main; main()",
        "import",
        "events",
        "-",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | shell.variables,
    )  # fmt: skip
    lines = [json.dumps(said("monday", f"Fact number {n}.")) + "\n" for n in range(2500)]
    assert process.stdin is not None
    process.stdin.writelines(lines)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not scene.sql("SELECT 1 FROM slowwave.events LIMIT 1") and time.monotonic() < deadline:
        threading.Event().wait(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "run the same command again: recorded events are not repeated" in told
    assert "Traceback" not in told
    assert shell("import", "events", "-", stdin="".join(lines)).exit_code == 0
    (row,) = scene.sql("SELECT count(*) AS events, max(seq) AS last FROM slowwave.events")
    assert (row.events, row.last) == (2500, 2500)


def test_flush_asks_at_the_priority_that_is_wanted(shell: EventShell, redis_client: Redis) -> None:
    shell("import", "events", str(shell.file(said("monday", "I moved."), said("tuesday", "Two cats."))))
    assert "1 session queued for a flush." in shell("session", "flush", "concierge", "monday", "--high").stdout
    assert (redis_client.llen("flush.high"), redis_client.llen("flush")) == (1, 0)
    assert sorted(shell.json("session", "flush", "concierge")["asked"]) == ["monday", "tuesday"]
    assert (redis_client.llen("flush.high"), redis_client.llen("flush")) == (1, 1)
    assert "did you mean 'monday'" in shell("session", "flush", "concierge", "mondey").stderr


def test_what_was_said_is_searched_listed_and_explained(shell: EventShell, scene: Scene) -> None:
    shell(
        "import",
        "events",
        str(shell.file(said("monday", "My cat is named Plum."), said("tuesday", "It rains in Oslo."))),
    )
    shell("session", "flush", "concierge", "monday")
    scene.flusher.flush(SessionRef("default", "concierge", "monday"))

    hits = shell.json("search", "concierge", "cat named Plum")
    assert set(hits[0]) >= {"id", "kind", "content", "score", "status", "valid_from", "sources"}
    assert (hits[0]["content"], hits[0]["sources"]) == ("My cat is named Plum.", [["monday", 1]])
    explained = shell("search", "concierge", "cat named Plum", "--explain").stdout
    assert "My cat is named Plum." in explained
    assert "holds 100% of the question's words, 100% of its names; evidence 1.27, best hit 1.27" in explained
    assert "It rains in Oslo." in shell("context", "concierge", "--session", "monday").stdout
    assert shell.json("context", "concierge")["elsewhere"][0]["session"] == "tuesday"

    (memory,) = shell.json("memory", "list", "concierge", "--session", "monday")
    explained = shell.json("memory", "show", memory["id"])
    assert explained["signals"] == ["test"]
    assert explained["sources"][0]["content"] == "My cat is named Plum."
    scene.sql("SELECT slowwave.use_memories('default', 'concierge', ARRAY[CAST(:id AS uuid)], NULL)", id=memory["id"])
    told = shell("memory", "show", memory["id"]).stdout
    assert "shown in 0 conversations, used in 1 conversation: importance 0.50 → 0.50" in told
    assert "Maya:  My cat is named Plum." in told
    assert "created by flush" in told
    assert memory["id"] in shell("memory", "list", "concierge").stdout
    assert shell("memory", "show", "00000000-0000-0000-0000-000000000000").exit_code == 1


def test_i8_another_tenant_sees_nothing_of_it(shell: EventShell) -> None:
    shell("import", "events", str(shell.file(said("monday", "I moved to Lisbon."))))
    assert shell.json("--tenant", "acme", "status", exit_code=1)["dirty_sessions"] == 0
    for call in (
        ("session", "why", "concierge", "monday"),
        ("search", "concierge", "Lisbon"),
        ("memory", "list", "concierge"),
    ):
        result = shell("--tenant", "acme", *call)
        assert result.exit_code == 1
        assert "no agent 'concierge' in tenant 'acme'" in result.stderr


def test_why_says_what_a_session_waits_for(shell: EventShell) -> None:
    shell("import", "events", str(shell.file(said("monday", "I moved to Lisbon."))))
    assert "it has then been quiet for 2 min" in shell("session", "why", "concierge", "monday").stdout
    assert shell.json("session", "why", "concierge", "monday")["reason"] == "timer"


def test_mistake_16_a_quarantined_event_is_tried_again(shell: EventShell, installation: Installation) -> None:
    agent, scope = installation.agent("concierge"), installation.scope("concierge")
    session = installation.session(agent, scope, "monday", ("Maya", "I moved to Lisbon last week."), processed_until=1)
    installation.quarantine(session, 1, "the model was mad")
    assert "the model was mad" in shell("queue", "list").stdout
    assert shell("queue", "retry", "concierge").exit_code == 2
    shown = shell.json("queue", "show", "concierge/monday#1")
    assert (shown["kind"], shown["error"]) == ("event", "the model was mad")
    event = shell("queue", "dismiss", "concierge/monday#1")
    assert (event.exit_code, "only dead letters can be dismissed" in " ".join(event.stderr.split())) == (2, True)
    result = shell("queue", "retry", "concierge/monday#1")
    assert result.exit_code == 0, result.output
    assert "1 memory stored" in result.stdout
    assert shell.json("queue", "list") == []
    assert "Lisbon" in shell("memory", "list", "concierge").stdout
    gone = shell("queue", "retry", "concierge/monday#1")
    assert (gone.exit_code, "no quarantined event" in gone.stderr) == (1, True)


def test_an_event_is_found_by_names_with_slashes(shell: EventShell, installation: Installation) -> None:
    agent, scope = installation.agent("github.com/acme"), installation.scope("github.com/acme")
    said = ("Maya", "I moved to Lisbon last week.")
    installation.quarantine(
        installation.session(agent, scope, "a/b#c", said, processed_until=1), 1, "the model was mad"
    )
    (listed,) = shell.json("queue", "list")
    assert listed["id"] == "github.com/acme/a/b#c#1"
    assert "1 memory stored" in shell("queue", "retry", listed["id"]).stdout


def test_an_agent_is_shown_with_what_its_scope_holds(shell: EventShell) -> None:
    shell("import", "events", str(shell.file(said("monday", "I moved to Lisbon."))))
    shell("note", "add", "concierge", "Maya prefers trains.")
    shown = shell.json("agent", "show", "concierge")
    assert (shown["agent"]["name"], shown["agent"]["dirty"], shown["notes"], shown["questions"]) == (
        "concierge",
        1,
        1,
        0,
    )
    assert "1 note in working memory" in shell("agent", "show", "concierge").stdout
    assert shell("agent", "show", "conciergo").exit_code == 1


def test_a_redriven_letter_is_a_message_for_its_task(
    shell: EventShell, installation: Installation, redis_client: Redis
) -> None:
    turn = {"agent": "concierge", "session": "monday", "messages": [{"role": "user", "content": "Hello."}]}
    number = installation.letter("slowwave.record_turn", turn, "Postgres refused it")
    assert json.loads(shell("queue", "show", str(number), "--json").stdout)["payload"] == turn
    assert "1 dead letter sent again." in shell("queue", "retry", "--all").stdout
    (envelope,) = redis_client.lrange("capture", 0, -1)
    message = json.loads(envelope)
    assert message["headers"]["task"] == "slowwave.record_turn"
    assert json.loads(message["body"])[1] == turn
    assert "Hello." not in json.dumps(message["headers"]), "no conversation text in what monitors show"
    assert installation.value(DeadLetter.state, id=number) == "redriven"
    again = shell("queue", "dismiss", str(number))
    assert (again.exit_code, "no such open letter" in again.stderr) == (1, True)
    assert [letter["state"] for letter in shell.json("queue", "list", "--decided")] == ["redriven"]


def test_migrate_and_doctor_agree_on_the_schema(shell: EventShell) -> None:
    assert shell("admin", "migrate", "--check").exit_code == 0
    assert "which this version needs" in shell("admin", "migrate").stdout
    found = json.loads(shell("doctor", "--json").stdout)
    verdicts = {check["name"]: check["verdict"] for check in found["checks"]}
    assert (verdicts["postgres"], verdicts["schema"], verdicts["broker"]) == ("ok", "ok", "ok")
    assert (verdicts["workers"], verdicts["sweeps"], found["healthy"]) == ("problem", "problem", False)
    assert json.loads(shell("doctor", "--quick", "--json").stdout)["healthy"] is True


def test_a_broker_that_is_away_loses_no_request(shell: EventShell, scene: Scene) -> None:
    shell("import", "events", str(shell.file(said("monday", "I moved to Lisbon."))))
    result = shell("session", "flush", "concierge", SLOWWAVE_BROKER_URL="redis://:hidden-word@127.0.0.1:1/0")
    assert result.exit_code == 3
    assert result.stderr.startswith("slowwave: no connection to the broker at redis://:***@127.0.0.1:1/0: ")
    assert "nothing is lost" in result.stderr
    assert scene.session("monday").invalidated_by == "operator"
    assert scene.session("monday").flush_due_at <= scene.clock() + timedelta(seconds=5)
