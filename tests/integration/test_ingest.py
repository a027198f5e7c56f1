"""Files of events: what is good goes in, what is bad is named, and a second time nothing happens."""

import io
import json
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slowwave import Memory, StoreUnavailable
from slowwave.coordination.keys import NORMAL_QUEUE
from slowwave.ingest import IngestReport, Reject, bounded_lines, ingest
from tests.support.capturing import asked_for, broken_sessions, contents, memory_on, rows
from tests.support.emptying import emptying

pytestmark = pytest.mark.servers


def line(content: str, session: str = "s", **fields: Any) -> str:
    return json.dumps({"agent": "maya", "session": session, "role": "user", "content": content} | fields) + "\n"


def everything(database_url: str) -> list[tuple[Any, ...]]:
    return rows(
        database_url,
        "SELECT a.tenant, a.name, s.name, e.seq, e.turn, e.kind, e.name, e.content, e.key, e.metadata"
        " FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a"
        " ON a.id = s.agent_id ORDER BY 1, 2, 3, 4",
    )


def conversation(events: int, sessions: int) -> list[str]:
    """Sessions that take turns, and sentences that come again."""
    roles = ("user", "assistant")
    return [line(f"sentence {n % 50}", f"s{n % sessions}", role=roles[n // sessions % 2]) for n in range(events)]


def test_a_file_goes_in_in_order_and_a_second_time_adds_nothing(memory: Memory, database_url: str) -> None:
    lines = conversation(1000, 7)
    first = ingest(lines, memory.store, batch_events=128)
    assert (first.read, first.added, first.repeated, first.rejected) == (1000, 1000, 0, 0)
    assert first.size_bytes == sum(map(len, lines))
    assert len(first.sessions) == 7
    before = everything(database_url)
    assert contents(database_url, "s3") == [f"sentence {n % 50}" for n in range(3, 1000, 7)]
    again = ingest(lines, memory.store, batch_events=77)
    assert (again.added, again.repeated) == (0, 1000)
    assert everything(database_url) == before
    assert broken_sessions(database_url) == []


def test_the_size_of_batches_changes_nothing(memory: Memory, database_url: str) -> None:
    lines = conversation(60, 3)
    ingest(lines, memory.store, tenant="in one", batch_events=1000)
    ingest(lines, memory.store, tenant="in many", batch_events=1)
    found = everything(database_url)
    assert [row[1:] for row in found[:60]] == [row[1:] for row in found[60:]]


def test_identical_lines_are_different_events(memory: Memory, database_url: str) -> None:
    report = ingest([line("Yes."), line("Yes."), line("Yes.", key="k"), line("Yes.", key="k")], memory.store)
    assert (report.added, report.repeated) == (3, 1)
    assert contents(database_url, "s") == ["Yes."] * 3


BAD = [
    ("{", "no JSON"),
    ("[" * 100_000, "no JSON"),
    ("[1]", "must hold a JSON object"),
    (line("x", colour="red"), "unknown field 'colour'"),
    (json.dumps({"session": "s", "role": "user", "content": "x"}), "agent is missing"),
    (line("x", session=""), "session: a name can't be empty"),
    (line("x", agent=7), "agent: a name must be text"),
    (line("x", agent=["maya"]), "must be text"),
    (line("x", tenant="a\nb"), "tenant: character 2"),
    (line("x", role="wizard"), "role must be one of"),
    (line("x" * 100_001), "content has at most 100,000"),
    (line("x", at="2026-01-01 10:00"), "must have a time zone"),
    (line("x", at="2999-01-01T00:00:00+00:00"), "at must lie at most 1 day ahead of now"),
    (line("x", scope="cellar"), "room:NAME or team:NAME, got"),
    (line("x", scope={"a": 1}), "must be text"),
    (line("x", metadata="y"), "metadata must be a mapping"),
    (line("x", key=""), "key must be text"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_bad_line_is_named_and_the_rest_goes_in(memory: Memory, database_url: str, bad: str, reason: str) -> None:
    rejects: list[Reject] = []
    report = ingest([line("one"), "\n", bad, line("two")], memory.store, on_reject=rejects.append)
    assert (report.read, report.added, report.rejected) == (3, 2, 1)
    assert contents(database_url, "s") == ["one", "two"]
    (reject,) = rejects
    assert (reject.number, reject.line) == (3, bad.rstrip("\n"))
    assert reason in reject.reason


class _OneLine(io.RawIOBase):
    """A file of one endless line, until so many bytes are read; then a line of its own."""

    def __init__(self, length: int, last: str) -> None:
        self._left = length
        self._end = b"\n" + last.encode()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left:
            size = min(len(buffer), self._left)
            buffer[:size] = b"x" * size
            self._left -= size
            return size
        part, self._end = self._end[: len(buffer)], self._end[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def test_an_endless_line_costs_a_few_megabytes(memory: Memory, database_url: str) -> None:
    rejects: list[Reject] = []
    file = io.TextIOWrapper(io.BufferedReader(_OneLine(300_000_000, line("Bergen."))), encoding="utf-8", newline="\n")
    tracemalloc.start()
    try:
        report = ingest(bounded_lines(file), memory.store, on_reject=rejects.append)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16_000_000
    assert (report.read, report.added, report.rejected) == (2, 1, 1)
    assert (rejects[0].number, len(rejects[0].line)) == (1, 1000)
    assert "at most 2,000,000 characters, this one has more" in rejects[0].reason
    assert contents(database_url, "s") == ["Bergen."]


@pytest.mark.parametrize(
    "text", ["", "\n", "abc", "abc\n", "abcd\nabcd", "abcde\nx\n", "abcdefghijkl", "abcde\n\nabcd\n"]
)
def test_bounded_lines_are_lines_cut_one_past_the_bound(text: str) -> None:
    wanted = [line if len(line.rstrip("\n")) <= 4 else line[:5] for line in text.splitlines(keepends=True)]
    assert list(bounded_lines(io.StringIO(text, newline="\n"), 4)) == wanted


def test_a_tenant_that_is_set_holds_for_every_line(memory: Memory, database_url: str) -> None:
    rejects: list[Reject] = []
    lines = [line("one"), line("two", tenant="globex"), line("three", tenant="acme")]
    report = ingest(lines, memory.store, tenant="acme", only_tenant=True, on_reject=rejects.append)
    assert (report.added, report.rejected) == (2, 1)
    assert [(reject.number, reject.reason) for reject in rejects] == [
        (2, "tenant must be 'acme' and no other, got 'globex'")
    ]
    assert {row[0] for row in everything(database_url)} == {"acme"}


def test_every_field_arrives(memory: Memory, database_url: str) -> None:
    given_line = line(
        "Noted.",
        role="assistant",
        name="Maya",
        at="2026-02-03T04:05:06+01:00",
        key="k",
        room_id="r",
        thread_id="t",
        scope="team:night",
        tenant="acme",
        metadata={"mood": "calm"},
    )
    ingest([given_line], memory.store)
    query = (
        "SELECT a.tenant, k.kind, k.name, s.room_id, s.thread_id, e.kind, e.name, e.key, e.metadata,"
        " e.happened_at = '2026-02-03T03:05:06Z' FROM slowwave.events e JOIN slowwave.sessions s ON s.id = session_id"
        " JOIN slowwave.agents a ON a.id = s.agent_id JOIN slowwave.scopes k ON k.id = s.scope_id"
    )
    assert rows(database_url, query) == [
        ("acme", "team", "night", "r", "t", "assistant", "Maya", "k", {"mood": "calm"}, True)
    ]


def test_a_session_that_is_told_of_another_scope_loses_those_lines_alone(memory: Memory, database_url: str) -> None:
    rejects: list[Reject] = []
    lines = [
        line("one", scope="room:a"),
        line("two", scope="room:b"),
        line("three"),
        line("four", scope="room:a"),
        line("other", session="o"),
    ]
    report = ingest(lines, memory.store, on_reject=rejects.append)
    assert (report.added, report.rejected) == (4, 1)
    assert contents(database_url, "s") == ["one", "three", "four"]
    assert [(reject.number, "room:a already" in reject.reason) for reject in rejects] == [(2, True)]


def test_system_messages_are_counted_and_left_out(memory: Memory) -> None:
    report = ingest([line("Be brief.", role="system"), line("{}", role="tool"), line("Hello there.")], memory.store)
    assert (report.read, report.added, report.ignored) == (3, 2, 1)


def test_a_line_with_tool_calls_is_several_events(memory: Memory, database_url: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"seat": "4A"}'}}
    lines = [
        line("Book 4A."),
        line("One moment.", role="assistant", tool_calls=[call]),
        line('{"status": "booked"}', role="tool", tool_call_id="c1"),
    ]
    for added, repeated in ((4, 0), (0, 4)):
        report = ingest(lines, memory.store)
        assert (report.read, report.added, report.repeated, report.further) == (3, added, repeated, 1)
    assert contents(database_url, "s") == ["Book 4A.", "One moment.", 'book(seat="4A")', "status: booked"]
    names = rows(database_url, "SELECT name FROM slowwave.events WHERE kind = 'tool' ORDER BY seq")
    assert names == [("tool book",), ("tool book",)]
    assert broken_sessions(database_url) == []


def test_progress_is_told_after_commits(memory: Memory, database_url: str) -> None:
    added: list[tuple[int, int]] = []

    def progress(report: IngestReport) -> None:
        stored = rows(database_url, "SELECT count(*) FROM slowwave.events")[0][0]
        added.append((report.added, stored))

    ingest(conversation(250, 1), memory.store, batch_events=100, on_progress=progress)
    assert [told for told, _ in added] == [100, 200, 250]
    assert all(stored >= told for told, stored in added)


def test_due_sessions_are_offered(memory: Memory, redis_client: redis.Redis) -> None:
    ingest([line(f"{n}", session=f"s{n % 3}") for n in range(30)], memory.store)
    assert asked_for(redis_client, NORMAL_QUEUE) == (1, 2)


def test_without_a_server_nothing_is_spooled_and_the_caller_is_told(valkey_url: str, tmp_path: Path) -> None:
    with (
        memory_on("postgresql://nobody@127.0.0.1:1/none", valkey_url, tmp_path / "spool") as memory,
        pytest.raises(StoreUnavailable),
    ):
        ingest(conversation(10, 1), memory.store)
    assert not (tmp_path / "spool").exists()


INGESTS = """
import os, signal, sys
from slowwave import Memory, Settings
from slowwave.ingest import ingest
memory = Memory(Settings(database_url=sys.argv[1], broker_url=sys.argv[2], spool=sys.argv[3]))
commits = int(sys.argv[5])
def progress(report):
    global commits
    commits -= 1
    if commits == 0:
        os.kill(os.getpid(), signal.SIGKILL)
ingest(open(sys.argv[4], encoding="utf-8"), memory.store, batch_events=64, on_progress=progress)
"""


def test_killed_in_the_middle_and_started_again_it_ends_in_the_same_state(
    memory: Memory, database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    lines = conversation(900, 5)
    ingest(lines, memory.store)
    wanted = everything(database_url)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(emptying("agents", "scopes", "events"))
    file = tmp_path / "events.jsonl"
    file.write_text("".join(lines))
    for commits in (1, 4, 9):
        command = [sys.executable, "-c", INGESTS, database_url, valkey_url, str(tmp_path / "spool"), str(file)]
        killed = subprocess.run([*command, str(commits)], check=False, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        assert 0 < len(everything(database_url)) < 900
    with file.open(encoding="utf-8") as again:
        report = ingest(again, memory.store)
    assert report.added + report.repeated == 900
    assert everything(database_url) == wanted
    assert broken_sessions(database_url) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["user", "assistant", "tool", "system"]), st.integers(0, 3)),
        max_size=30,
    ),
    st.integers(1, 7),
    st.integers(0, 30),
)
def test_any_file_in_any_batches_after_any_beginning_gives_the_same(
    memory: Memory, database_url: str, events: list[tuple[str, str, int]], batch_events: int, begun: int
) -> None:
    lines = [line(f"sentence {number}", session, role=role) for session, role, number in events]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(emptying("agents", "scopes", "events"))
    ingest(lines[:begun], memory.store, batch_events=1)
    report = ingest(lines, memory.store, batch_events=batch_events)
    kept = [event for event in events if event[1] != "system"]
    assert report.added + report.repeated == len(kept)
    for session in "abc":
        assert contents(database_url, session) == [f"sentence {number}" for name, _, number in kept if name == session]
    assert broken_sessions(database_url) == []
