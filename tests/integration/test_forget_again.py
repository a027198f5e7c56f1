"""What is left outside of Postgres: summaries in files, entries of older versions, what failed the first time (I10)."""

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from slowwave import Memory, Settings
from slowwave.capture import Entry
from slowwave.spool import Spool, database_digest
from slowwave_server.services.days.book import DayRef
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.services.forget.files import write_anew
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import Target
from slowwave_server.services.forget.transaction import erase
from slowwave_server.services.memory_files.backends import choose_backend
from slowwave_server.services.memory_files.delivery import FileRules, deliver
from slowwave_server.services.memory_files.disk import Disk, FileChanged
from tests.support.forgetting import dump_files, everything, turn

pytestmark = pytest.mark.servers

WORD = "quokka"
_DAY = "SELECT DISTINCT agent_id, scope_id, day FROM slowwave.session_days"
LONG_AGO = 1_000_000_000


def summarized_in_a_file(forgetter: Forgetter, settings: Settings, scope: str | None) -> tuple[int, Path]:
    """Summarise the one day there is, and have it written to its file, which is noted as seen: (scope, file)."""
    engine, now, rules = forgetter.engine, forgetter.clock(), FileRules(settings.memory.files.root)
    choose_backend(engine, "file", now)
    with engine.connect() as connection:
        row = connection.execute(text(_DAY)).one()
    day = DayRef(row.agent_id, row.scope_id, row.day, "default", "maya", scope)
    summarize_day(engine, day, settings=settings.memory.days, now=now)
    deliver(engine, row.scope_id, rules=rules, disk=Disk(), now=now)
    (daily,) = rules.root.rglob("*.md")
    os.utime(daily, (LONG_AGO, LONG_AGO))
    for _ in range(2):
        deliver(engine, row.scope_id, rules=rules, disk=Disk(), now=now)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT min(modified_ns) FROM slowwave.memory_files")).scalar_one() > 0
    assert WORD in daily.read_text()
    return row.scope_id, daily


@pytest.mark.parametrize("others", [True, False])
def test_i10_summaries_go_out_of_the_files_of_days(
    forgetter: Forgetter, memory: Memory, settings: Settings, *, others: bool
) -> None:
    memory.turn_completed("maya", "monday", turn(f"I want to see a {WORD}."), scope="room:zoo")
    if others:
        memory.turn_completed("maya", "tuesday", turn("I want to see a heron."), scope="room:zoo")
    summarized_in_a_file(forgetter, settings, "room:zoo")
    report = forgetter.forget(Target.of_session("default", "maya", "monday"), by="Priya")
    assert report.problems == ()
    assert WORD not in everything(forgetter, settings.memory.files.root)


def test_i10_a_delivery_that_ends_after_the_forget_leaves_no_summary(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "monday", turn(f"I want to see a {WORD}."))
    scope_id, daily = summarized_in_a_file(forgetter, settings, None)
    engine, clock = forgetter.engine, forgetter.clock
    erase(engine, Target.of_session("default", "maya", "monday"), clock=clock, by="Priya", dry_run=False)
    with engine.begin() as connection:
        # What such a delivery does last.
        connection.execute(text("UPDATE slowwave.memory_files SET modified_ns = :ns"), {"ns": daily.stat().st_mtime_ns})
    assert write_anew(engine, settings.memory, [scope_id], clock()) == []
    assert WORD not in everything(forgetter, settings.memory.files.root)


class Failing(Disk):
    """A disk on which the first write fails."""

    def __init__(self, error: Exception) -> None:
        self._errors = [error]

    def write(self, path: Path, data: bytes, before: bytes | None) -> None:
        if self._errors:
            raise self._errors.pop()
        super().write(path, data, before)


@pytest.mark.parametrize("error", [FileChanged("MEMORY.md"), OSError("no space")], ids=["somebody saved", "disk full"])
def test_i10_a_summary_that_could_not_be_taken_out_at_once_is_taken_out_later(
    forgetter: Forgetter, memory: Memory, settings: Settings, error: Exception
) -> None:
    memory.turn_completed("maya", "monday", turn(f"I want to see a {WORD}."))
    scope_id, daily = summarized_in_a_file(forgetter, settings, None)
    engine, clock, disk = forgetter.engine, forgetter.clock, Failing(error)
    erase(engine, Target.of_session("default", "maya", "monday"), clock=clock, by="Priya", dry_run=False)
    rules = FileRules(settings.memory.files.root)
    states = [deliver(engine, scope_id, rules=rules, disk=disk, now=clock()).state for _ in range(2)]
    assert states[1] == "current"
    assert WORD not in daily.read_text()


