"""Run the search of another clone of Slowwave on the same data: a script that runs inside this clone, with its
environment.

    CLONE/.venv/bin/python recall_beside.py JOB.json ANSWERS.jsonl FOLDER      (in the folder CLONE)

JOB is a list of agents, each with steps {"record": [{"id", "session", "message"}], "ask": [texts]}. ANSWERS gets a line
for each question: {way: [[ids of events, tokens], …]}. FOLDER contains bench/embedding_cache.py.

It calls only the API that both clones have: `Memory`, and the servers and the flusher of bench/locomo.py. A message
that the clone refuses, or does not record, has no event.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path.cwd()), sys.argv[3]]

from embedding_cache import CachedModels  # noqa: E402 (found by the line above, as all that follow)

from bench.locomo import flush, flusher_of, servers  # noqa: E402
from slowwave.memory import Memory  # noqa: E402
from slowwave.recall import estimate  # noqa: E402
from slowwave.settings import Embeddings, MemorySettings  # noqa: E402

# An older clone, from before the server had its own package, has its services at the top level.
_SERVICES = "slowwave_server.services" if find_spec("slowwave_server") else "services"
_indexing: Any = import_module(f"{_SERVICES}.embeddings.indexing")
_statistics: Any = import_module(f"{_SERVICES}.search_statistics")
Indexing, index = _indexing.Indexing, _indexing.index
refresh_statistics, scopes_to_refresh = _statistics.refresh_statistics, _statistics.scopes_to_refresh

LIMIT = 100


class Numbered:
    """The events of an agent: the id of each (session, number)."""

    def __init__(self, memory: Memory, flusher: Any, models: CachedModels, agent: str) -> None:
        self.memory, self.flusher, self.models, self.agent = memory, flusher, models, agent
        self.ids: dict[tuple[str, int], str] = {}
        self.last: dict[str, int] = {}

    def record(self, events: Sequence[dict[str, Any]]) -> None:
        """Record events one by one, flush their sessions, count words, embed."""
        for event in events:
            try:
                receipt = self.memory.turn_completed(self.agent, event["session"], [event["message"]])
            except ValueError:
                continue
            for _ in range(receipt.added):
                self.last[event["session"]] = self.last.get(event["session"], 0) + 1
                self.ids[event["session"], self.last[event["session"]]] = event["id"]
        sessions = [name for name in dict.fromkeys(event["session"] for event in events) if name in self.last]
        for session in sessions:
            self.memory.session_idle(self.agent, session)
        flush(self.flusher, self.agent, sessions)
        with self.flusher.engine.begin() as counting:
            for scope_id in scopes_to_refresh(counting):
                refresh_statistics(counting, scope_id, datetime.now(UTC))
        index(Indexing(self.flusher.engine, self.models, 64, lambda: True))

    def ask(self, memory: Memory, text: str) -> list[Any]:
        """Return the hits of a search, as ids of events and tokens."""
        told = []
        for hit in memory.search(self.agent, text, LIMIT):
            speaker = f"{hit.speaker}: " if hit.speaker else ""
            tokens = estimate(f"({hit.valid_from:%-d %b %Y}) {speaker}{hit.content}")
            told.append([sorted({self.ids[s] for s in hit.sources if s in self.ids}), tokens])
        return told


def main() -> None:
    """Run a job."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with servers() as plain, Path(sys.argv[2]).open("w", encoding="utf-8") as answers:
        near = plain.model_copy(update={"memory": MemorySettings(embeddings=Embeddings(driver="local"))})
        with flusher_of(plain) as flusher, Memory(plain) as words, Memory(near) as vectors:
            models = CachedModels(vectors.store.embedders)
            for agent in job:
                numbered = Numbered(words, flusher, models, agent["name"])
                for step in agent["steps"]:
                    numbered.record(step["record"])
                    for text in step["ask"]:
                        told = {"words": numbered.ask(words, text), "vectors": numbered.ask(vectors, text)}
                        answers.write(json.dumps(told) + "\n")
                print(f"{agent['name']} done", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
