"""Curation over HTTP: lists page by page, one object with its reasons, changes as runs that can be undone (I6)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from slowwave_server.workers.gateway.cursors import write_cursor
from tests.gateway.conftest import Doors
from tests.gateway.curating import BOREAS, GARDEN, KITCHEN, OWN, Desk, open_desk

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def desk(
    doors: Doors, module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    yield from open_desk(doors, module_database, doors.owner, valkey_url, tmp_path_factory.mktemp("desk"))


LISTS = [
    "/v1/agents",
    "/v1/agents/atlas/memories",
    "/v1/agents/atlas/memories?status=archived",
    "/v1/agents/atlas/memories?scope=room:kitchen&type=fact",
    "/v1/agents/atlas/days",
    "/v1/runs",
    "/v1/runs?kind=deep",
    "/v1/reviews",
    "/v1/keys",
]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_page_by_page_is_the_whole_list(desk: Desk, path: str) -> None:
    whole = desk.get(f"{path}{'&' if '?' in path else '?'}limit=200")
    assert whole["next_cursor"] is None
    assert desk.walk(path) == whole["items"]
    assert len(whole["items"]) >= (0 if "archived" in path else 2) or path.startswith("/v1/keys")


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "cursor",
    [
        "x", "!", "AAAA", "%F0%9F%90%98", write_cursor(1, 2, 3, 4, 5), write_cursor(None), write_cursor("a\x01b"),
        write_cursor("2026-03-05", "atlas"), write_cursor(-1), write_cursor(2**70), "A" * 3000,
    ],
)  # fmt: skip
def test_a_cursor_that_no_page_gave_is_refused(desk: Desk, path: str, cursor: str) -> None:
    answer = desk.doors.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}")
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_memory_says_everything_and_explains_itself(desk: Desk) -> None:
    (first, *_) = desk.world.memories(OWN)
    memory = desk.get(f"/v1/memories/{first}")
    assert (memory["id"], memory["scope"], memory["type"]) == (str(first), "agent:atlas", memory["type"])
    assert OWN.word in memory["content"]
    assert memory in desk.get("/v1/agents/atlas/memories?limit=200")["items"]
    told = desk.get(f"/v1/memories/{first}/explain")
    assert told["memory"] == memory
    assert [source["session"] for source in told["sources"]] == [f"{OWN.word}-talk"]
    assert told["questions"]
    assert told["conflicts"]


def test_i6_a_correction_is_a_run_of_the_key_and_is_undone(desk: Desk) -> None:
    memory = desk.world.memories(OWN)[2]
    before = desk.get(f"/v1/memories/{memory}")
    stale = {"content": "Something else.", "revision": before["revision"] + 1}
    assert desk.patch(f"/v1/memories/{memory}", stale, 409)["type"] == "/problems/conflict"
    wanted = {"content": f"The boat is called {OWN.word} II.", "revision": before["revision"], "reason": "it sank"}
    done = desk.patch(f"/v1/memories/{memory}", wanted)
    assert done["memory"]["content"] == wanted["content"]
    run = desk.get(f"/v1/runs/{done['run']}")
    assert run["run"]["by"].startswith("key:sw_")
    assert "it sank" in run["run"]["summary"]
    assert [change["memory"] for change in run["items"]]
    assert desk.get(f"/v1/memories/{memory}")["status"] == "archived"
    undone = desk.post(f"/v1/runs/{done['run']}/undo", {"no_repeat": True})
    assert (undone["undone"], undone["removed"]) == (done["run"], 1)
    after = desk.get(f"/v1/memories/{memory}")
    assert after | {"revision": None} == before | {"revision": None}
    assert desk.post(f"/v1/runs/{done['run']}/undo", {}, 409)["detail"].startswith(f"run {done['run']} was undone")
    retyped = desk.patch(f"/v1/memories/{memory}", {"type": "lesson"})
    assert (retyped["memory"]["type"], retyped["memory"]["content"]) == ("lesson", before["content"])
    desk.post(f"/v1/runs/{retyped['run']}/undo")


def test_i6_an_archived_memory_leaves_lists_and_comes_back(desk: Desk) -> None:
    memory = str(desk.world.memories(KITCHEN)[2])
    path = "/v1/agents/atlas/memories?scope=room:kitchen&limit=200"
    done = desk.post(f"/v1/memories/{memory}/archive", {"reason": "not needed"})
    assert (done["memory"]["id"], done["memory"]["status"]) == (memory, "archived")
    assert memory not in [one["id"] for one in desk.get(path)["items"]]
    assert desk.post(f"/v1/memories/{memory}/archive", {}, 409)["status"] == 409
    desk.post(f"/v1/runs/{done['run']}/undo")
    assert memory in [one["id"] for one in desk.get(path)["items"]]


def test_a_list_as_of_another_time(desk: Desk) -> None:
    path = "/v1/agents/boreas/memories"
    now = datetime.now(UTC)
    assert desk.get(f"{path}?as_of=2020-01-01")["items"] == []
    assert desk.get(f"{path}?known_at={quote((now - timedelta(days=9)).isoformat())}")["items"] == []
    memory = desk.world.memories(BOREAS)[2]
    done = desk.post(f"/v1/memories/{memory}/archive")
    then = desk.get(f"{path}?known_at={quote(now.isoformat())}&limit=200")["items"]
    (found,) = [one for one in then if one["id"] == str(memory)]
    assert (found["status"] != "archived", found["revision"]) == (True, None)
    desk.post(f"/v1/runs/{done['run']}/undo")
    for wrong in ("yesterday", "2026-13-01", "0001-01-01", "9999-12-31", "20260305", "2026-03-05T25:00:00Z"):
        assert desk.get(f"{path}?as_of={wrong}", 422)["errors"][0]["where"] == "query.as_of"


def test_days_and_their_summaries(desk: Desk) -> None:
    days = desk.get("/v1/agents/atlas/days?limit=200")["items"]
    assert {day["scope"] for day in days} == {None, "room:kitchen", "team:garden"}
    (day, *_) = [day for day in days if day["scope"] == "room:kitchen" and day["status"] == "final"]
    story = desk.get(f"/v1/agents/atlas/days/{day['day']}?scope=room:kitchen")
    assert KITCHEN.word in story["summary"]["text"]
    assert story["versions"] == [story["version"]]
    desk.get(f"/v1/agents/atlas/days/{day['day']}?scope=room:kitchen&version=99", 404)
    desk.get("/v1/agents/atlas/days/1999-01-01", 404)
    assert desk.get(f"/v1/agents/atlas/days?since={day['day']}&limit=200")["items"]


def test_why_a_session_waits(desk: Desk) -> None:
    why = desk.get(f"/v1/agents/atlas/sessions/{OWN.word}-tail/why")
    assert (why["reason"] != "clean", bool(why["sentence"])) == (True, True)
    desk.get("/v1/agents/atlas/sessions/nobody/why", 404)


def test_status_counts_what_the_tenant_has(desk: Desk) -> None:
    status = desk.get("/v1/status")
    assert status["tenant"] == "acme"
    assert status["dirty_sessions"] > 0
    assert status["lag"]["p95_seconds"] is not None


def test_i10_a_forget_is_previewed_then_confirmed(desk: Desk) -> None:
    memory = str(desk.world.memories(GARDEN)[2])
    preview = desk.post("/v1/forgets", {"memory": memory})
    assert (preview["counts"]["memories"], preview["confirm"]) == (1, memory[:8])
    path = f"/v1/forgets/{preview['id']}/confirm"
    assert "confirm must be" in desk.post(path, {"confirm": "yes"}, 422)["detail"]
    desk.get(f"/v1/memories/{memory}")
    receipt = desk.post(path, {"confirm": preview["confirm"]})
    assert receipt["receipt"] >= 1
    desk.get(f"/v1/memories/{memory}", 404)
    by = desk.doors.rows("SELECT erased_by FROM slowwave.erasures WHERE id = %s", receipt["receipt"])
    assert by[0][0].startswith("key:sw_")
    request = desk.get(f"/v1/requests/{preview['id']}")
    assert (request["kind"], request["state"], request["result"]["target"]) == (
        "forget_preview",
        "done",
        f"memory {memory}",
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"agent": "atlas", "scope": "room:kitchen"}, 422),
        ({"session": "monday"}, 422),
        ({"scope": "kitchen"}, 422),
        ({"agent": "atlas", "why": "unknown field"}, 422),
        ({"agent": "nobody"}, 404),
        ({"agent": "atlas", "session": "nobody"}, 404),
        ({"scope": "room:nowhere"}, 404),
        ({"memory": str(uuid4())}, 404),
    ],
)
def test_a_forget_of_nothing_is_refused(desk: Desk, body: dict[str, Any], status: int) -> None:
    told = desk.post("/v1/forgets", body, status)
    assert "did you mean" not in told["detail"], "a sentence names what else there is"


def _question(desk: Desk, column: str) -> int:
    (found,) = desk.doors.rows(
        f"SELECT min(id) FROM slowwave.review_items WHERE scope_id = %s AND {column} IS NOT NULL",
        desk.world.scope_id(BOREAS),
    )
    return int(found[0])


def test_i6_a_contradiction_is_decided_as_it_was_seen(desk: Desk) -> None:
    number = _question(desk, "conflict_id")
    review = desk.get(f"/v1/reviews/{number}")
    choices = {(choice["decision"], choice["memory"]) for choice in review["choices"]}
    (conflict,) = review["review"]["conflicts"]
    older, newer = conflict["older"]["id"], conflict["newer"]["id"]
    kept = {("keep", older), ("keep", newer), ("reject", None), ("merge", None), ("neither", None)}
    assert choices <= kept
    assert {("keep", older), ("reject", None)} <= choices
    seen = review["seen"]
    changed = {memory: revision + 1 for memory, revision in seen.items()}
    refused = desk.post(f"/v1/reviews/{number}/decision", {"decision": "reject", "seen": changed}, 409)
    assert "nothing was changed" in refused["detail"]
    done = desk.post(f"/v1/reviews/{number}/decision", {"decision": "keep", "memory": older, "seen": seen})
    assert (done["number"], bool(done["text"])) == (number, True)
    assert desk.get(f"/v1/reviews/{number}")["choices"] == []
    assert desk.get(f"/v1/runs/{done['run']}")["run"]["by"].startswith("key:sw_")
    desk.post(f"/v1/reviews/{number}/decision", {"decision": "reject"}, 409)
    desk.post(f"/v1/runs/{done['run']}/undo")
    assert desk.get(f"/v1/reviews/{number}")["review"]["state"] == "open"


def test_a_question_about_a_memory_takes_the_answers_it_names(desk: Desk) -> None:
    number = _question(desk, "memory_id")
    review = desk.get(f"/v1/reviews/{number}")
    assert {"accept", "reject"} <= {choice["decision"] for choice in review["choices"]}
    done = desk.post(f"/v1/reviews/{number}/decision", {"decision": "accept", "seen": review["seen"]})
    assert number not in [one["number"] for one in desk.get("/v1/reviews?limit=200")["items"]]
    assert number in [one["number"] for one in desk.get("/v1/reviews?state=accepted&limit=200")["items"]]
    desk.post(f"/v1/runs/{done['run']}/undo")
    assert desk.post(f"/v1/reviews/{number}/decision", {"decision": "keep"}, 422)["errors"]


def test_a_key_makes_keys_that_may_do_no_more_than_itself(desk: Desk) -> None:
    own = desk.key(agents=("at*",), scopes=("room:k*",), rights=("read", "administer"))
    made = desk.post("/v1/keys", {"name": "reader", "rights": ["read"], "agents": ["atlas"]}, 201, key=own)
    assert (made["agents"], made["scopes"], made["rights"]) == (["atlas"], ["room:k*"], ["read"])
    desk.get("/v1/agents/atlas/memories", key=made["key"])
    desk.get("/v1/agents/boreas/memories", 404, key=made["key"])
    for more in (
        {"rights": ["forget"]},
        {"rights": ["read"], "agents": []},
        {"rights": ["read"], "agents": ["boreas"]},
        {"rights": ["read"], "agents": ["a*"]},
        {"rights": ["read"], "scopes": ["room:*"]},
        {"rights": ["read"], "scopes": ["team:kitchen"]},
    ):
        refused = desk.post("/v1/keys", {"name": "greedy", **more}, 403, key=own)
        assert refused["type"] == "/problems/exceeds-key", more
    for wrong in ({"rights": []}, {"rights": ["all"]}, {"rights": ["read"], "scopes": ["kitchen"]}, {}):
        desk.post("/v1/keys", {"name": "wrong", **wrong}, 422, key=own)
    listed = desk.get("/v1/keys?limit=200", key=own)["items"]
    assert made["id"] in [key["id"] for key in listed]
    assert all("key" not in key and key["rights"] != ["forget"] for key in listed)
    acts = desk.doors.rows("SELECT what, via FROM slowwave.audit_log WHERE action = 'key' ORDER BY id DESC LIMIT 1")
    assert acts == [(f"made key reader ({made['prefix']})", "http")]


def test_a_revoked_key_opens_nothing(desk: Desk) -> None:
    made = desk.post("/v1/keys", {"name": "short-lived", "rights": ["read"]}, 201)
    desk.get("/v1/agents", key=made["key"])
    revoked = desk.doors.ask("DELETE", f"/v1/keys/{made['id']}")
    assert (revoked.status_code, revoked.json()["revoked_at"] is not None) == (200, True)
    desk.get("/v1/agents", 401, key=made["key"])


def test_an_expiring_key_makes_none_that_lasts_longer(desk: Desk) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    first = desk.post("/v1/keys", {"name": "hour", "rights": ["administer"], "expires_at": soon.isoformat()}, 201)
    second = desk.post("/v1/keys", {"name": "too", "rights": ["administer"]}, 201, key=first["key"])
    assert second["expires_at"] == first["expires_at"]
    later = (soon + timedelta(hours=1)).isoformat()
    desk.post("/v1/keys", {"name": "late", "rights": ["administer"], "expires_at": later}, 403, key=first["key"])


def test_working_memory_is_counted_and_a_cycle_asked_for_once(desk: Desk) -> None:
    stats = desk.get("/v1/agents/atlas/stats?scope=room:kitchen")
    assert (stats["noted"] >= 2, stats["runs"] >= 1) == (True, True)
    path, body = "/v1/agents/atlas/consolidate", {"scope": "room:kitchen"}
    desk.doors.redis.delete("consolidate", *desk.doors.redis.keys("slowwave:consolidate:*"))
    assert [desk.post(path, body)["asked"] for _ in range(2)] == [True, False]
    desk.post(path, body, 404, key=desk.key(agents=("atlas",)))
    desk.get("/v1/agents/boreas/stats", 404, key=desk.key(agents=("atlas",)))


def test_a_memory_says_in_how_many_conversations_it_was_used(desk: Desk) -> None:
    memory = str(desk.world.memories(OWN)[0])
    for session in ("one", "one", "two"):
        desk.post("/v1/agents/atlas/used", {"memories": [memory], "session": session})
    found = desk.get(f"/v1/memories/{memory}")
    assert (found["used"] >= 1, found["last_used_at"] is not None) == (True, True)
