"""What a host records, and what it is told about it: the same over every transport."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from slowwave import InvalidMessage, InvalidName, Memory, Message, ScopeConflict, TooLarge
from slowwave.http.backend import GatewayBackend
from tests.transports.backing import TENANT, Backing
from tests.transports.conftest import Connect

TURN = [{"role": "user", "content": "I moved to Lisbon."}, {"role": "assistant", "content": "Noted."}]
_SAID = (
    "SELECT e.role, e.name, e.content, e.turn, e.happened_at, e.metadata FROM slowwave.events e"
    " JOIN slowwave.sessions s ON s.id = e.session_id JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE (a.tenant, a.name) = (%s, %s) ORDER BY s.name, e.seq"
)


def said(backing: Backing, agent: str) -> list[str]:
    return [row[2] for row in backing.sql(_SAID, TENANT, agent)]


def test_a_turn_is_committed_when_the_call_returns(memory: Memory, backing: Backing, agent: str) -> None:
    receipt = memory.turn_completed(agent, "call-1", TURN)
    assert (receipt.added, receipt.repeated, receipt.ignored, receipt.last_seq) == (2, 0, 0, 2)
    assert (receipt.due, receipt.reason, receipt.stored) == (False, None, "postgres")
    assert said(backing, agent) == ["I moved to Lisbon.", "Noted."]


def test_a_repeated_key_adds_nothing(memory: Memory, backing: Backing, agent: str) -> None:
    memory.turn_completed(agent, "call-1", TURN, key="k-1")
    again = memory.turn_completed(agent, "call-1", TURN, key="k-1")
    assert (again.added, again.repeated, again.last_seq) == (0, 2, 2)
    assert len(said(backing, agent)) == 2


def test_messages_keep_their_names_times_and_metadata(memory: Memory, backing: Backing, agent: str) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    message = Message(role="user", content="Hello", name="Ada", at=at, metadata={"channel": "mail"}, key="m-1")
    system = {"role": "system", "content": "Be kind."}
    receipt = memory.turn_completed(agent, "call-1", [message, system], room_id="r-1", thread_id="t-1")
    assert (receipt.added, receipt.ignored) == (1, 1)
    ((role, name, content, turn, happened, metadata),) = backing.sql(_SAID, TENANT, agent)
    assert (role, name, content, turn, happened, metadata) == ("user", "Ada", "Hello", 1, at, {"channel": "mail"})


def test_calls_and_results_of_tools_are_events(memory: Memory, backing: Backing, agent: str) -> None:
    call = {"id": "c-1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
    messages = [
        {"role": "user", "content": "Is it raining?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c-1", "content": "no rain"},
    ]
    assert memory.turn_completed(agent, "call-1", messages).added == 3
    assert "no rain" in said(backing, agent)[-1]


def test_nothing_to_record_is_no_error(memory: Memory, agent: str) -> None:
    receipt = memory.turn_completed(agent, "call-1", [{"role": "system", "content": "Be kind."}])
    assert (receipt.added, receipt.ignored, receipt.last_seq) == (0, 1, None)


@pytest.mark.parametrize(
    ("messages", "error", "says"),
    [
        ([{"role": "wizard", "content": "x"}], InvalidMessage, "role"),
        ([{"role": "user"}], InvalidMessage, "content"),
        ([{"role": "user", "content": "x", "at": "yesterday"}], InvalidMessage, "at must be"),
        ([{"role": "user", "content": "x" * 100_001}], TooLarge, "100,000"),
        ([{"role": "user", "content": "x"}] * 101, TooLarge, "100"),
        ("hello", InvalidMessage, "list of messages"),
    ],
    ids=["role", "content", "at", "long", "many", "no list"],
)
def test_a_turn_that_cannot_be_recorded(
    memory: Memory, backing: Backing, agent: str, messages: object, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        memory.turn_completed(agent, "call-1", messages)  # type: ignore[arg-type]
    assert said(backing, agent) == []


def test_names_keep_their_rules_and_may_hold_slashes(memory: Memory, backing: Backing, agent: str) -> None:
    with pytest.raises(InvalidName, match="agent"):
        memory.turn_completed("", "call-1", TURN)
    with pytest.raises(InvalidName, match="session"):
        memory.turn_completed(agent, "a\nb", TURN)
    odd = f"github.com/acme/{agent} ?#%2F ü"
    memory.turn_completed(odd, "main/1 ..", TURN)
    assert len(said(backing, odd)) == 2


def test_a_session_keeps_the_scope_it_began_with(memory: Memory, agent: str) -> None:
    memory.turn_completed(agent, "in-room", TURN, scope=f"room:{agent}")
    with pytest.raises(ScopeConflict):
        memory.turn_completed(agent, "in-room", TURN, scope="room:other")
    with pytest.raises(InvalidName):
        memory.turn_completed(agent, "in-room", TURN, scope="attic:other")


def test_ends_of_a_conversation_make_it_due(memory: Memory, agent: str) -> None:
    ends = ((memory.session_idle, "idle"), (memory.session_compacted, "compaction"), (memory.session_reset, "reset"))
    for end, reason in ends:
        session = f"call-{reason}"
        memory.turn_completed(agent, session, TURN)
        receipt = end(agent, session)
        assert (receipt.added, receipt.due, receipt.reason) == (0, True, reason)


def test_a_milestone_of_a_task_is_recorded(memory: Memory, backing: Backing, agent: str) -> None:
    assert memory.task_event(agent, "nightly", "run_finished", "Exported 12 invoices.", run="run-7").added == 1
    ((role, _, content, _, _, metadata),) = backing.sql(_SAID, TENANT, agent)
    assert (role, content) == ("task", "Exported 12 invoices.")
    assert metadata == {"event": "run_finished", "run": "run-7"}
    with pytest.raises(InvalidMessage, match="event must be one of"):
        memory.task_event(agent, "nightly", "run_wild", "x")  # type: ignore[arg-type]


def test_a_prompt_boosts_the_other_conversations(memory: Memory, agent: str) -> None:
    memory.turn_completed(agent, "call-1", TURN)
    memory.turn_completed(agent, "call-2", TURN)
    assert memory.prompt_arrived(agent, "call-1") == ("call-2",)
    assert memory.prompt_arrived(f"{agent}-other", "call-1") == ()


def test_a_note_is_kept_once_a_key(memory: Memory, agent: str) -> None:
    before = datetime.now(UTC)
    noted = memory.remember(agent, "Invoices as PDF.", 0.9, "call-1", type="preference", ttl_seconds=3600, key="n-1")
    assert noted.added
    assert before + timedelta(minutes=59) < noted.expires_at < before + timedelta(minutes=62)
    again = memory.remember(agent, "Invoices as PDF.", 0.9, "call-1", type="preference", ttl_seconds=3600, key="n-1")
    assert (again.added, again.id) == (False, noted.id)
    for wrong in ({"importance": 2}, {"ttl_seconds": 0}, {"type": "opinion"}):
        with pytest.raises(InvalidMessage, match=next(iter(wrong))):
            memory.remember(agent, "x", **wrong)  # type: ignore[arg-type]


def test_a_background_host_commits_on_flush(connect: Connect, backing: Backing, agent: str) -> None:
    with connect("background") as memory:
        receipts = [memory.turn_completed(agent, "call-1", TURN) for _ in range(3)]
        assert [(one.added, one.stored, one.last_seq) for one in receipts] == [(2, "queued", None)] * 3
        assert memory.flush(timeout=30)
        assert said(backing, agent) == ["I moved to Lisbon.", "Noted."] * 3


def test_a_closed_memory_has_committed_its_queue(connect: Connect, backing: Backing, agent: str) -> None:
    with connect("background") as memory:
        memory.turn_completed(agent, "call-1", TURN)
    assert len(said(backing, agent)) == 2


_FORKED = """
import json, os, sys
from slowwave import Memory, Settings
options = json.loads(sys.argv[1])
agent = options.pop("agent")
memory = Memory.from_url(**options) if "url" in options else Memory(Settings(**options))
memory.turn_completed(agent, "parent", [{"role": "user", "content": "before"}])
child = os.fork()
who = "child" if child == 0 else "parent"
for number in range(5):
    memory.turn_completed(agent, who, [{"role": "user", "content": f"{who} {number}"}])
