"""Files in the folder of one run: the interface between its processes.

    stop                  exists as soon as talkers must stop
    clock                 seconds by which the domain's clock is wrong now; if missing, it is right
    model-mode            the model's present behaviour: well, slow, limited (429), broken (500), cut; if missing, well
    model.url             the URL of the model
    model-calls.jsonl     a line for each request that reached the model: {"at", "status", "input", "output", "cut"}
    spool-K               the spool of talker K; its file system can be filled where mounting is allowed
    journal-K-PID.jsonl   the calls of talker K and their results, by process
    faults.jsonl          each fault with its times
    logs/                 one file per program

For agents whose names begin with `model`, the extractor is the model, for all others the rules.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

FOLDER_VARIABLE: Final = "CHAOS_FOLDER"
VISIBILITY_VARIABLE: Final = "CHAOS_VISIBILITY_SECONDS"
MODEL_AGENTS: Final = "model"


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of one run."""

    root: Path

    @property
    def stop(self) -> Path:
        return self.root / "stop"

    @property
    def clock(self) -> Path:
        return self.root / "clock"

    @property
    def model_mode(self) -> Path:
        return self.root / "model-mode"

    @property
    def model_url(self) -> Path:
        return self.root / "model.url"

    @property
    def model_calls(self) -> Path:
        return self.root / "model-calls.jsonl"

    @property
    def faults(self) -> Path:
        return self.root / "faults.jsonl"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def spool(self, talker: int) -> Path:
        return self.root / f"spool-{talker}"

    def journals(self) -> list[Path]:
        return sorted(self.root.glob("journal-*.jsonl"))


@dataclass(frozen=True, slots=True)
class FaultyClock:
    """The domain's clock of a run: the wall clock, plus the offset in the file. Aware, in UTC."""

    file: Path

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.wrong_by())

    def wrong_by(self) -> float:
        """Return the seconds by which the clock is wrong; positive: ahead."""
        try:
            return float(self.file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0.0


def put(file: Path, text: str) -> None:
    """Replace a small file in one step."""
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def lines_of(file: Path) -> Iterator[dict[str, Any]]:
    """Return the JSON lines of a file; an incomplete last line was being written when its process died."""
    if file.exists():
        for line in file.read_bytes().split(b"\n")[:-1]:
            yield json.loads(line)
