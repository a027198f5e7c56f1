"""Measure a model's cost for the same conversations: calls and tokens per 100 turns, and the delay until a memory
exists.

Run: python -m bench.model_cost [--turns 100] [--latency 0.3] [--pace 0.25]. One endpoint on loopback, with the same
latency for every system, makes one memory of each user message. Slowwave reads windows in its workers, at default
settings and in bulk; mem0 (`infer=True`) and Agno's memory manager are called at each turn, as their documentation
shows. Embedded texts are not counted for any system.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from bench.flush import wait_until
from bench.report import Row, note
from proof.fake_model import FakeModel
from proof.fake_replies import Asked, Reply
from slowwave import Memory
from slowwave.recall.tokens import estimate
from slowwave_server.workers.stack.stack import Stack, StackOptions

CALLS_DEFAULT, CALLS_BULK, TOKENS = "<= 0.2", "<= 0.1", "<= 0.25"
AT_ONCE = 50
"""The number of turns in one call in bulk."""
_LINE = re.compile(r"^#(\d+) \S+ \S+ \S+ (\S+) \(user\): (.*)$", re.MULTILINE)
_NAMES = ("Maya", "Jonas", "Priya", "Tomas", "Ines")
_THINGS = ("violin", "canoe", "greenhouse", "telescope", "bakery", "choir", "workshop", "orchard", "library", "harbour")
_PLACES = ("Lisbon", "Oslo", "Ghent", "Porto", "Bergen", "Turin", "Basel", "Cork", "Graz", "Malmö")


@dataclass
class Counted:
    """The requests of one system. waits: the seconds that a turn waited for memory; lags: the seconds until a memory
    existed.
    """

    calls: int = 0
    tokens: int = 0
    memories: int = 0
    waits: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)


class Judge:
    """The endpoint's answers: a memory of each user message, in the form that the system's prompt requires."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self.counted = Counted()

    def __call__(self, asked: Asked) -> Reply:
        if asked.path.endswith("/embeddings"):
            return Reply()
        reply, text = self._reply(asked)
        self.counted.calls += 1
        tools = json.dumps(asked.body.get("tools") or "")
        self.counted.tokens += asked.input_tokens + estimate(text) + (estimate(tools) if asked.body.get("tools") else 0)
        return reply

    def _reply(self, asked: Asked) -> tuple[Reply, str]:
        if asked.body.get("tools"):
            return self._tool_call(asked)
        if asked.schema is not None:
            content = {"memories": [_ours(*said) for said in _LINE.findall(asked.user)]}
        else:
            said = re.findall(r"user: (.*)", asked.user)
            content = {"memory": [{"id": "0", "text": said[-1], "attributed_to": "user"}] if said else []}
        text = json.dumps(content)
        return Reply(content=text, latency=self._latency), text

    def _tool_call(self, asked: Asked) -> tuple[Reply, str]:
        messages = asked.body["messages"]
        said = [m["content"] for m in messages if m["role"] == "user"]
        message: dict[str, Any] = {"role": "assistant", "content": "Done."}
        if messages[-1]["role"] != "tool":
            call = {"name": "add_memory", "arguments": json.dumps({"memory": str(said[-1]), "topics": ["life"]})}
            calls = [{"id": f"call_{self.counted.calls}", "type": "function", "function": call}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        reason = "tool_calls" if "tool_calls" in message else "stop"
        choices = [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "fake-1", "choices": choices}
        usage = {"prompt_tokens": asked.input_tokens, "completion_tokens": 20, "total_tokens": asked.input_tokens + 20}
        return Reply(body=body | {"usage": usage}, latency=self._latency, usage=(0, 0)), json.dumps(message)


def _ours(seq: str, name: str, said: str) -> dict[str, Any]:
    content = said.replace("I ", f"{name} ", 1)
    kept = {"content": content, "kind": "fact", "subject": name, "importance": "normal", "certainty": "stated"}
    undated = {"valid_from": None, "precision": "unknown", "repeats": None, "corrects": None, "entities": []}
    return kept | undated | {"sources": [int(seq)]}


def conversation(turns: int) -> list[tuple[str, str]]:
    """Return (user, assistant) texts, each turn with a statement to keep; the same at each call."""
    random_ = random.Random(11)
    told = []
    for number in range(turns):
        thing, place = random_.choice(_THINGS), random_.choice(_PLACES)
        user = f"I looked at a {thing} number {number} in {place} with {random_.choice(_NAMES)}."
        told.append((user, f"How nice. Was the {thing} worth the way to {place}?"))
    return told


def by_slowwave(fake: FakeModel, told: Sequence[tuple[str, str]], latency: float, pace: float) -> Counted:
    """Run Slowwave on a separate stack with default settings. pace: 0 if all turns arrive at once, as after an
    import.
    """
    judge = Judge(latency)
    fake.answer = judge
    model = {"DRIVER": "openai", "MODEL": "fake-1", "BASE_URL": fake.base_url, "API_KEY": "unused"}
    environment = dict(os.environ) | {f"SLOWWAVE_MEMORY__LLM__{name}": value for name, value in model.items()}
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        options = StackOptions(data=Path(folder) / "data", flower=False, concurrency=2)
        with Stack(options, lambda _part, _line: None, environment) as stack, Memory(stack.settings) as memory:
            _talk(memory, told, pace, judge.counted)
            _await_memories(stack.settings.database_url, len(told), judge.counted)
    return judge.counted


def _talk(memory: Memory, told: Sequence[tuple[str, str]], pace: float, counted: Counted) -> None:
    began = [0.0] * len(told)
    messages = [[{"role": "user", "content": u, "name": "Maya"}, {"role": "assistant", "content": a}] for u, a in told]
    if not pace:
        began = [time.time()] * len(told)
        for first in range(0, len(messages), AT_ONCE):
            turns = messages[first : first + AT_ONCE]
            memory.turn_completed("ada", "monday", [message for turn in turns for message in turn])
    for number, turn in enumerate(messages if pace else ()):
        time.sleep(pace)
        began[number] = time.time()
        memory.turn_completed("ada", "monday", turn)
        counted.waits.append(time.time() - began[number])
    memory.session_idle("ada", "monday")
    memory.flush()
    counted.lags = [-start for start in began]


def _await_memories(url: str, turns: int, counted: Counted) -> None:
    with psycopg.connect(url, autocommit=True) as connection:

        def left() -> int:
            row = connection.execute("SELECT sum(last_seq - processed_until) FROM slowwave.sessions").fetchone()
            return int(row[0]) if row and row[0] is not None else turns

        wait_until(lambda: left() == 0, "all windows are read")
        rows = connection.execute(
            "SELECT x.seq, min(extract(epoch FROM f.committed_at)) FROM slowwave.memory_sources x"
            " JOIN slowwave.flushes f ON f.session_id = x.session_id AND x.seq BETWEEN f.from_seq AND f.to_seq"
            " GROUP BY x.seq"
        ).fetchall()
    lags = [float(at) + counted.lags[(seq - 1) // 2] for seq, at in rows if seq % 2]
    counted.lags, counted.memories = lags, len(lags)


def by_mem0(fake: FakeModel, told: Sequence[tuple[str, str]], latency: float) -> Counted:
    """Run mem0 with vectors in memory; the turn waits for `add`, as in its documentation."""
    os.environ["MEM0_TELEMETRY"] = "False"
    from mem0 import Memory as Mem0  # noqa: PLC0415 - reads that variable when it is imported

    judge = Judge(latency)
    fake.answer = judge
    access = {"openai_base_url": fake.base_url, "api_key": "unused"}
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        memory = Mem0.from_config(
            {
                "llm": {"provider": "openai", "config": {"model": "fake-1", **access}},
                "embedder": {"provider": "openai", "config": {"model": "fake-1", "embedding_dims": 384, **access}},
                "vector_store": {"provider": "qdrant", "config": {"path": folder, "embedding_model_dims": 384}},
                "history_db_path": f"{folder}/history.db",
            }
        )
        for user, assistant in told:
            turn = [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
            _time(judge.counted, lambda turn=turn: len(memory.add(turn, user_id="maya", infer=True)["results"]))
    return judge.counted


def by_agno(fake: FakeModel, told: Sequence[tuple[str, str]], latency: float) -> Counted:
    """Run Agno's memory manager on SQLite, called for each user message as an agent with user memories does."""
    from agno.db.sqlite import SqliteDb  # noqa: PLC0415 - an extra
    from agno.memory import MemoryManager  # noqa: PLC0415 - an extra
    from agno.models.openai.like import OpenAILike  # noqa: PLC0415 - an extra

    judge = Judge(latency)
    fake.answer = judge
    with tempfile.TemporaryDirectory(prefix="slowwave-bench-") as folder:
        database = SqliteDb(db_file=f"{folder}/agno.db")
        model = OpenAILike(id="fake-1", base_url=fake.base_url, api_key="unused")
        manager = MemoryManager(model=model, db=database)
        for user, _ in told:

            def add(said: str = user) -> int:
                manager.create_user_memories(message=said, user_id="maya")
                return 1

            _time(judge.counted, add)
        judge.counted.memories = len(manager.get_user_memories(user_id="maya") or ())
    return judge.counted


def _time(counted: Counted, add: Callable[[], int]) -> None:
    began = time.perf_counter()
    counted.memories += add()
    took = time.perf_counter() - began
    counted.waits.append(took)
    counted.lags.append(took)


def report(found: Mapping[str, Counted], turns: int) -> None:
    """Print one table, and note the rows of the comparison with mem0."""
    each = 100 / turns
    print(f"{'per 100 turns':30}{'calls':>10}{'tokens':>10}{'memories':>10}{'a turn waits':>14}{'lag p50':>9}")
    for name, one in found.items():
        waits = f"{median(one.waits) * 1000:.1f} ms" if one.waits else "-"
        lag = f"{median(one.lags):.2f} s" if one.lags else "-"
        figures = (f"{number * each:10.0f}" for number in (one.calls, one.tokens, one.memories))
        print(f"{name:30}{''.join(figures)}{waits:>14}{lag:>9}")
    mem0 = found["mem0, infer=True"]
    for name, bound in (("slowwave, default", CALLS_DEFAULT), ("slowwave, bulk", CALLS_BULK)):
        ours = found[name]
        ratio = ours.calls / mem0.calls
        note(Row("model_cost", f"{name}: calls", ours.calls * each, "mem0", mem0.calls * each, "", ratio, bound))
        ratio = ours.tokens / mem0.tokens
        note(Row("model_cost", f"{name}: tokens", ours.tokens * each, "mem0", mem0.tokens * each, "", ratio, TOKENS))
    waits = [median(one.waits) * 1000 for one in (found["slowwave, default"], mem0)]
    note(Row("model_cost", "a turn waits", waits[0], "mem0", waits[1], "ms", waits[0] / waits[1]))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--latency", type=float, default=0.3, help="seconds of each answer")
    parser.add_argument("--pace", type=float, default=0.25, help="seconds between two turns")
    options = parser.parse_args()
    told = conversation(options.turns)
    with FakeModel() as fake:
        found = {
            "slowwave, default": by_slowwave(fake, told, options.latency, options.pace),
            "slowwave, bulk": by_slowwave(fake, told, options.latency, 0),
            "mem0, infer=True": by_mem0(fake, told, options.latency),
            "agno, memory manager": by_agno(fake, told, options.latency),
        }
    report(found, options.turns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
