"""Sessions of every data set as events, for programs that read memories instead of metrics.

A folder of transcripts has files of JSON lines as `slowwave import events` takes them: agent, session, role, content,
and optionally name, at, metadata. Roles `tool` and `tool_call` are tools; `system` and `developer` are skipped.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from bench import convert_locomo, msc, msc_data, realmem_data, tau_data
from bench.msc_data import data_file
from bench.replay import Compared, memories
from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.events import Event, EventKind

LEFT_OUT = frozenset(("system", "developer"))
KINDS: Mapping[str, EventKind] = {"user": "user", "human": "user", "task": "task"}
UNDATED = datetime(2026, 3, 2, 9, tzinfo=UTC)
LOCOMO = "locomo-dev.json"


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of an agent."""

    agent: str
    session: str
    events: tuple[Event, ...]

    def remembered(self, compared: Compared) -> Iterator[tuple[Candidate, list[Event]]]:
        """Yield each memory of the session, with its source events."""
        events, old = self.events, {event.seq: event.seq for event in self.events}
        if not compared.sees_tools:
            events, old = tau_data.without_tools(self.events)
        for memory in memories(compared.extractor, events, self.agent):
            yield memory, [self.events[old[seq] - 1] for seq in memory.sources]


def talks(kind: str, transcripts: Path | None = None) -> Iterator[Talk]:
    """Yield the sessions of a data set by its name, or those of a folder of transcripts for any other name."""
    if kind in SETS:
        yield from SETS[kind]()
    elif transcripts is None:
        raise ValueError(f"kind must be one of {', '.join(SETS)}, or any name with --transcripts DIR, got {kind!r}")
    else:
        for path in sorted(transcripts.glob("*.jsonl")):
            with path.open(encoding="utf-8") as lines:
                yield from talks_of([json.loads(line) for line in lines if line.strip()])


def talks_of(lines: list[dict[str, Any]]) -> Iterator[Talk]:
    """Yield the sessions of lines as `slowwave import events` takes them."""
    by_session = sorted(lines, key=_place)  # stable: the lines of a session keep their order
    for (agent, session), said in groupby(by_session, key=_place):
        kept = [line for line in said if line["role"] not in LEFT_OUT and line["content"].strip()]
        if kept:
            yield Talk(agent, session, tuple(_event(seq, line) for seq, line in enumerate(kept, 1)))


def _place(line: dict[str, Any]) -> tuple[str, str]:
    return line["agent"], line["session"]


def _event(seq: int, line: dict[str, Any]) -> Event:
    at = datetime.fromisoformat(line["at"]) if line.get("at") else UNDATED + timedelta(minutes=seq)
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    role = line["role"].lower()
    about = line.get("metadata") or {}
    return Event(seq, KINDS.get(role, "assistant"), role, line["content"], at, line.get("name"), about)


def _realmem() -> Iterator[Talk]:
    for person in realmem_data.people(data_file(realmem_data.FILE)):
        yield from (Talk("assistant", f"{person.name}/{session.name}", session.events) for session in person.sessions)


def _tau() -> Iterator[Talk]:
    for dialogue in tau_data.dialogues(data_file(tau_data.FILE)):
        yield Talk("airline", dialogue.name, dialogue.events)


def _locomo() -> Iterator[Talk]:
    for entry in json.loads(data_file(LOCOMO).read_text(encoding="utf-8")):
        yield from talks_of(list(convert_locomo.events(entry)))


def _msc() -> Iterator[Talk]:
    for number, turns in enumerate(msc_data.dialogues(data_file(msc.FILE))):
        yield Talk("helper", f"dialogue-{number}", msc.events_of(turns))


SETS: Mapping[str, Callable[[], Iterator[Talk]]] = {"realmem": _realmem, "tau": _tau, "locomo": _locomo, "msc": _msc}
"""By name: the sessions of a data set."""
FILES: Mapping[str, str] = {"realmem": realmem_data.FILE, "tau": tau_data.FILE, "locomo": LOCOMO, "msc": msc.FILE}
"""By name: the file of a data set."""