memory.close()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_goes_on_recording(connect: Connect, backing: Backing, agent: str) -> None:
    with connect() as memory:
        if isinstance(memory.backend, GatewayBackend):
            wire = memory.backend.gateway.wire
            options = {"url": wire.url, "key": wire._key, "spool": str(memory.backend.gateway.settings.spool)}
        else:
            settings = memory.store.settings
            options = {"database_url": settings.database_url, "broker_url": settings.broker_url, "tenant": TENANT}
            options["spool"] = str(settings.spool)
        command = [sys.executable, "-c", _FORKED, json.dumps({"agent": agent, **options})]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert sorted(said(backing, agent)) == sorted(
        ["before", *(f"{who} {number}" for who in ("child", "parent") for number in range(5))]
    )


def test_a_cycle_is_asked_for_once_and_notes_are_counted(memory: Memory, agent: str) -> None:
    memory.remember(agent, "Invoices as PDF.", 0.9)
    stats = memory.stats(agent)
    assert (stats.noted, stats.open, stats.runs, stats.last_run_at) == (1, 1, 0, None)
    assert memory.consolidate_now(agent)
    assert not memory.consolidate_now(agent)
    assert memory.stats(agent, f"room:{agent}").noted == 0
    with pytest.raises(InvalidName):
        memory.consolidate_now(agent, "attic:x")


def test_status_counts_what_waits(memory: Memory, agent: str) -> None:
    memory.turn_completed(agent, "call-1", TURN)
    status = memory.status()
    assert status.dirty_sessions > 0
    assert status.oldest_dirty_seconds is not None
    assert (status.spool_files, status.spool_bytes, status.rejected_files) == (0, 0, 0)
