"""Measure the cost of HTTP: recording compared with the durable hook and with a bare FastAPI route that inserts two
rows; context compared with the same call in this process; requests per second and core; 200 agents with ten turns each,
at once.

Run: python -m bench.gateway [--rounds 600] [--agents 200]. It starts its own Postgres and Valkey, `slowwave serve` with
a separate login, a key and rate limits that are never reached, and the bare route on uvicorn, one process each. Single
calls take turns over persistent connections, from one client. Prints medians, and exits with 1 unless recording over
HTTP takes at most 1.5 bare routes, and context over HTTP at most 1.5 direct calls.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles

import psycopg
from sqlalchemy.engine import make_url

from bench.capture import BARE_TABLE, TURN, servers
from bench.context import take_turns
from bench.report import Row, note
from slowwave import Memory, Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.api_keys import NewKey, make_key
from slowwave_server.services.access.grants import apply_grants
from slowwave_server.services.access.logins import add_login
from slowwave_server.workers.stack.ports import settle_ports

BOUND = 1.5
SAID = 300
QUESTION = "What is the dog called?"
NO_BOUND = {f"SLOWWAVE_GATEWAY__{name}": "1000000" for name in ("REQUESTS_PER_SECOND", "BURST")}
NO_BOUND |= {f"SLOWWAVE_GATEWAY__TENANT_{name}": "1000000" for name in ("REQUESTS_PER_SECOND", "BURST")}
SERVE = ("-c", "from slowwave_server.workers.cli import main; main()", "serve", "--listen", "127.0.0.1:0")


class Caller:
    """One persistent connection."""

    def __init__(self, port: int, key: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}

    def post(self, path: str, body: object) -> bytes:
        """Return the answer; an error ends the bench."""
        self._connection.request("POST", path, json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        read = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"{path} answered {answer.status}: {read[:300]!r}")
        return read


class Sides:
    """The gateway and the bare route, each a process."""

    def __init__(self, gateway: tuple[int, int], bare: tuple[int, int], key: str) -> None:
        self.gateway, self.bare, self.key = gateway, bare, key

    def caller(self, side: str) -> Callable[[str, int], object]:
        """Return a function that records a turn (agent, number) on a side, over a separate connection."""
        if side == "gateway":
            there = Caller(self.gateway[0], self.key)
            return lambda agent, number: there.post(
                f"/v1/agents/{agent}/sessions/s{number // 4}/turns", {"messages": TURN}
            )
        here = Caller(self.bare[0])
        return lambda agent, number: here.post(f"/turns/{agent}", {"messages": TURN, "seq": 2 * number})

    def processor(self, side: str) -> float:
        """Return the CPU seconds of a side's process."""
        fields = Path(f"/proc/{getattr(self, side)[1]}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(command: tuple[str, ...], variables: dict[str, str], asked: int) -> Iterator[tuple[int, int]]:
    """Return the port and the id of a process. asked: the requested port, 0 if the process prints its port."""
    process = subprocess.Popen(
        [sys.executable, *command], env=os.environ | variables, stderr=subprocess.PIPE if not asked else None, text=True
    )
    try:
        port = asked
        if process.stderr is not None:
            told = process.stderr.readline()
            found = re.search(r":(\d+)/", told)
            if found is None:
                raise SystemExit(f"it did not start: {told}{process.stderr.read()}")
            port = int(found[1])
        _wait(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(30)


def _wait(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/healthz")
            connection.getresponse()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"nothing answers on port {port}")


@contextmanager
def sides(settings: Settings) -> Iterator[Sides]:
    """Run both sides on the same servers."""
    engine = make_engine(settings.database_url)
    with engine.begin() as connection:
        apply_grants(connection)
        add_login(connection, "bench_gateway", "gateway", None)
        wanted = NewKey("bench", ("record", "read"), scopes=("room:*", "team:*"))
        _, secret = make_key(connection, settings.tenant, wanted, by="bench", now=datetime.now(UTC))
    engine.dispose()
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute(BARE_TABLE)
    own = make_url(settings.database_url).set(username="bench_gateway").render_as_string(hide_password=False)
    variables = {"SLOWWAVE_DATABASE_URL": own, "SLOWWAVE_BROKER_URL": settings.broker_url} | NO_BOUND
    variables["SLOWWAVE_SPOOL"] = str(settings.spool)
    port = settle_ports(settings.spool.parent / "port.json", {"bare": 0})["bare"]
    bare_variables = {"BARE_DATABASE_URL": settings.database_url}
    with ExitStack() as stack:
        gateway = stack.enter_context(started(SERVE, variables, 0))
        bare = stack.enter_context(started(("-m", "bench.bare_gateway", str(port)), bare_variables, port))
        yield Sides(gateway, bare, secret)


def one_by_one(settings: Settings, both: Sides, rounds: int) -> bool:
    """Make single calls in turn. Return True if the bounds are reached."""
    gateway, bare = both.caller("gateway"), both.caller("bare")
    reader = Caller(both.gateway[0], both.key)
    with Memory(settings) as memory:
        for number in range(SAID):
            memory.turn_completed("Maya", f"past-{number // 10}", TURN)
        taken = take_turns(
            {
                "durable hook": lambda number: memory.turn_completed("direct", f"s{number // 4}", TURN),
                "bare route": lambda number: bare("one", number),
                "record over HTTP": lambda number: gateway("http", number),
                "context, direct": lambda _: memory.context("Maya", "now", QUESTION).to_text(),
                "context over HTTP": lambda _: reader.post(
                    "/v1/agents/Maya/context", {"session": "now", "query": QUESTION}
                ),
            },
            rounds,
        )
    middle = {name: median(times) for name, times in taken.items()}
    for name, times in taken.items():
        print(f"{name:24} p50 {middle[name]:7.2f} p95 {quantiles(times, n=20)[-1]:7.2f} ms")
    pairs = (
        ("record over HTTP", "bare route", f"<= {BOUND}"),
        ("record over HTTP", "durable hook", ""),
        ("context over HTTP", "context, direct", f"<= {BOUND}"),
    )
    holds = True
    for ours, than, bound in pairs:
        row = Row("gateway", ours, middle[ours], than, middle[than], "ms", middle[ours] / middle[than], bound)
        note(row)
        holds = holds and row.holds is not False
        print(f"{ours} / {than}: {row.ratio:.2f} {bound}")
    return holds


def at_once(both: Sides, agents: int, turns: int) -> None:
    """Let all agents call at once. Return the total time, and the CPU time per request of the answering process."""
    found = {}
    for side in ("bare", "gateway"):
        times: list[float] = []
        threads = [threading.Thread(target=_talk, args=(both, side, agent, turns, times)) for agent in range(agents)]
        worked, began = both.processor(side), time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, worked = time.perf_counter() - began, both.processor(side) - worked
        if len(times) != agents * turns:
            raise SystemExit(f"{side}: {len(times)} of {agents * turns} requests were answered")
        found[side] = (median(times), len(times) / seconds, len(times) / worked)
        print(
            f"{side:8} {agents} agents x {turns} turns at once: p50 {found[side][0]:.0f} ms, p95"
            f" {quantiles(times, n=20)[-1]:.0f} ms, {found[side][1]:.0f} a second,"
            f" {found[side][2]:.0f} a second of one core"
        )
    (ours, rate, core), (theirs, bare_rate, bare_core) = found["gateway"], found["bare"]
    what = f"a turn, {agents} agents x {turns} at once"
    note(Row("gateway", what, ours, "bare route", theirs, "ms", ours / theirs))
    note(Row("gateway", "turns a second, all at once", rate, "bare route", bare_rate, "/s", rate / bare_rate))
    note(Row("gateway", "turns a second and core", core, "bare route", bare_core, "/s", core / bare_core))


def _talk(both: Sides, side: str, agent: int, turns: int, times: list[float]) -> None:
    call = both.caller(side)
    for number in range(turns):
        began = time.perf_counter()
        call(f"agent-{agent}", number)
        times.append((time.perf_counter() - began) * 1000)


def main() -> int:
    """Start the servers, measure, and remove them. Return 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--agents", type=int, default=200)
    options = parser.parse_args()
    with servers() as settings, sides(settings) as both:
        holds = one_by_one(settings, both, options.rounds)
        at_once(both, options.agents, 10)
    return 0 if holds else 1


if __name__ == "__main__":
    os.environ.pop("SLOWWAVE_CONFIG", None)
    sys.exit(main())
