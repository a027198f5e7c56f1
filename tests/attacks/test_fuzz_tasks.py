"""Payloads of every public task: done, or in `dead_letters` with nothing else written. Never a crash."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from slowwave.messages import CONSOLIDATE_SCOPE, FLUSH_SESSION, PROMPT_ARRIVED, RECORD_TURN, RUN_MAINTENANCE
from slowwave_server.workers.app import SlowwaveApp, make_app
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import Witness, examples, tried
from tests.support.capturing import TURN, broken_sessions, rows, settings_of

pytestmark = pytest.mark.servers

SCHEMAS: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "tasks.schema.json").read_text(encoding="utf-8")
)
tree = odd.json_values
name = odd.often(odd.names, tree)
optional_name = odd.often(st.one_of(st.none(), odd.names), tree)
scope = odd.often(st.sampled_from([None, "room:kitchen", "team:garden"]), st.one_of(odd.odd_text, tree))
moments = odd.moments.map(lambda at: at if isinstance(at, str) else None)
FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "agent": name,
    "session": name,
    "tenant": odd.often(st.sampled_from([None, "default", "acme"]), st.one_of(odd.odd_text, tree)),
    "scope": scope,
    "room_id": optional_name,
    "thread_id": optional_name,
    "key": optional_name,
    "ticket": optional_name,
    "messages": odd.often(st.lists(odd.messages, max_size=3), tree),
    "content": odd.often(odd.texts, tree),
    "importance": odd.often(st.floats(0, 1), st.one_of(odd.edge_numbers, tree)),
    "type": odd.often(st.sampled_from(["fact", "event", "system"]), tree),
    "marked": odd.often(st.booleans(), tree),
    "ttl_seconds": odd.often(st.floats(0, 1e7), st.one_of(odd.edge_numbers, tree)),
    "at": odd.often(st.one_of(st.none(), moments), tree),
    "mode": odd.often(st.sampled_from(["working", "light", "deep"]), tree),
    "job": odd.often(st.sampled_from(["memory_tidy", "retention", "no such job"]), st.one_of(odd.odd_text, tree)),
    "day": odd.often(st.sampled_from(["2026-03-05", "1900-01-01", "2999-12-31", "2026-02-30"]), tree),
    "final": odd.often(st.booleans(), tree),
}


@pytest.fixture(scope="module")
def app(module_database: str, valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlowwaveApp]:
    app = make_app(settings_of(module_database, valkey_url, tmp_path_factory.mktemp("tasks") / "spool"))
    app.loader.import_default_modules()
    app.runtime().memory.turn_completed("atlas", "monday", TURN)
    yield app
    app.close_runtime()
    with Redis.from_url(valkey_url) as client:
        client.flushall()


def _as_received(payload: Any) -> Any:
    """What a worker gets of it: JSON and back. None: it is no JSON, and no message could carry it."""
    try:
        return json.loads(json.dumps(odd.made(payload)))
    except (TypeError, ValueError, RecursionError):
        return None


def _letters(database_url: str) -> int:
    return int(rows(database_url, "SELECT count(*) FROM slowwave.dead_letters")[0][0])


def _run(app: SlowwaveApp, witness: Witness, task: str, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether it was taken: if not, the one dead letter is all that was written."""
    before = witness.look()
    app.tasks[task].apply(args=args, kwargs=kwargs).get()
    after = witness.look()
    letters = after.pop("dead_letters")[0] - before.pop("dead_letters")[0]
    assert letters in (0, 1)
    assert not letters or after == before, "what was refused was written in part"
    return not letters


@pytest.mark.parametrize("task", sorted(SCHEMAS))
def test_a_payload_is_done_or_a_dead_letter(
    task: str, app: SlowwaveApp, witness: Witness, module_database: str
) -> None:
    fields = SCHEMAS[task]["properties"]
    payloads = odd.payloads({field: FIELDS[field] for field in fields}, frozenset(SCHEMAS[task].get("required", ())))
    positional = odd.often(st.just([]), st.lists(tree, max_size=len(fields) + 2))

    @examples(20)
    @given(positional, payloads)
    def holds(args: list[Any], kwargs: dict[str, Any]) -> None:
        received = _as_received([args, kwargs])
        if received is not None:
            tried(f"task {task}", taken=_run(app, witness, task, *received))

    holds()
    assert broken_sessions(module_database) == []


@pytest.mark.parametrize(
    ("task", "kwargs"),
    [
        (FLUSH_SESSION, {"agent": "a\0b", "session": "monday"}),
        (FLUSH_SESSION, {"agent": "atlas", "session": "monday", "tenant": "\0"}),
        (PROMPT_ARRIVED, {"agent": "atlas", "session": "monday", "tenant": ""}),
        (CONSOLIDATE_SCOPE, {"agent": "atlas", "tenant": "\0"}),
        (RUN_MAINTENANCE, {"job": "\0"}),
        (RECORD_TURN, {"agent": "atlas", "session": float("nan")}),
        (RECORD_TURN, {"agent": "atlas", "session": {"x": float("inf")}, "messages": odd.deep(300)}),
    ],
)
def test_what_once_ended_in_an_error_is_a_dead_letter(
    task: str, kwargs: dict[str, Any], app: SlowwaveApp, witness: Witness
) -> None:
    assert not _run(app, witness, task, [], kwargs)
