"""Noise: machinery and courtesies go, what people mean and how runs ended stays."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slowwave.recall import Context, Contradiction, Day, DayLine, Hit, Utterance
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.noise import MILESTONES, ends_a_run, is_chatter, is_noise, without_machinery

AT = datetime(2024, 3, 4, 9, tzinfo=UTC)


def event(content: str, *, kind: EventKind = "user", role: str = "user", **metadata: object) -> Event:
    return Event(1, kind, role, content, AT, metadata=metadata)


@pytest.mark.parametrize(
    "noise",
    [
        event("{'rows': 4}", kind="assistant", role="tool"),
        event("You are helpful.", kind="assistant", role="system"),
        event("Let me look that up.", kind="assistant", role="assistant", tool_calls=[{"name": "search"}]),
        event("heartbeat from worker", kind="task", role="task"),
        event("calling search", kind="task", role="task", event="tool_call"),
        event("I like tea.", recalled=True),
        event("🙂 👍"),
        event(""),
    ],
)
def test_machinery_is_noise(noise: Event) -> None:
    assert is_noise(noise)


@pytest.mark.parametrize("milestone", sorted(MILESTONES))
def test_how_a_run_ended_is_no_noise(milestone: str) -> None:
    assert not is_noise(event("Nightly import", kind="task", role="task", event=milestone))


def test_a_run_ends_with_its_outcome_and_with_nothing_else() -> None:
    ends = {milestone for milestone in MILESTONES if ends_a_run(event("Import", kind="task", event=milestone))}
    assert ends == {"run_finished", "run_failed", "run_blocked"}
    assert not ends_a_run(event("Import", kind="task", event="tool_call"))
    assert not ends_a_run(event("It has finished.", kind="user", event="run_finished")), "only tasks run"


def test_what_people_say_is_no_noise() -> None:
    assert not is_noise(event("I moved to Leeds."))
    assert not is_noise(event("I will send it.", kind="assistant", role="assistant"))


@pytest.mark.parametrize("text", ["Hi!", "Thanks, bye :)", "hello there, how are you?", "Ok great, thank you so much!"])
def test_courtesies_are_chatter(text: str) -> None:
    assert is_chatter(text)


@pytest.mark.parametrize("text", ["Hi, I moved to Leeds.", "Thanks, my son loved it", "No more meetings on Friday"])
def test_a_courtesy_with_a_statement_is_no_chatter(text: str) -> None:
    assert not is_chatter(text)


def test_mistake_24_recalled_memories_are_no_evidence() -> None:
    text = "<memories>\nPriya likes tea.\n</memories>\nWhat should I cook?"
    assert "Priya" not in without_machinery(text)
    assert "cook" in without_machinery(text)


def test_mistake_24_what_a_context_block_said_is_not_said_again() -> None:
    hit = Hit(
        id="01890000-0000-7000-8000-000000000001",
        kind="memory",
        content="Priya likes green tea",
        score=1.0,
        status="active",
        valid_from=AT,
        sources=(),
        scope=None,
        type="preference",
    )
    other = replace(hit, id="01890000-0000-7000-8000-000000000002", content="Priya likes black tea")
    passage = replace(hit, id="tea#7", kind="event", content="I like blue tea", speaker="Priya")
    said = Utterance("tea#room", 4, "helper", "Priya", "Priya likes white tea", AT, None)
    lines = (DayLine("said", "Priya likes tea at four", "Priya", "tea#room", 3, AT), DayLine("said", "Priya likes it"))
    known = Context(
        days=(Day(AT.date(), "helper", None, 2, final=False, lines=lines, unsummarised=(said,)),),
        memories=(hit,),
        passages=(passage, replace(passage, id="tea#8")),
        conflicts=(Contradiction(1, "two teas", (hit, other)),),
        elsewhere=(said,),
    )
    block = known.to_text()
    quoted = [line for line in block.splitlines() if "Priya" in line]
    assert len(quoted) == 8
    assert sum("[said #8]" in line for line in quoted) == 1
    whole = f"- 2026-03-01 Priya likes green tea [memory {hit.id}]"
    told = [f"- 2026-03-01 Priya likes green tea [memory {hit.id[-n:]}, active, said in tea#3]" for n in (8, 12)]
    for pasted in (block, f"From memory:\n{quoted[0]}\nIs that right?", "\n".join(quoted), *quoted, whole, *told):
        heard = Event(1, "user", "user", pasted, AT)
        assert "Priya" not in without_machinery(pasted)
        assert RulesExtractor().extract(Window((heard,)), ExtractionContext("helper", "UTC", ()), AT).candidates == ()


@pytest.mark.parametrize(
    "line",
    [
        "2024-03-04 09:00:01 INFO worker started",
        "ERROR: connection refused",
        "Traceback (most recent call last):",
        '  File "app.py", line 3, in main',
        '{"id": 4, "name": "x"}',
        "Calling tool search_web",
        "task_id=8f2c state=ok",
        "$ ls -la",
    ],
)
def test_lines_of_machines_go_and_the_rest_stays(line: str) -> None:
    assert without_machinery(f"I moved to Leeds.\n{line}\nMy boss is Ann.") == "I moved to Leeds.\nMy boss is Ann."
    assert without_machinery(line) == ""


def test_fenced_code_goes_even_when_it_is_never_closed() -> None:
    assert "secret" not in without_machinery("See this:\n```\nsecret = 1")
    assert without_machinery("```x```I moved.").strip() == "I moved."


@pytest.mark.parametrize("junk", ["<", "```", "<memory>", "[", "{", "\n", "hi ", "File ", '"a":'])
def test_hostile_text_is_cleaned_in_bounded_time(junk: str) -> None:
    began = time.process_time()
    text = junk * (100_000 // len(junk))
    without_machinery(text)
    is_chatter(text)
    assert time.process_time() - began < 5


def test_words_after_a_reminder_of_the_host_stay() -> None:
    told = "<system-reminder>\nThe user opened pumps.py.\n</system-reminder>\n\nWhere are the pumps of port 7?"
    assert without_machinery(told).strip() == "Where are the pumps of port 7?"


def test_edit_blocks_without_a_fence_are_code() -> None:
    edit = "<<<<<<< SEARCH\n- Port 7 has two pumps.\n=======\n- Port 7 has three pumps.\n>>>>>>> REPLACE"
    told = f"Port 7 changes.\n{edit}\nDone."
    assert without_machinery(told).split() == ["Port", "7", "changes.", "Done."]