@pytest.mark.parametrize(
    "target", [Target.of_session("default", "maya", "monday"), Target.of_scope("default", "room", "zoo")], ids=str
)
def test_what_could_not_be_done_is_done_by_the_same_command(
    forgetter: Forgetter, memory: Memory, settings: Settings, target: Target
) -> None:
    memory.turn_completed("maya", "monday", turn(f"I saw a {WORD}."), scope="room:zoo")
    memory.turn_completed("maya", "tuesday", turn("I saw a heron."))
    settings.spool.mkdir(exist_ok=True)
    prefix = database_digest(settings.database_url)
    event: Any = {"kind": "user", "step": 1, "key": "k", "at": "2024-04-10T09:00:00+00:00"}
    for session, thing, about in (
        ("monday", WORD, {"scope_kind": "room", "scope_name": "zoo"}),
        ("tuesday", "heron", None),
    ):
        entry = Entry("default", "maya", session, [event | {"content": f"I heard a {thing}."}], about)
        line = json.dumps({"entry": asdict(entry)})
        (settings.spool / f"{prefix}-{session}.jsonl.rejected").write_text(f"{line}\n")
    obstacle = settings.spool / f"{prefix}-first.jsonl.rejected"
    obstacle.mkdir()
    (problem,) = forgetter.forget(target, by="Priya").problems
    assert problem.startswith("spool: ")
    obstacle.rmdir()
    assert WORD in everything(forgetter, settings.spool)
    again = forgetter.forget(target, by="Priya")
    assert (again.problems, again.counts) == ((), {"entries of the spool": 1})
    assert WORD not in everything(forgetter, settings.spool)
    assert "heron" in dump_files(settings.spool), "an entry of another session"


def test_i10_entries_of_a_version_that_did_not_date_them_are_dropped(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    spool = Spool(settings.spool, settings.database_url)

    def spooled(content: str, at: str) -> None:
        event: Any = {"kind": "user", "step": 1, "content": content, "key": content, "at": at}
        spool.append([Entry("default", "maya", "monday", [event])])

    spooled(WORD, datetime.now(UTC).isoformat())
    spooled(f"a second {WORD}", "2024-04-10T09:00:00+00:00")
    forgetter.forget(Target.of_agent("default", "maya"), by="Priya")
    spooled("a heron", datetime.now(UTC).isoformat())
    segment = spool.oldest()
    assert segment is not None
    entries, _ = segment.read()
    memory.store.capture.deliver(entries)
    spool.finish(segment, [])
    assert WORD not in everything(forgetter, settings.spool)
    assert "a heron" in everything(forgetter)


def test_i10_what_a_clearing_that_was_cut_off_left_in_the_spool_is_cleared(
    forgetter: Forgetter, memory: Memory, settings: Settings
) -> None:
    memory.turn_completed("maya", "monday", turn("hello"))
    spool = Spool(settings.spool, settings.database_url)
    event: Any = {"kind": "user", "step": 1, "content": WORD, "key": "k"}
    spool.append([Entry("default", "maya", "monday", [event])])
    spool.close()
    (segment,) = settings.spool.glob("*.jsonl")
    segment.rename(segment.with_name(f".{segment.name}"))
    report = forgetter.forget(Target.of_agent("default", "maya"), by="Priya")
    assert report.counts["entries of the spool"] == 1
    assert WORD not in everything(forgetter, settings.spool)


@pytest.mark.parametrize(
    "payload",
    [
        {"agent": "zoë", "messages": f"{WORD} " * 200_000},
        {"messages": f"{WORD} " * 200_000, "agent": "zoë"},
        {"args": ["zoë", "monday", f"{WORD} " * 200_000]},
        {"agent": "zoë", "messages": f"{WORD} \ud800 \0"},
    ],
    ids=["cut", "cut before its name", "cut, without names", "no text"],
)
def test_mistake_40_letters_of_any_payload_are_found_by_their_names(
    forgetter: Forgetter, memory: Memory, payload: dict[str, Any]
) -> None:
    memory.turn_completed("zoë", "monday", turn("hello"))
    with forgetter.engine.begin() as connection:
        for letter in (payload, {"agent": "priya", "messages": "a heron"}):
            store_dead_letter(
                connection, task="t", tenant="default", payload=letter, error="\ud800", now=forgetter.clock()
            )
    assert WORD in everything(forgetter)
    forgetter.forget(Target.of_agent("default", "zoë"), by="Priya")
    assert WORD not in everything(forgetter)
    assert "heron" in everything(forgetter)
