"""Beside people: more of what the extractor keeps is what people keep than with either simple rule."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor

AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
FIRST_PERSON = re.compile(r"\b(?:i|we|i'm|im|i've|i'll|i'd) [a-z]", re.IGNORECASE)


def f1(pairs: list[tuple[bool, bool]]) -> float:
    hits = sum(ours and people for ours, people in pairs)
    return 2 * hits / (sum(ours for ours, _ in pairs) + sum(people for _, people in pairs))


def precision(pairs: list[tuple[bool, bool]]) -> float:
    return sum(ours and people for ours, people in pairs) / sum(ours for ours, _ in pairs)


def test_it_keeps_what_people_keep(shared_data: Path) -> None:
    lines = (shared_data / "msc-memories-dev.jsonl").read_text(encoding="utf-8").splitlines()[::3]
    rules, everything, first_person = [], [], []
    for line in lines:
        turns = json.loads(line)["dialog"]
        talk = tuple(Event(n, "user", "user", t["text"], AT, name=t["speaker"]) for n, t in enumerate(turns, 1))
        told = RulesExtractor().extract(Window(talk), ExtractionContext("helper"), AT)
        kept = {seq for one in told.candidates for seq in one.sources}
        for event, turn in zip(talk, turns, strict=True):
            people = turn["memory"] != ""
            rules.append((event.seq in kept, people))
            everything.append((True, people))
            first_person.append((FIRST_PERSON.search(event.content) is not None, people))
    assert precision(rules) > max(precision(everything), precision(first_person)) + 0.03
    assert f1(rules) > f1(everything)
