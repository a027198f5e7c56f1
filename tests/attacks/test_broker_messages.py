"""What somebody can do who may write into the broker: forged messages of Celery, and what a worker makes of them.

`tests/workers/test_forged_messages.py` sends the same to a real worker.
"""

import base64
import bz2
import gzip
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from slowwave.coordination.keys import QUEUES
from slowwave.messages import FLUSH_SESSION, RUN_MAINTENANCE
from slowwave_server.tasks.capture import REFUSED_MESSAGE
from slowwave_server.workers.admission import MAX_BODY_CHARACTERS, ON_CAPTURE, Inadmissible, admit
from slowwave_server.workers.control import QUESTIONS, admit_question
from tests.support.forging import BODIES, CALLBACK, forged, turn

HARMLESS = {
    "eta": None, "shadow": None, "group": None, "group_index": None, "retries": 0, "timelimit": [None, None],
    "parent_id": None, "replaced_task_nesting": 0, "stamped_headers": None, "stamps": {},
}  # fmt: skip


def test_callbacks_chains_and_times_are_taken_off_and_the_work_stays() -> None:
    embed = {"callbacks": [CALLBACK], "errbacks": [CALLBACK], "chain": [CALLBACK], "chord": CALLBACK}
    later = {"eta": "2999-01-01T00:00:00+00:00", "timelimit": [0.01, 0.01], "retries": 7, "shadow": "x", "group": "g"}
    message, removed = admit(forged(kwargs=turn("maya", "hello"), embed=embed, headers=later), "capture")
    assert json.loads(message["body"]) == [
        [], turn("maya", "hello"), {"callbacks": None, "errbacks": None, "chain": None, "chord": None},
    ]  # fmt: skip
    assert {name: message["headers"][name] for name in HARMLESS} == HARMLESS
    assert set(removed) == {"callbacks", "errbacks", "chain", "chord", "eta", "shadow", "group"}


def test_a_message_goes_back_to_its_own_queue_under_a_tag_of_ours() -> None:
    """Else a worker that stops would write it into any list, or over the message that has the tag."""
    elsewhere = {"exchange": "slowwave", "routing_key": "slowwave:{default/atlas}:running"}
    properties = {"delivery_info": elsewhere, "delivery_tag": "taken", "priority": 99, "reply_to": "elsewhere"}
    message, _ = admit(forged(properties=properties), "capture")
    assert message["properties"]["delivery_info"] == {"exchange": "", "routing_key": "capture"}
    assert message["properties"]["delivery_tag"] != "taken"
    assert (message["properties"]["priority"], message["properties"]["reply_to"]) == (0, "")


@pytest.mark.parametrize("task", [FLUSH_SESSION, RUN_MAINTENANCE, "slowwave.sweep_sessions", "slowwave.of_tomorrow"])
def test_who_may_write_into_capture_alone_starts_nothing_else(task: str) -> None:
    message, _ = admit(forged(task, turn("maya", "hello")), "capture")
    assert message["headers"]["task"] == REFUSED_MESSAGE, "it becomes a dead letter"
    assert json.loads(message["body"])[:2] == [[task, [], turn("maya", "hello")], {}]
    with pytest.raises(Inadmissible, match="none of those that flush carries"):
        admit(forged("slowwave.of_tomorrow", queue="flush"), "flush")
    with pytest.raises(Inadmissible, match="none of those that days carries"):
        admit(forged(REFUSED_MESSAGE, queue="days"), "days")
    for known in ON_CAPTURE:
        assert admit(forged(known), "capture")[0]["headers"]["task"] == known


@pytest.mark.parametrize("task", ["chain", "chord", "chord_unlock", "group", "map", "starmap", "chunks", "accumulate"])
def test_celerys_own_tasks_which_run_others_are_not_run(task: str) -> None:
    for queue in QUEUES:
        with pytest.raises(Inadmissible):
            admit(forged(f"celery.{task}", queue=queue), queue)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, bz2.compress])
@pytest.mark.parametrize("name", ["application/x-gzip", "gzip", "zlib", "application/bzip2", "lzma", "zstd"])
def test_a_compressed_body_is_not_unpacked(name: str, pack: Any) -> None:
    bomb = base64.b64encode(pack(b" " * 10_000_000)).decode()
    with pytest.raises(Inadmissible, match="compressed"):
        admit(forged(headers={"compression": name}, properties={"body_encoding": "base64"}, body=bomb), "capture")
    # Python knows encodings that unpack, too.
    message, _ = admit(forged(kwargs=turn("maya", "hello"), **{"content-encoding": "bz2_codec"}), "capture")
    assert message["content-encoding"] == "utf-8"


@pytest.mark.parametrize(
    "content_type", ["application/x-python-serialize", "application/x-yaml", "application/x-msgpack"]
)
def test_of_another_content_type_nothing_is_kept_but_its_name(content_type: str) -> None:
    message, _ = admit(
        forged(body="gASVIAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU", **{"content-type": content_type}), "capture"
    )
    assert (message["body"], message["content-type"]) == ("", content_type)


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("id", "x\nINFO forged: all is well"), ("id", "\x1b[2J"), ("id", "a" * 201), ("id", {"a": 1}), ("id", None),
        ("id", "\u202egnorw"), ("task", ["slowwave.remember"]), ("task", "slowwave.remember\n"), ("task", None),
    ],
)  # fmt: skip
def test_a_name_that_would_forge_a_line_of_the_log_or_end_the_worker_is_refused(field: str, word: Any) -> None:
    with pytest.raises(Inadmissible) as refused:
        admit(forged(headers={field: word}), "flush")
    assert "\n" not in str(refused.value)
    assert "forged" not in str(refused.value)


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:30])
def test_a_body_that_is_not_a_tasks_is_refused(body: str) -> None:
    with pytest.raises(Inadmissible):
        admit(forged(body=body), "capture")


