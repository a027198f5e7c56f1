"""I8 over HTTP: what a key does not reach answers exactly like what is not there, and nothing of it changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.gateway.conftest import RIGHTS, Doors
from tests.gateway.curating import BOREAS, KITCHEN, OWN, THEIR_KITCHEN, THEIRS, Desk, open_desk, told
from tests.support.forgetting import dump_tables
from tests.support.walls import Place, words_in

pytestmark = pytest.mark.servers

MISSING = 987_654_321
SEEN = {"api_keys", "requests"}
"""Tables that a request may write to: when a key was used, and what a worker is asked."""


@pytest.fixture(scope="module")
def desk(
    doors: Doors, module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    yield from open_desk(doors, module_database, doors.owner, valkey_url, tmp_path_factory.mktemp("desk"))


@dataclass(frozen=True)
class Attempt:
    """One request about one object. path holds "{}" for the object."""

    method: str
    path: str
    body: Any = None

    def of(self, name: object) -> tuple[str, str, dict[str, Any]]:
        at = quote(str(name), safe="")
        body = None
        if self.body is not None:
            body = {field: str(name) if value == "{}" else value for field, value in self.body.items()}
        return self.method, self.path.replace("{}", at), {} if body is None else {"json": body}


OBJECTS: Mapping[str, tuple[Attempt, ...]] = {
    "memory": (
        Attempt("GET", "/v1/memories/{}"),
        Attempt("GET", "/v1/memories/{}/explain"),
        Attempt("PATCH", "/v1/memories/{}", {"content": "It is mine."}),
        Attempt("POST", "/v1/memories/{}/archive", {}),
        Attempt("POST", "/v1/forgets", {"memory": "{}"}),
    ),
    "run": (
        Attempt("GET", "/v1/runs/{}"),
        Attempt("POST", "/v1/runs/{}/undo", {}),
    ),
    "review": (
        Attempt("GET", "/v1/reviews/{}"),
        Attempt("POST", "/v1/reviews/{}/decision", {"decision": "accept"}),
    ),
    "agent": (
        Attempt("GET", "/v1/agents/{}/memories"),
        Attempt("GET", "/v1/agents/{}/days"),
        Attempt("GET", "/v1/agents/{}/days/2026-03-05"),
        Attempt("GET", "/v1/agents/{}/sessions/monday/why"),
        Attempt("POST", "/v1/forgets", {"agent": "{}"}),
    ),
    "scope": (
        Attempt("GET", "/v1/agents/atlas/memories?scope={}"),
        Attempt("GET", "/v1/agents/atlas/days/2026-03-05?scope={}"),
        Attempt("GET", "/v1/runs?scope={}"),
        Attempt("GET", "/v1/reviews?scope={}"),
        Attempt("POST", "/v1/forgets", {"scope": "{}"}),
    ),
    "request": (
        Attempt("GET", "/v1/requests/{}"),
        Attempt("POST", "/v1/forgets/{}/confirm", {"confirm": "atlas"}),
    ),
    "key": (Attempt("DELETE", "/v1/keys/{}"),),
}


def _names(desk: Desk, kind: str, place: Place) -> object:
    if kind == "memory":
        return desk.world.memories(place)[0]
    if kind == "run":
        return desk.world.numbers("maintenance_runs", place)[-1]
    if kind == "review":
        return desk.world.numbers("review_items", place)[0]
    return place.agent if kind == "agent" else ":".join(place.key)


def _missing(kind: str) -> object:
    if kind in {"memory", "request", "key"}:
        return uuid4()
    if kind in {"run", "review"}:
        return MISSING
    return "nobody" if kind == "agent" else "room:nowhere"


def _answer(desk: Desk, attempt: Attempt, name: object, key: str) -> tuple[int, str, list[str]]:
    method, path, more = attempt.of(name)
    answer = desk.doors.ask(method, path, key=key, **more)
    body = {field: value for field, value in answer.json().items() if field != "request_id"}
    said = str(body).replace(str(name), "…").replace(repr(str(name).partition(":")[2]), "'…'")
    return answer.status_code, said, sorted(answer.headers)


FROM_OUTSIDE = [
    ("memory", BOREAS), ("memory", KITCHEN), ("memory", THEIRS), ("memory", THEIR_KITCHEN),
    ("run", BOREAS), ("run", KITCHEN), ("run", THEIRS),
    ("review", BOREAS), ("review", KITCHEN), ("review", THEIRS),
    ("agent", BOREAS), ("scope", KITCHEN), ("scope", BOREAS),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "place"), FROM_OUTSIDE, ids=lambda value: getattr(value, "word", value))
def test_i8_out_of_reach_answers_like_not_there(desk: Desk, kind: str, place: Place) -> None:
    key = desk.key(agents=("atlas",))
    before = dump_tables(desk.doors.owner, SEEN)
    for attempt in OBJECTS[kind]:
        if kind == "scope" and place is BOREAS and "/agents/" in attempt.path:
            continue  # an agent's own scope is no shared one
        hidden = _answer(desk, attempt, _names(desk, kind, place), key)
        if kind == "scope" and place is BOREAS:
            missing = _answer(desk, attempt, "agent:nobody", key)
        else:
            missing = _answer(desk, attempt, _missing(kind), key)
        assert hidden == missing, attempt
        assert hidden[0] == 404, attempt
    assert dump_tables(desk.doors.owner, SEEN) == before


@pytest.mark.parametrize("kind", ["memory", "run", "review"])
def test_the_same_attempts_find_what_is_within_reach(desk: Desk, kind: str) -> None:
    """Otherwise the walls would prove nothing."""
    for attempt in OBJECTS[kind]:
        if attempt.method == "GET":
            assert _answer(desk, attempt, _names(desk, kind, OWN), desk.key(agents=("atlas",)))[0] == 200


def test_i8_requests_and_keys_of_another_key_are_not_there(desk: Desk) -> None:
    mine, other = desk.key(agents=("atlas",)), desk.key(agents=("atlas",), rights=("forget", "administer"))
    asked = desk.post("/v1/forgets", {"agent": "atlas"}, key=mine)["id"]
    theirs = told(desk.doors.post("/v1/forgets", {"agent": "atlas"}, key=desk.doors.full("globex")), 200)["id"]
    for attempt in OBJECTS["request"]:
        for request in (asked, theirs):
            assert _answer(desk, attempt, request, other) == _answer(desk, attempt, uuid4(), other)
    above = told(desk.doors.post("/v1/keys", {"name": "above", "rights": ["decide"]}), 201)["id"]
    their_key = told(desk.doors.post("/v1/keys", {"name": "t", "rights": ["read"]}, key=desk.doors.full("globex")), 201)
    for known in (above, their_key["id"]):
        for attempt in OBJECTS["key"]:
            answer = _answer(desk, attempt, known, other)
            assert (answer, answer[0]) == (_answer(desk, attempt, uuid4(), other), 404)


LISTS = ["/v1/agents", "/v1/agents/atlas/memories", "/v1/agents/atlas/days", "/v1/runs", "/v1/reviews"]


@pytest.mark.parametrize("path", LISTS)
def test_i8_lists_hold_what_the_key_reaches(desk: Desk, path: str) -> None:
    key = desk.key(agents=("atlas",))
    items = desk.get(f"{path}?limit=200", key=key)["items"]
    assert items
    assert words_in(items) <= {OWN.word}
    assert "boreas" not in str(items)
    for item in items:
        assert item.get("scope") in {None, "agent:atlas"}


def test_i8_a_room_is_read_by_a_key_that_reaches_it(desk: Desk) -> None:
    key = desk.key(agents=("atlas",), scopes=("room:kit*",))
    path = "/v1/agents/atlas/memories?limit=200&scope="
    assert KITCHEN.word in words_in(desk.get(f"{path}room:kitchen", key=key))
    desk.get(f"{path}team:garden", 404, key=key)
    assert "room:kitchen" in {day["scope"] for day in desk.get("/v1/agents/atlas/days?limit=200", key=key)["items"]}


def test_i8_a_run_over_all_scopes_is_for_keys_that_reach_all(desk: Desk) -> None:
    with desk.doors.owner.begin() as connection:
        run = connection.exec_driver_sql(
            "INSERT INTO slowwave.maintenance_runs (kind, started_at, tenant, status)"
            " VALUES ('other', now(), 'acme', 'completed') RETURNING id"
        ).scalar_one()
    assert desk.get(f"/v1/runs/{run}")["run"]["scope"] is None
    desk.get(f"/v1/runs/{run}", 404, key=desk.key(agents=("atlas",), scopes=("room:*", "team:*")))


def _operations(desk: Desk) -> Iterator[tuple[str, str, list[str]]]:
    document = told(desk.doors.get("/openapi.json", key=""), 200)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if "x-slowwave-rights" in operation:
                yield method.upper(), path, operation["x-slowwave-rights"]


def test_every_path_refuses_keys_that_lack_its_right(desk: Desk) -> None:
    found = list(_operations(desk))
    assert len(found) >= 20
    for method, template, rights in found:
        path = template.replace("{memory}", str(uuid4())).replace("{run}", "1").replace("{number}", "1")
        path = path.replace("{day}", "2026-03-05").replace("{", "").replace("}", "")
        weak = desk.key(rights=tuple(right for right in RIGHTS if right not in rights))
        refused = desk.doors.ask(method, path, key=weak, **({"json": {}} if method != "GET" else {}))
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/right-missing"), (method, path)
        assert desk.doors.ask(method, path, key="").status_code == 401, (method, path)
