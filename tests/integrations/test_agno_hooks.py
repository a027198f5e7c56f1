"""Agno's hooks as producers: a context before a run, the turn after it, and nothing that holds up or breaks a run."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agno.media import Audio, File, Image
from agno.models.message import Message
from agno.team import Team

from slowwave import Memory
from slowwave.integrations.agno import SlowwaveHooks
from tests.support.agno_agents import CALLS, TOLD, CallingModel, ScriptedModel, book, make_agent
from tests.support.capturing import broken_sessions, contents, memory_on, rows

pytestmark = pytest.mark.servers


@pytest.fixture
def memory(database_url: str, valkey_url: str, tmp_path: Path) -> Iterator[Memory]:
    with memory_on(database_url, valkey_url, tmp_path / "spool") as memory:
        yield memory


def recorded(database_url: str) -> list[tuple[Any, ...]]:
    return rows(
        database_url,
        "SELECT s.name, e.role, e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
        " ORDER BY e.recorded_at, e.session_id, e.seq",
    )


def test_a_run_is_recorded_once_and_history_is_not_recorded_again(memory: Memory, database_url: str) -> None:
    from agno.db.in_memory import InMemoryDb  # noqa: PLC0415 (takes a while)

    hooks = SlowwaveHooks(memory)
    agent = make_agent(hooks, db=InMemoryDb(), add_history_to_context=True)
    agent.run("My bike is a green Pelago.", session_id="monday")
    output = agent.run("I moved to Lisbon.", session_id="monday")
    assert [role for role, _ in agent.model.seen[-1]] == ["system", "user", "assistant", "user"]
    session = agent.get_session("monday")
    for _ in range(2):  # as after a retry
        hooks.after(output, _context_of(output), session, agent=agent)
    assert recorded(database_url) == [
        ("monday", "user", "My bike is a green Pelago."),
        ("monday", "assistant", "Noted: 26 characters."),
        ("monday", "user", "I moved to Lisbon."),
        ("monday", "assistant", "Noted: 18 characters."),
    ]
    assert broken_sessions(database_url) == []


def test_images_and_files_are_recorded_by_their_words_or_counted(memory: Memory, database_url: str) -> None:
    make_agent(SlowwaveHooks(memory)).run(
        "Look at these.",
        session_id="monday",
        images=[Image(content=b"x", alt_text="a red bike"), Image(url="https://x.example/2")],
        audio=[Audio(content=b"x", transcript="Call me at noon.")],
        files=[File(content=b"x", filename="invoice-12.pdf")],
    )
    told = rows(database_url, "SELECT content, metadata -> 'left_out' FROM slowwave.events ORDER BY seq LIMIT 1")
    words = ("[image: a red bike]", "[audio: Call me at noon.]", "[file: invoice-12.pdf]")
    assert told == [("\n".join(("Look at these.", *words)), {"image": 1})]


def test_calls_and_results_of_tools_are_recorded_in_their_turn(memory: Memory, database_url: str) -> None:
    model = CallingModel(steps=list(CALLS))
    make_agent(SlowwaveHooks(memory), model=model, tools=[book]).run("Book me a seat.", session_id="monday")
    told = rows(
        database_url, "SELECT kind, role, content, metadata ->> 'error', turn FROM slowwave.events ORDER BY seq"
    )
    assert [row[:4] for row in told[:-1]] == TOLD
    assert told[-1][:2] == ("assistant", "assistant")
    assert {row[4] for row in told} == {1}
    assert broken_sessions(database_url) == []


def test_another_session_knows_it_and_mistake_24_the_context_is_nobodys_words(
    memory: Memory, database_url: str
) -> None:
    hooks = SlowwaveHooks(memory)
    make_agent(hooks).run("My bike is a green Pelago, ${user_id} {user_id} {bike}.", session_id="monday")
    agent = make_agent(hooks)
    agent.run("Which bike do I ride?", session_id="tuesday", session_state={"bike": "a secret"}, user_id="u-77")
    said = agent.model.system
    assert said.index("You keep a household.") < said.index("Between the fences")
    assert "green Pelago" in said
    # What somebody said is no template: nothing of the state is filled in.
    assert "a secret" not in said
    assert "u-77" not in said
    assert "```text" in said
    assert all("Between the fences" not in content for _, _, content in recorded(database_url))
    assert contents(database_url, "tuesday")[0] == "Which bike do I ride?"


def test_documents_dependencies_and_examples_are_not_what_somebody_said(memory: Memory, database_url: str) -> None:
    agent = make_agent(
        SlowwaveHooks(memory),
        additional_input=[Message(role="user", content="Example?"), Message(role="assistant", content="Example!")],
        dependencies={"weather": "rain all week"},
        add_dependencies_to_context=True,
        system_message_role="user",
    )
    agent.run("Plan my week.", session_id="monday")
    assert "rain all week" in str(agent.model.seen[-1])
    assert contents_of(database_url, "user") == ["Plan my week."]
    assert contents_of(database_url, "assistant") == [agent.model.answer(agent.model.seen[-1][-1][1])]


def test_a_callers_own_history_is_recorded_once(memory: Memory, database_url: str) -> None:
    agent = make_agent(SlowwaveHooks(memory))
    talk: list[dict[str, str]] = []
    for line in ("My bike is green.", "It has a basket."):
        talk.append({"role": "user", "content": line})
        talk.append({"role": "assistant", "content": str(agent.run(list(talk), session_id="monday").content)})
    assert contents(database_url, "monday") == [message["content"] for message in talk]


def test_async_hooks_record_and_read_without_holding_the_loop(memory: Memory, database_url: str) -> None:
    hooks = SlowwaveHooks(memory)
    agents = [make_agent(hooks, awaited=True) for _ in range(4)]

    async def talk() -> None:
        await asyncio.gather(*(agent.arun(f"I own boat {n}.", session_id=f"s{n}") for n, agent in enumerate(agents)))
        await agents[0].arun("What do I own?", session_id="late")

    asyncio.run(talk())
    assert "I own boat 3." in agents[0].model.system
    assert len(recorded(database_url)) == 10


def test_users_are_kept_apart_by_a_name_of_their_own(memory: Memory) -> None:
    hooks = SlowwaveHooks(memory, agent=lambda user: f"maya/{user}")
    make_agent(hooks).run("My bike is a green Pelago.", session_id="a", user_id="priya")
    others, own = make_agent(hooks), make_agent(hooks)
    others.run("Which bike?", session_id="b", user_id="jonas")
    own.run("Which bike?", session_id="c", user_id="priya")
    assert "Pelago" not in others.model.system
    assert "Pelago" in own.model.system


@pytest.mark.parametrize(
    "private",
    [{"metadata": {"private": True}}, {"session_state": {"private": True}}, {"session_state": {"private": "yes"}}],
)
def test_a_private_run_is_answered_from_memory_and_not_recorded(
    memory: Memory, database_url: str, private: dict[str, Any]
) -> None:
    from agno.db.in_memory import InMemoryDb  # noqa: PLC0415 (takes a while)

    hooks = SlowwaveHooks(memory)
    agent = make_agent(hooks, db=InMemoryDb())
    agent.run("My bike is a green Pelago.", session_id="open")
    agent.run("I am looking for another job.", session_id="mixed", **private)
    assert "Pelago" in agent.model.system
    agent.run("And it is in Porto.", session_id="mixed")  # the flag in the session's state holds on
    kept = [content for session, role, content in recorded(database_url) if session == "mixed" and role == "user"]
    assert kept == ([] if "session_state" in private else ["And it is in Porto."])


def test_a_member_of_a_team_is_spoken_to_by_its_leader_not_by_a_user(memory: Memory, database_url: str) -> None:
    hooks = SlowwaveHooks(memory, agent="crew")
    member = make_agent(hooks)
    team = Team(
        id="crew",
        members=[member],
        model=ScriptedModel(),
        telemetry=False,
        instructions=hooks.instructions("You lead."),
        pre_hooks=[hooks.before],
        post_hooks=[hooks.after],
    )
    team.run("Our boat is called Argo.", session_id="monday")
    team.run("What is our boat called?", session_id="tuesday")
    assert "Argo" in team.model.system
    assert contents_of(database_url, "user") == ["Our boat is called Argo.", "What is our boat called?"]


def test_a_server_that_is_gone_breaks_no_run_and_its_turn_waits_in_the_spool(valkey_url: str, tmp_path: Path) -> None:
    gone = "postgresql://nobody@127.0.0.1:1/gone"
    with memory_on(gone, valkey_url, tmp_path / "spool") as memory:
        output = make_agent(SlowwaveHooks(memory)).run("I moved to Lisbon.", session_id="monday")
        assert output.content == "Noted: 18 characters."
        assert memory.store.flush(0) is False
    assert "I moved to Lisbon." in "".join(p.read_text() for p in (tmp_path / "spool").glob("*.jsonl"))


def test_a_server_that_hangs_holds_a_reply_no_longer_than_its_patience(
    database_url: str, valkey_url: str, tmp_path: Path
) -> None:
    with memory_on(database_url, valkey_url, tmp_path / "spool") as memory:
        hooks = SlowwaveHooks(memory, timeout_seconds=0.05)
        release, waiting = threading.Event(), threading.Event()
        for _ in range(4):  # all threads of the hooks are held up, as by a server that answers nobody
            hooks._submit(lambda: (waiting.set(), release.wait(20), None)[-1])
        assert waiting.wait(5)
        assert make_agent(hooks).run("I moved to Lisbon.", session_id="monday").content
        assert recorded(database_url) == []
        release.set()
        hooks.close()
        assert contents_of(database_url, "user") == ["I moved to Lisbon."]


def contents_of(database_url: str, role: str) -> list[str]:
    return [content for _, spoken, content in recorded(database_url) if spoken == role]


def _context_of(output: Any) -> Any:
    from agno.run import RunContext  # noqa: PLC0415 (takes a while)

    return RunContext(run_id=output.run_id, session_id=output.session_id)