def test_a_body_of_any_size_costs_no_more_than_its_reading() -> None:
    with pytest.raises(Inadmissible, match=r"20,000,001 characters, at most 20,000,000"):
        admit(forged(body="[" * (MAX_BODY_CHARACTERS + 1)), "capture")


def test_monitors_are_shown_names_and_ids_but_no_words() -> None:
    """A plain sender of Celery writes all its arguments into the headers that monitors show."""
    said = turn("maya", "My door code is 4711.") | {"The vault": "is open"}
    spoken = {"argsrepr": "('My door code is 4711.',)", "kwargsrepr": repr(said)}
    message, _ = admit(forged(kwargs=said, headers=spoken), "capture")
    assert message["headers"]["kwargsrepr"] == "{?, agent, key, messages, session}"
    assert message["headers"]["argsrepr"] == "[]"
    body = json.dumps([["maya", "s1", "My door code is 4711."], {}, {}])
    message, _ = admit(forged(headers=spoken, body=body), "capture")
    assert (message["headers"]["argsrepr"], message["headers"]["kwargsrepr"]) == ("[3 not shown]", "{}")
    body = json.dumps([["default", "maya", "s1", "t1"], {}, {}])
    message, _ = admit(forged(FLUSH_SESSION, queue="flush", body=body), "flush")
    assert message["headers"]["argsrepr"] == '["default", "maya", "s1", "t1"]'


ASKED = {"method": "ping", "arguments": {}, "destination": None, "pattern": None, "matcher": None}
REPLY = {"exchange": "reply.celery.pidbox", "routing_key": "0dbf3a3e-1c9b-3d1e-b8e6-9f0a3a4a5b6c"}


def question(**parts: Any) -> dict[str, Any]:
    return {"body": json.dumps(ASKED | parts), "content-type": "application/json", "headers": {}, "properties": {}}


@pytest.mark.parametrize(
    "parts",
    [
        {"method": "add_consumer", "arguments": {"queue": "evil"}}, {"method": "cancel_consumer"},
        {"method": "shutdown"}, {"method": "pool_shrink"}, {"method": "revoke"}, {"method": "rate_limit"},
        {"method": "query_task"},
        {"method": "election"}, {"method": "hello"}, {"method": ["ping"]}, {"method": None},
        {"pattern": "(a+)+$", "matcher": "pcre"}, {"destination": 7}, {"destination": {"a": 1}}, {"destination": [7]},
        {"ticket": 7}, {"ticket": "x" * 201}, {"reply_to": 7}, {"reply_to": {}},
        {"reply_to": {"exchange": "", "routing_key": "slowwave:{default/maya}:session:s1"}},
        {"reply_to": REPLY | {"routing_key": "slowwave:{default/maya}:session:s1"}},
        {"reply_to": REPLY | {"exchange": "capture"}},
    ],
    ids=repr,
)  # fmt: skip
def test_a_worker_answers_questions_and_takes_no_orders(parts: dict[str, Any]) -> None:
    with pytest.raises(Inadmissible):
        admit_question(question(**parts))


@pytest.mark.parametrize("body", [*BODIES, "[" * 100_000, "{}", '{"method": "ping"', None, 7])
def test_what_is_no_question_is_refused(body: Any) -> None:
    with pytest.raises(Inadmissible):
        admit_question(question() | {"body": body})
    for message in (None, 7, [], {}, {"body": "{}"}):
        with pytest.raises(Inadmissible):
            admit_question(message)


@pytest.mark.parametrize("method", QUESTIONS)
def test_a_question_runs_with_arguments_of_the_workers(method: str) -> None:
    asked = question(
        method=method, arguments={"safe": False, "state": 7}, reply_to=REPLY, ticket="t", destination=["w"]
    )
    assert json.loads(admit_question(asked)["body"]) == {
        "method": method, "arguments": dict(QUESTIONS[method]), "destination": ["w"], "pattern": None, "matcher": None,
        "ticket": "t", "reply_to": REPLY,
    }  # fmt: skip


trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=4,
)


@examples(max_examples=40, deadline=None)
@given(st.sampled_from(QUEUES), st.data())
def test_whatever_is_let_in_has_the_shape_of_our_own_messages(queue: str, data: st.DataObject) -> None:
    ours = forged(queue=queue)
    message = {part: data.draw(st.one_of(st.just(value), trees)) for part, value in ours.items()}
    for part in ("headers", "properties"):
        if isinstance(message[part], dict) and message[part].keys() == ours[part].keys():
            message[part] = {name: data.draw(st.one_of(st.just(v), trees)) for name, v in message[part].items()}
    try:
        admitted, _ = admit(message, queue)
    except Inadmissible:
        return
    assert admitted.keys() == ours.keys()
    assert admitted["headers"].keys() == ours["headers"].keys()
    assert {name: admitted["headers"][name] for name in HARMLESS} == HARMLESS
    assert admitted["properties"]["delivery_info"]["routing_key"] == queue
    assert isinstance(admitted["headers"]["expires"], str | None)
    if admitted["content-type"] == "application/json":
        args, kwargs, embed = json.loads(admitted["body"])
        assert (type(args), type(kwargs), set(embed.values())) == (list, dict, {None})
