"""Reading over HTTP: context and search of the agents and scopes that a key reaches, and what answers carry."""

import json

import pytest

from tests.gateway.conftest import Doors
from tests.gateway.test_record import TURN


@pytest.fixture(scope="module", autouse=True)
def said(doors: Doors) -> None:
    assert doors.post("/v1/agents/support/sessions/monday/turns", TURN).json()["added"] == 2
    secret = {"messages": [{"role": "user", "content": "The board meets in Lisbon on Friday."}], "scope": "room:board"}
    assert doors.post("/v1/agents/support/sessions/board/turns", secret).json()["added"] == 1


def test_search_finds_what_was_said_in_another_session(doors: Doors) -> None:
    hits = doors.post("/v1/agents/support/search", {"query": "Lisbon"}).json()["hits"]
    assert [hit["content"] for hit in hits] == ["I moved to Lisbon.", "Noted."][: len(hits)]
    assert hits[0]["sources"] == [["monday", 1]]


def test_context_is_text_and_the_same_as_json(doors: Doors) -> None:
    known = doors.post("/v1/agents/support/context", {"session": "tuesday", "max_tokens": 500}).json()
    assert "I moved to Lisbon." in known["text"]
    assert known["elsewhere"]
    assert 0 < known["tokens"] <= 500
    chat = doors.post("/v1/agents/support/context", {"format": "messages"}).json()
    assert [message["role"] for message in json.loads(chat["text"])] == ["system", "user"]
    assert doors.post("/v1/agents/support/context").status_code == 200


def test_room_is_read_by_a_key_that_reaches_it_alone(doors: Doors) -> None:
    question = {"query": "When does the board meet?", "scopes": ["room:board"]}
    assert doors.post("/v1/agents/support/search", question).json()["hits"][0]["scope"] == "room:board"
    outside = doors.post("/v1/agents/support/search", question, key=doors.key())
    assert (outside.status_code, outside.json()["detail"]) == (404, "there is no room 'board' that this key reaches")


def test_other_tenant_finds_nothing(doors: Doors) -> None:
    assert doors.post("/v1/agents/support/search", {"query": "Lisbon"}, key=doors.full("globex")).json() == {"hits": []}


def test_long_answer_is_compressed_for_who_takes_it(doors: Doors) -> None:
    answer = doors.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json()["openapi"] == "3.1.0"


def test_browsers_of_other_origins_get_no_leave(doors: Doors) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = doors.ask("OPTIONS", "/v1/agents/support/search", headers=asked)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_document_names_each_operation_once_with_its_right(doors: Doors) -> None:
    paths = doors.get("/openapi.json", key="").json()["paths"]
    operations = [operation for path in paths.values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert sorted(names) == sorted(set(names))
    open_to_all = {operation["operationId"] for operation in operations if "security" not in operation}
    assert open_to_all == {"alive", "ready"}
