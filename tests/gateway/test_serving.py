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


@pytest.mark.parametrize(
    "options",
    [pytest.param((), id="one process"), pytest.param(("--workers", "2"), id="two processes", marks=pytest.mark.long)],
)
def test_served_gateway_answers_and_ends_by_sigterm(doors: Doors, options: tuple[str, ...]) -> None:
    with served(doors, doors.url, *options) as (process, url):
        transport = httpx.HTTPTransport(retries=20)
        with httpx.Client(base_url=url, transport=transport, timeout=SECONDS) as client:
            headers = {"Authorization": f"Bearer {doors.full()}"}
            answer = client.post("/v1/agents/served/sessions/s/turns", json=TURN, headers=headers)
            assert answer.status_code == 200, answer.text
            assert client.get("/readyz").json() == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0


def test_login_of_the_owner_is_refused(doors: Doors, module_database: str) -> None:
    with served(doors, module_database) as (process, said):
        assert process.wait(SECONDS) == 2
        assert "slowwave admin roles add NAME --role gateway" in said


def test_spans_of_a_request_carry_its_id_and_no_text(doors: Doors) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    with (
        collecting() as collector,
        served(doors, doors.url, variables=collector.variables) as (_, url),
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
