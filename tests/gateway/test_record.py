"""Recording over HTTP: what arrives in the tables, for whom, and how often."""

from tests.gateway.conftest import Doors

TURN = {"messages": [{"role": "user", "content": "I moved to Lisbon."}, {"role": "assistant", "content": "Noted."}]}
EVENTS = (
    "SELECT e.kind, e.content FROM slowwave.events e JOIN slowwave.sessions s ON s.id = e.session_id"
    " JOIN slowwave.agents a ON a.id = s.agent_id WHERE a.tenant = %s AND a.name = %s AND s.name = %s ORDER BY e.seq"
)


def test_turn_is_committed_for_the_tenant_of_the_key(doors: Doors) -> None:
    answer = doors.post("/v1/agents/support/sessions/monday/turns", TURN)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "added": 2, "repeated": 0, "ignored": 0, "last_seq": 2, "due": False, "reason": None, "stored": "postgres",
    }  # fmt: skip
    found = doors.rows(EVENTS, "acme", "support", "monday")
    assert found == [("user", "I moved to Lisbon."), ("assistant", "Noted.")]


def test_repeated_turn_adds_nothing(doors: Doors) -> None:
    headers = {"Idempotency-Key": "turn-7"}
    path = "/v1/agents/support/sessions/repeated/turns"
    first, second = (doors.post(path, TURN, headers=headers).json() for _ in range(2))
    assert (first["added"], second["added"], second["repeated"]) == (2, 0, 2)


def test_request_id_is_taken_over_or_made(doors: Doors) -> None:
    given = doors.get("/healthz", headers={"X-Request-Id": "mine-1"})
    assert given.headers["X-Request-Id"] == "mine-1"
    made = doors.get("/healthz", headers={"X-Request-Id": "no good id"})
    assert len(made.headers["X-Request-Id"]) == 24


def test_agent_name_may_hold_a_slash(doors: Doors) -> None:
    path = "/v1/agents/github.com%2Facme%2Fshop/sessions/a%2fb%252F/turns"
    assert doors.post(path, TURN).json()["added"] == 2
    assert len(doors.rows(EVENTS, "acme", "github.com/acme/shop", "a/b%2F")) == 2


def test_note_task_event_and_triggers_are_recorded(doors: Doors) -> None:
    noted = doors.post("/v1/agents/notes/notes", {"content": "Invoices go out as PDF.", "importance": 0.9})
    assert noted.status_code == 200, noted.text
    assert doors.rows("SELECT content FROM slowwave.working_memory WHERE id = %s", noted.json()["id"])
    session = "/v1/agents/notes/sessions/one"
    milestone = doors.post(f"{session}/task-events", {"event": "run_finished", "text": "Exported.", "run": "r1"})
    assert milestone.json()["added"] == 1
    for name, reason in (("idle", "idle"), ("compacted", "compaction"), ("reset", "reset")):
        assert doors.post(f"{session}/{name}", {}).json()["reason"] == reason
    assert doors.post("/v1/agents/notes/sessions/two/prompt").json() == {"boosted": ["one"]}


def test_scope_of_a_session_is_kept_without_naming_it(doors: Doors) -> None:
    board = doors.key(scopes=("room:board",))
    path = "/v1/agents/host/sessions/meeting/turns"
    assert doors.post(path, TURN | {"scope": "room:board"}, key=board).status_code == 200
    assert doors.post(path, TURN, key=board).status_code == 200
    other = doors.key(scopes=("room:kitchen",))
    refused = doors.post(path, TURN, key=other)
    assert (refused.status_code, refused.json()["detail"]) == (
        404, "there is no session 'meeting' that this key reaches",
    )  # fmt: skip
    named = doors.post(path, TURN | {"scope": "room:kitchen"}, key=other)
    assert (named.status_code, named.json()["detail"]) == (404, refused.json()["detail"])
    both = doors.key(scopes=("room:*",))
    assert doors.post(path, TURN | {"scope": "room:kitchen"}, key=both).json()["type"] == "/problems/scope-conflict"


def test_wrong_message_is_named_in_the_problem(doors: Doors) -> None:
    wrong = doors.post("/v1/agents/a/sessions/b/turns", {"messages": [{"role": "user", "content": "x", "at": "soon"}]})
    assert wrong.status_code == 422
    assert wrong.headers["content-type"] == "application/problem+json"
    assert wrong.json()["detail"].startswith("message 1: at must be a time like")
    missing = doors.post("/v1/agents/a/sessions/b/turns", {"messages": [{"content": "x"}]}).json()
    assert missing["errors"] == [{"where": "messages[0].role", "what": "is missing"}]


def test_used_memories_are_marked_if_the_key_reaches_them(doors: Doors) -> None:
    made = "INSERT INTO slowwave.memories (scope_id, type, status, content, confidence, importance, trust, valid_from,"
    made += " recorded_at, reaffirmed_at, content_hash, search) SELECT id, 'fact', 'active', 'x', 0.9, 0.5, 'user',"
    made += " now(), now(), now(), 'x', '' FROM slowwave.scopes WHERE tenant = 'acme' AND kind = %s AND name = %s"
    assert doors.post("/v1/agents/used/sessions/s/turns", TURN).status_code == 200
    assert doors.post("/v1/agents/used/sessions/r/turns", TURN | {"scope": "room:used"}).status_code == 200
    ids = [str(doors.rows(made + " RETURNING id", *scope)[0][0]) for scope in (("agent", "used"), ("room", "used"))]
    given = {"memories": ids, "session": "s"}
    assert doors.post("/v1/agents/used/used", given, key=doors.key(agents=("used",))).json() == {"marked": 1}
    assert doors.post("/v1/agents/used/used", given, key=doors.full("globex")).json() == {"marked": 0}


def test_late_delivery_keeps_the_time_it_was_taken_at(doors: Doors) -> None:
    taken = {"Slowwave-Taken": "2026-01-05T10:00:00+00:00"}
    assert doors.post("/v1/agents/late/sessions/s/turns", TURN, headers=taken).json()["added"] == 2
    noted = doors.post("/v1/agents/late/notes", {"content": "Late."}, headers=taken)
    assert noted.status_code == 200, noted.text
    found = doors.rows("SELECT DISTINCT happened_at::date::text FROM slowwave.events WHERE happened_at < '2026-02-01'")
    assert found == [("2026-01-05",)]
