"""`slowwave hook HOST EVENT`: the program that a host starts at each event, with the event's JSON on stdin.

It waits for a context for at most a quarter of a second (--wait: up to 30 s), and ends with exit code 0 and with output
that the host understands, because an unavailable memory must not disturb the person. A background process, the helper
(warm_process.py), does all work that takes longer. The event `mcp` runs `slowwave mcp` instead.
"""

# The import of pathlib takes longer than all of the hook's own modules.
# ruff: noqa: PTH109, PTH118, PTH120

import json
import os
import select
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from slowwave.hosts import places, protocols, talking

MAX_INPUT_BYTES = 16_000_000
INPUT_SECONDS = 1.0
ANSWER_SECONDS = 0.25
MAX_ANSWER_SECONDS = 30.0

USAGE = (
    "usage: slowwave hook HOST EVENT [--agent NAME] [--branches shared|apart] [--wait SECONDS], with the host's JSON"
    f" on stdin; HOST is {', '.join(protocols.HOSTS)}"
)


class Call(NamedTuple):
    """The arguments of the command. apart: each branch has its own memory; wait: the seconds to wait for a context."""

    host: str
    event: str
    agent: str | None = None
    apart: bool = False
    wait: float = ANSWER_SECONDS


def main(words: Sequence[str] | None = None) -> None:
    """Answer one event, and end the process with exit code 0."""
    run(words)
    os._exit(0)


def run(words: Sequence[str] | None = None) -> None:
    """Answer one event. Never raises."""
    line = ""
    try:
        call = parse(sys.argv[1:] if words is None else words)
        if call is None:
            sys.stderr.write(f"slowwave: {USAGE}\n")
        elif call.event == "mcp":
            serve_mcp(call, os.environ)
        else:
            # The host reads this output in every case.
            line = protocols.answer(call.host, call.event, "")
            line = protocols.answer(call.host, call.event, handle(call, read_input(), os.environ))
    except BaseException as error:  # noqa: BLE001 (the host goes on, whatever it was)
        with suppress(BaseException):
            sys.stderr.write(f"slowwave: {type(error).__name__}: {error!s:.300}\n")
    with suppress(BaseException):
        if line:
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        sys.stderr.flush()


def parse(words: Sequence[str]) -> Call | None:
    """Parse the arguments; None if they are invalid."""
    given = list(words)
    options: dict[str, str] = {}
    for name in ("--agent", "--branches", "--wait"):
        if name in given:
            place = given.index(name)
            if place + 1 >= len(given):
                return None
            options[name] = given[place + 1]
            del given[place : place + 2]
    if len(given) != 2 or given[0] not in protocols.HOSTS:  # noqa: PLR2004 (host and event)
        return None
    try:
        wait = min(MAX_ANSWER_SECONDS, max(0.0, float(options.get("--wait", ANSWER_SECONDS))))
    except ValueError:
        return None
    return Call(given[0], given[1], options.get("--agent"), options.get("--branches") == "apart", wait)


def read_input() -> Any:
    """Read the host's JSON; None if the JSON is too long or arrives too late. Raises ValueError."""
    data, until = bytearray(), time.monotonic() + INPUT_SECONDS
    while time.monotonic() < until and select.select([0], [], [], until - time.monotonic())[0]:
        part = os.read(0, 1 << 20)
        if not part:
            return json.loads(data) if len(data) <= MAX_INPUT_BYTES else None
        # Read even a too long input to its end, because the host would fail on a closed pipe.
        if len(data) <= MAX_INPUT_BYTES:
            data += part
    return None


def handle(call: Call, payload: Any, environment: Mapping[str, str]) -> str:
    """Handle the event. Return the context for the host, or "". Raises OSError if the event can't be stored."""
    if not isinstance(payload, dict):
        return ""
    cwd = environment.get("CURSOR_PROJECT_DIR") or environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    request = protocols.read_event(call.host, call.event, payload, agent=call.agent, apart=call.apart, cwd=cwd)
    if request is None:
        return ""
    now = time.time()
    request["taken"] = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1e6):06d}+00:00"
    settings = places.settings_of(environment)
    place = places.place_of(environment, settings)
    places.make_place(place)
    if request["kind"] == "record":
        talking.leave(place, request, settings)
        return ""
    return talking.ask(place, request, call.wait, settings, patient=call.wait > ANSWER_SECONDS)


def serve_mcp(call: Call, environment: Mapping[str, str]) -> None:
    """Replace this process by `slowwave mcp` for the agent of this folder, with the saved settings. Raises OSError."""
    from slowwave.hosts.repository import repository_of  # noqa: PLC0415 (no other event needs it here)

    folder = environment.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    agent = call.agent or repository_of(folder).agent(apart=call.apart)
    settings = places.settings_of(environment)
    place = places.place_of(environment, settings)
    places.make_place(place)
    os.chdir(place)  # a slowwave.yaml of a foreign repository is not read
    beside = os.path.join(os.path.dirname(sys.executable), "slowwave")
    program = beside if os.access(beside, os.X_OK) else "slowwave"
    os.execvpe(program, [program, "mcp", "--agent", agent], {**environment, **settings})  # noqa: S606 (ours)
