"""The labelled statements that the judge learns from.

    data/statements.jsonl   statements written for this project, or made by the rules from conversations written for it
    data/labels.jsonl       labels of statements that the rules make from the public data sets. A line names a statement
                            by its set and a hash, since no text of these sets may stand here.

The labels are those of readers: u (useful), m (marginal), j (junk). data/README.md has their instructions.

Must not know: networks.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from bench.msc_data import data_file
from bench.replay import Compared
from bench.session_data import FILES, talks
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.worth import Proposal

DATA = Path(__file__).parent.parent / "data"
USEFUL = {"u": 1.0, "m": 0.5, "j": 0.0}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A statement with its label. about: "TALK, ROLE, TYPE"; part: the data set, which a split must not cut."""

    text: str
    about: str
    label: str
    part: str

    @property
    def useful(self) -> float:
        """What the judge is to say."""
        return USEFUL[self.label]


class Recorder:
    """A judge that keeps everything, and remembers what it was asked."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        self.asked |= {one.text: one.about for one in proposals}
        return [1.0] * len(proposals)


def read_labelled() -> list[Labelled]:
    """All statements whose text can be had. Labels of data sets that are not there are left out."""
    written = [json.loads(line) for line in (DATA / "statements.jsonl").read_text("utf-8").splitlines()]
    found = []
    for row in written:
        asked = Proposal(row["text"], row["talk"], row["role"], row["type"])
        found.append(Labelled(asked.text, asked.about, row["label"], row["part"]))
    labels: dict[str, dict[str, str]] = {}
    for line in (DATA / "labels.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        labels.setdefault(row["set"], {})[row["id"]] = row["label"]
    for part, by_id in labels.items():
        if data_file(FILES[part]).is_file():
            found += _of_set(part, by_id)
    return found


def _of_set(part: str, labels: dict[str, str]) -> Iterator[Labelled]:
    for session, text, told in proposed(part):
        if label := labels.pop(statement_id(part, session, text), None):
            yield Labelled(text, told, label, part)


def proposed(part: str, transcripts: Path | None = None) -> Iterator[tuple[str, str, str]]:
    """The session, text and "TALK, ROLE, TYPE" of each statement that the rules make of a data set."""
    recorder = Recorder()
    extractor = Compared(RulesExtractor(recorder))
    for talk in talks(part, transcripts):
        recorder.asked.clear()
        list(talk.remembered(extractor))
        for text, about in recorder.asked.items():
            yield talk.session, text, about


def statement_id(part: str, session: str, text: str) -> str:
    """The name of a statement whose text may not stand in the repository."""
    return blake2b(f"{part}|{session}|{text}".encode(), digest_size=8).hexdigest()
