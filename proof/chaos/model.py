"""A model's endpoint in its own process, with the behaviour in the run's file: `python -m proof.chaos.model FOLDER`.

It makes one memory of every user line of a window, word for word, so that checks can trace each line. Before it
answers, it writes each request as a line to the run's ledger of calls.
"""

import json
import os
import re
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proof.chaos.places import Places, put
from proof.fake_model import FakeModel
from proof.fake_replies import Asked, Reply, cut_connection, rate_limited, server_error, slow
from slowwave.recall.tokens import estimate

_LINE = re.compile(r"^#(\d+) .*? \(user\): (.*)$", re.MULTILINE)
_SLOW_SECONDS = 6.0
_LONGEST_LINE = 200


class Endpoint:
    """Answers requests, and counts them."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._ledger = os.open(places.model_calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def answer(self, asked: Asked) -> Reply:
        """Answer as the mode says."""
        mode = self._places.model_mode.read_text(encoding="ascii") if self._places.model_mode.exists() else "well"
        # Endpoints also limit the output: a long answer would exceed the highest cost of a call.
        lines = [(int(seq), text) for seq, text in _LINE.findall(asked.user) if len(text) <= _LONGEST_LINE]
        memories = [_memory(seq, text) for seq, text in lines]
        text = json.dumps({"memories": memories})
        reply = {
            "limited": rate_limited(1),
            "broken": server_error(503),
            "cut": cut_connection("within"),
            "slow": slow(_SLOW_SECONDS, text),
        }.get(mode, Reply(content=text))
        self._note(asked, reply)
        return reply

    def _note(self, asked: Asked, reply: Reply) -> None:
        paid = reply.status == 200
        said = estimate(reply.content) if paid and isinstance(reply.content, str) else 0
        line: dict[str, Any] = {"at": datetime.now(UTC).isoformat(), "status": reply.status, "cut": bool(reply.cut)}
        line |= {"input": asked.input_tokens if paid else 0, "output": said}
        with self._lock:
            os.write(self._ledger, json.dumps(line).encode() + b"\n")


def _memory(seq: int, text: str) -> dict[str, Any]:
    plain = {"kind": "fact", "subject": "", "importance": "normal", "certainty": "stated", "entities": []}
    undated = {"valid_from": None, "precision": "unknown", "repeats": None, "corrects": None}
    return {"content": text, "sources": [seq]} | plain | undated


def main(folder: Path) -> None:
    """Serve until SIGTERM."""
    places = Places(folder)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with FakeModel(answer=Endpoint(places).answer) as fake:
        put(places.model_url, fake.base_url)
        while not ended.wait(1.0):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
