"""`slowwave serve` as a process: whose login it takes, that it answers, and that it ends."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.gateway.conftest import Doors
from tests.gateway.test_record import TURN
from tests.support.processes import wait_until
from tests.support.shelling import Shell
from tests.workers.collector import collecting

ROOT = Path(__file__).parent.parent.parent
SECONDS = 60


@contextmanager
def served(
    doors: Doors, database_url: str, *options: str, variables: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A gateway's process, and the address that it prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    environment = kept | {
        "SLOWWAVE_DATABASE_URL": database_url,
        "SLOWWAVE_BROKER_URL": doors.settings.broker_url,
        "SLOWWAVE_SPOOL": str(doors.settings.spool),
        **(variables or {}),
    }
    command = [str(Path(sys.executable).with_name("slowwave")), "serve", "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"is at (http://\S+)", said)
        yield process, found[1] if found else said + process.stderr.read()
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


@pytest.mark.long
def test_two_processes_answer_and_end_by_sigterm(doors: Doors) -> None:
    with served(doors, doors.url, "--workers", "2") as (process, url):
        transport = httpx.HTTPTransport(retries=20)
        with httpx.Client(base_url=url, transport=transport, timeout=SECONDS) as client:
            headers = {"Authorization": f"Bearer {doors.full()}"}
            answer = client.post("/v1/agents/served/sessions/s/turns", json=TURN, headers=headers)
            assert answer.status_code == 200, answer.text
            assert client.get("/readyz").json() == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0


def test_login_of_the_owner_is_refused(doors: Doors, module_database: str) -> None:
    shell = Shell(module_database, doors.settings.broker_url)
    result = shell("serve", "--listen", "127.0.0.1:0")
    assert result.exit_code == 2
    assert "slowwave admin roles add NAME --role gateway" in result.stderr


def test_gateway_answers_sends_spans_without_text_and_ends(doors: Doors) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with (
        collecting() as collector,
        served(doors, doors.url, variables=collector.variables) as (process, url),
        httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=20), timeout=SECONDS) as client,
    ):
        headers = {
            "Authorization": f"Bearer {doors.full()}",
            "X-Request-Id": "mine-7",
            "traceparent": f"00-{trace}-00f067aa0ba902b7-01",
        }
        assert client.post("/v1/agents/traced/sessions/s/turns", json=TURN, headers=headers).status_code == 200
        wait_until(lambda: bool(collector.named("POST gateway", trace)), SECONDS, "the span of the request arrives")
        (span,) = collector.named("POST gateway", trace)
        assert span.attributes["slowwave.request_id"] == "mine-7"
        assert span.parent == "00f067aa0ba902b7"
        assert b"Lisbon" not in collector.raw
        assert doors.full().encode() not in collector.raw
        assert client.get("/readyz").json() == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
