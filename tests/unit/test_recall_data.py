"""Data sets of recall: what a line may hold, what a question sees, what is said about a bad line."""

import json
from typing import Any

import pytest

from slowwave_server.services.evaluation.recall_data import BadLine, read_recall

CABIN = {"agent": "atlas", "session": "trip", "id": "cabin", "role": "user", "name": "Maya", "content": "A cabin."}
FERRY = {"agent": "atlas", "session": "trip", "role": "assistant", "content": "A ferry?"}
MOVE = {"agent": "atlas", "session": "work", "role": "user", "content": "We move.", "at": "2026-02-01T10:00:00+01:00"}
ASKED = {"agent": "atlas", "question": "Where?", "evidence": ["cabin"]}


def read(*lines: dict[str, Any]) -> Any:
    (agent,) = read_recall(json.dumps(line) for line in lines)
    return agent


def refusal(*lines: Any) -> str:
    with pytest.raises(BadLine) as refused:
        read_recall(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return str(refused.value)


def test_events_of_an_agent_are_ordered_by_time() -> None:
    early = CABIN | {"id": "early", "session": "old", "at": "2020-01-01T00:00:00Z"}
    agent = read(CABIN, FERRY, MOVE, early, ASKED)
    assert [event.id for event in agent.events] == ["early", "cabin", "trip#2", "work#1"]
    assert (agent.events[2].at - agent.events[1].at).total_seconds() == 60
    assert agent.questions[0].sees == 4


def test_question_before_a_session_sees_what_is_earlier() -> None:
    assert read(CABIN, FERRY, MOVE, ASKED | {"before": "work"}).questions[0].sees == 2
    assert read(CABIN, FERRY, MOVE, ASKED | {"before": "2026-02-01T09:00:00Z"}).questions[0].sees == 2
    assert read(CABIN, FERRY, MOVE, ASKED | {"before": "2026-02-01T09:00:01Z"}).questions[0].sees == 3


def test_calls_of_tools_count_as_events_of_their_line() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"place": "Bergen"}'}}
    spoken = FERRY | {"tool_calls": [call]}
    agent = read(CABIN, spoken, ASKED)
    assert [event.recorded for event in agent.events] == [1, 2]


def test_agents_without_questions_are_left_out() -> None:
    assert read_recall([json.dumps(CABIN)]) == []


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["nonsense"], "line 1: the line is not JSON"),
        (["[1]"], "line 1: the line must hold a JSON object, got ["),
        ([CABIN, CABIN | {"content": "Again."}], "line 2: two events of agent 'atlas' have the id 'cabin'"),
        ([CABIN | {"colour": "red"}], "line 1: unknown field 'colour'; allowed for an event: agent, at, content"),
        ([CABIN | {"role": "king"}], "line 1: role"),
        ([CABIN | {"at": "yesterday"}], "line 1: at"),
        ([CABIN | {"session": ""}], "line 1: session"),
        ([CABIN, ASKED | {"evidence": []}], "line 2: evidence must be a list of at least one id of an event, got ["),
        ([CABIN, ASKED | {"evidence": ["hut"]}], "line 2: evidence 'hut' is the id of no event of agent 'atlas'"),
        ([CABIN, MOVE, ASKED | {"before": "trip"}], "line 3: evidence 'cabin' is not earlier than before, 'trip'"),
        ([CABIN, ASKED | {"before": "soon"}], "line 2: before must be the name of a session of the agent, or a time"),
        ([CABIN, ASKED | {"question": " "}], "line 2: question must be text that is not empty"),
    ],
)
def test_bad_line_says_number_reason_and_what_is_allowed(lines: list[Any], reason: str) -> None:
    assert reason in refusal(*lines)
