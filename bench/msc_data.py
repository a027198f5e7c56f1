"""The utterances of Multi-Session Chat with the memories that people wrote, for the bench and for the fit."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NAMES = {"bot_0": "Maya", "bot_1": "Jonas"}
"""The set names its speakers bot_0 and bot_1; here they have names like people."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a dialogue. memory: a person's memory of the turn, "" if nothing is worth keeping."""

    speaker: str
    text: str
    memory: str


def data_file(name: str) -> Path:
    """Return the path of a shared data file: in `$SLOWWAVE_SHARED/data`, or else in `../shared/data` beside the
    repository.
    """
    shared = os.environ.get("SLOWWAVE_SHARED")
    root = Path(shared) if shared else Path(__file__).resolve().parents[2] / "shared"
    return root / "data" / name


def dialogues(path: Path) -> Iterator[list[Utterance]]:
    """Return the dialogues of an MSC memories file (JSON lines), in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            turns = json.loads(line)["dialog"]
            yield [Utterance(NAMES.get(t["speaker"], t["speaker"]), t["text"], t["memory"].strip()) for t in turns]
