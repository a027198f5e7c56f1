"""`slowwave exporter` as a process: it serves, says how it is, and ends when it is told to."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers


@pytest.fixture
def variables(database_url: str, valkey_url: str) -> dict[str, str]:
    return {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url}


@pytest.fixture
def exporter(variables: dict[str, str]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    command = [
        sys.executable,
        "-c",
        "from slowwave_server.workers.cli import main; main()",
        "exporter",
        "--listen",
        "127.0.0.1:0",
    ]
    process = subprocess.Popen(command, env=os.environ | variables, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert line.startswith("Metrics are at http://127.0.0.1:"), line
    yield process, line.split()[-1]
    process.kill()
    process.communicate()


def get(url: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=15)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_it_serves_figures_and_ends_when_it_is_told(exporter: tuple["subprocess.Popen[str]", str]) -> None:
    process, url = exporter
    status, text = get(url, "/metrics")
    assert status == 200
    for server in ("postgres", "broker"):
        assert f'slowwave_up{{server="{server}"}} 1.0\n' in text
    assert "# TYPE slowwave_sessions_dirty gauge\nslowwave_sessions_dirty 0.0\n" in text
    assert 'slowwave_workers{queue="flush.high"} 0.0\n' in text
    assert get(url, "/healthz") == (200, "ok\n")
    assert get(url, "/memories")[0] == 404
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def test_once_prints_and_ends(variables: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["exporter", "--once", "--name-tenant", "acme"], env=variables)
    assert result.exit_code == 0, result.output
    assert 'slowwave_budget_tokens_used{model="none",period="day",tenant="acme"} 0.0' in result.stdout
    away = variables | {"SLOWWAVE_DATABASE_URL": "postgresql://slowwave:hidden-word@127.0.0.1:1/slowwave"}
    result = CliRunner().invoke(app, ["exporter", "--once"], env=away)
    assert (result.exit_code, 'slowwave_up{server="postgres"} 0.0' in result.stdout) == (0, True)
    assert "hidden-word" not in result.output


@pytest.mark.parametrize("listen", ["9187", "localhost", "127.0.0.1:port", "127.0.0.1:99999", "nowhere.invalid:9187"])
def test_an_address_that_is_none_is_one_sentence(listen: str) -> None:
    result = CliRunner().invoke(app, ["exporter", "--listen", listen])
    assert (result.exit_code, result.stdout) == (2, "")
    assert listen in result.stderr
