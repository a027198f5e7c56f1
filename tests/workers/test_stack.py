"""The whole stack as a process: ready, supervised, stopped without a trace, the same again at the next start."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from psycopg.errors import InsufficientPrivilege
from sqlalchemy.engine import make_url

from tests.support.processes import wait_until
from tests.workers.stack_process import PROGRAM, StackProcess, stack_process

pytestmark = [pytest.mark.long, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(240)]

PARTS = ("postgres", "valkey", "worker-fast", "worker-main", "beat", "flower", "gateway")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StackProcess]:
    """A stack that is ready, shared by the tests that only look at it or kill parts of it."""
    with stack_process(tmp_path_factory.mktemp("stack") / "data") as run:
        run.ready()
        yield run


def _status(url: str, credentials: str | None = None) -> int:
    """The HTTP status of a GET; credentials: "USER:PASSWORD"."""
    address = urlsplit(url)
    headers = {} if credentials is None else {"Authorization": f"Basic {b64encode(credentials.encode()).decode()}"}
    with closing(HTTPConnection(address.netloc, timeout=10)) as connection:
        connection.request("GET", address.path, headers=headers)
        return connection.getresponse().status


def _answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def _keep(url: str, word: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS public.kept (word text)")
        connection.execute("INSERT INTO public.kept VALUES (%s)", [word])


def _kept(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [word for (word,) in connection.execute("SELECT word FROM public.kept ORDER BY word")]


def _pids(run: StackProcess, command: str) -> set[int]:
    """The processes of this run whose command line holds `command`, guardians left out."""
    found = set()
    for pid in run.left():
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        if command in line and "guardian.py" not in line:
            found.add(pid)
    return found


def test_its_variables_connect_other_programs(running: StackProcess) -> None:
    variables = running.ready()
    assert sorted(variables) == [
        *("FLOWER_BASIC_AUTH", "FLOWER_URL", "SLOWWAVE_BROKER_URL", "SLOWWAVE_DATABASE_URL"),
        *("SLOWWAVE_MEMORY__FILES__ROOT", "SLOWWAVE_URL"),
    ]
    # Memory files of two stacks on one host must not meet.
    assert Path(variables["SLOWWAVE_MEMORY__FILES__ROOT"]) == running.data / "memory"
    with psycopg.connect(variables["SLOWWAVE_DATABASE_URL"]) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
        assert connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = user").fetchone() == (False,)
        assert connection.execute("SELECT to_regclass('slowwave.sessions') IS NULL").fetchone() == (False,)
    broker = redis.Redis.from_url(variables["SLOWWAVE_BROKER_URL"])
    assert broker.config_get("appendonly")["appendonly"] == "yes"
    assert broker.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
    broker.close()


def test_no_server_answers_without_its_password(running: StackProcess) -> None:
    variables = running.ready()
    assert not _answers(variables["SLOWWAVE_DATABASE_URL"].replace("slowwave:", "slowwave:x"))
    broker = redis.Redis.from_url(variables["SLOWWAVE_BROKER_URL"].replace("default:", "default:x"))
    with pytest.raises(redis.AuthenticationError):
        broker.ping()
    broker.close()
    tasks = f"{variables['FLOWER_URL']}/api/tasks"
    assert _status(tasks) == 401
    assert _status(tasks, variables["FLOWER_BASIC_AUTH"]) == 200
    assert _status(f"{variables['SLOWWAVE_URL']}/readyz") == 200
    assert _status(f"{variables['SLOWWAVE_URL']}/v1/agents") == 401


def test_files_that_hold_passwords_are_private_and_no_command_line_shows_one(running: StackProcess) -> None:
    for name in ("environment", "secrets.json", "valkey/valkey.conf"):
        assert stat.S_IMODE((running.data / name).stat().st_mode) == 0o600, name
    passwords = json.loads((running.data / "secrets.json").read_text()).values()
    assert len(passwords) == 5
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in running.left()]
    assert len(lines) > 2 * len(PARTS)
    assert not [line for line in lines for password in passwords if password in line]


def test_what_starts_is_said_with_the_way_to_connect_and_the_logs(running: StackProcess) -> None:
    running.says("ready after")
    for part in PARTS:
        assert f"{part}  ready" in running.output
        assert (running.data / "logs" / f"{part}.log").is_file()
    assert f'eval "$(slowwave config env --export --data {running.data})"' in running.output


def test_a_second_one_on_the_same_folder_is_refused(running: StackProcess) -> None:
    with stack_process(running.data) as second:
        wait_until(lambda: second.ended, 30, "it is refused")
        assert second.process.returncode == 3
        assert f"a stack already runs on {running.data} (process {running.process.pid})" in _flat(second.output)
    assert running.ready()


def _flat(text: str) -> str:
    return " ".join(text.split())


def test_a_killed_postgres_is_started_again_and_recovers(running: StackProcess) -> None:
    url = running.ready()["SLOWWAVE_DATABASE_URL"]
    _keep(url, "before the crash")
    (postmaster,) = _pids(running, "bin/postgres -D")
    os.kill(postmaster, signal.SIGKILL)
    running.says("postgres  was killed by SIGKILL after")
    wait_until(lambda: _answers(url), 30, "Postgres answers again")
    assert _kept(url) == ["before the crash"]


def test_mistake_30_a_killed_worker_is_started_again_without_leaving_its_pool(running: StackProcess) -> None:
    before = _pids(running, "-n main@")
    assert len(before) == 2
    os.kill(min(before), signal.SIGKILL)
    running.says("worker-main  was killed by SIGKILL after")
    wait_until(lambda: len(_pids(running, "-n main@") - before) == 2, 30, "worker and pool are there again")
    assert not before & _pids(running, "-n main@")


@pytest.mark.drill
def test_ctrl_c_stops_all_within_ten_seconds_and_the_next_start_finds_data_and_ports_as_they_were(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with stack_process(data) as first:
        variables = first.ready()
        _keep(variables["SLOWWAVE_DATABASE_URL"], "across starts")
        assert len(first.left()) > 2 * len(PARTS)
        # What it says of itself, since on a busy machine its own end and ours come later.
        assert first.stop(signal.SIGINT) == 0
        told = re.search(r"stopped after ([0-9.]+) s", first.output)
        assert told is not None, first.output
        assert float(told[1]) < 10
        assert not first.left()
        assert not (data / "environment").exists()
        assert not (data / "postgres" / "postmaster.pid").exists()
    with stack_process(data) as second:
        assert second.ready() == variables
        assert _kept(variables["SLOWWAVE_DATABASE_URL"]) == ["across starts"]
        second.process.kill()
        second.process.wait()
        # Started while the guardians of the killed one are still stopping its programs.
        with stack_process(data) as third:
            assert third.ready() == variables
            assert not second.left()
            assert _kept(variables["SLOWWAVE_DATABASE_URL"]) == ["across starts"]
            assert third.stop(signal.SIGTERM) == 0
            assert not third.left()


@pytest.mark.drill
def test_a_stop_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    for heard in ("creating a new database cluster", "at revision"):
        with stack_process(tmp_path / "data") as run:
            run.says(heard)
            assert run.stop(signal.SIGINT) == 130
            assert not run.left()
            assert "nothing is left running" in run.output


def test_a_given_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with stack_process(tmp_path / "data", "--postgres-port", str(port)) as run:
            wait_until(lambda: run.ended, 30, "it gives up")
            assert run.process.returncode == 3
            assert f"port {port} for postgres is taken" in _flat(run.output)


@pytest.mark.drill
def test_servers_that_are_named_are_used_instead(database_url: str, valkey_url: str, tmp_path: Path) -> None:
    named = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url}
    with stack_process(tmp_path / "data", "--no-flower", **named) as run:
        assert run.ready() == named
        assert not _pids(run, "postgres -D")
        assert not _pids(run, "valkey")
        assert run.stop() == 0


def test_roles_work_on_a_stack_and_bound_its_producers(running: StackProcess) -> None:
    variables = running.ready()
    shell = partial(run_shell, variables)
    assert shell("admin", "roles", "apply").startswith("Each role has its rights")
    told = shell("--tenant", "acme", "admin", "roles", "add", "acme_app", "--role", "producer")
    password = told.rpartition("shown only now: ")[2].strip()
    producer = make_url(variables["SLOWWAVE_DATABASE_URL"]).set(username="acme_app", password=password)
    with psycopg.connect(producer.render_as_string(hide_password=False), autocommit=True) as connection:
        for taken in ("pg_advisory_lock(1)", "pg_try_advisory_xact_lock(1)", "lo_create(0)"):
            with pytest.raises(InsufficientPrivilege):
                connection.execute(f"SELECT {taken}")
        assert connection.execute("SHOW temp_file_limit").fetchone() == ("1GB",)
    found = {check["name"]: check for check in json.loads(shell("doctor", "--json"))["checks"]}
    assert (found["roles"]["verdict"], found["logins"]["verdict"]) == ("ok", "ok")


def test_a_stack_without_its_passwords_makes_new_ones(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with stack_process(data) as first:
        url = first.ready()["SLOWWAVE_DATABASE_URL"]
        _keep(url, "before")
        assert first.stop() == 0
    secrets = data / "secrets.json"
    secrets.write_text(secrets.read_text()[:40])
    with stack_process(data) as cut:
        wait_until(lambda: cut.ended, 30, "it refuses to start")
        assert f"{secrets} can't be read" in cut.output
        assert "delete it; the next start makes new passwords and gives them to the servers" in cut.output
        assert "Traceback" not in cut.output
    secrets.unlink()
    with stack_process(data) as again:
        fresh = again.ready()["SLOWWAVE_DATABASE_URL"]
        assert fresh != url
        assert _kept(fresh) == ["before"]
        assert again.stop() == 0


def test_variables_of_an_earlier_stack_are_named_with_a_cure(tmp_path: Path) -> None:
    variables = {"SLOWWAVE_DATABASE_URL": "postgresql://slowwave:x@127.0.0.1:1/slowwave"}
    with stack_process(tmp_path / "data", **variables) as run:
        wait_until(lambda: run.ended, 30, "it refuses to start")
        assert "the server that SLOWWAVE_DATABASE_URL names does not answer" in run.output
        assert "`unset ${!SLOWWAVE_*}` in bash" in run.output
        assert run.process.returncode == 3


def test_a_shell_that_asks_for_variables_never_prints_its_own(running: StackProcess, tmp_path: Path) -> None:
    def bash(data: Path) -> subprocess.CompletedProcess[str]:
        line = f'eval "$({PROGRAM} config env --export --data {data})" && echo "$SLOWWAVE_DATABASE_URL"'
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)

    nothing = bash(tmp_path)
    assert nothing.stdout.strip() == ""
    assert "no stack runs on" in nothing.stderr
    assert bash(running.data).stdout.strip() == running.ready()["SLOWWAVE_DATABASE_URL"]
    asked = [PROGRAM, "config", "env", "--data", tmp_path]
    plain = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (plain.stdout, plain.returncode) == ("", 3)


def run_shell(variables: dict[str, str], *words: str) -> str:
    """What `slowwave` answers, with these variables."""
    done = subprocess.run(
        [PROGRAM, *words], env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr
