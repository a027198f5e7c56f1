"""Extraction on conversations with gold memories: the counts, the file, the windows, the command."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from slowwave.settings import ExtractorSettings
from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window
from slowwave_server.domain.evaluation import Agreement, Carried, agreement, carried
from slowwave_server.domain.events import Event
from slowwave_server.services.evaluation.extraction import (
    UNDATED,
    evaluate,
    extract_session,
    read_conversations,
)
from slowwave_server.services.evaluation.recall_data import BadLine
from slowwave_server.workers.cli.main import app
from tests.support.shelling import CliRunner

BOUNDS = ExtractorSettings()
TRIP: dict[str, Any] = {
    "session": "trip",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "I booked a cabin.", "memory": "The user booked a cabin for 7 days."},
        {"role": "assistant", "content": "Enjoy the fjords!"},
        {"role": "user", "content": "I live in Oslo.", "at": "2026-03-03T09:05:00+01:00"},
    ],
}


class KeepsFirst:
    """Quotes the first event of each window, and notes the windows that it gets."""

    name, version = "first", "1"

    def __init__(self) -> None:
        self.seen: list[tuple[list[int], list[int]]] = []

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        self.seen.append(([e.seq for e in context.preceding], [e.seq for e in window.events]))
        first = window.events[0]
        return Extraction((Candidate(first.content, "fact", 0.5, 0.5, now, (first.seq,)),))


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["evaluate", "extraction", *arguments], input=stdin)


def test_shares_follow_from_the_counts() -> None:
    found = agreement((1, 2, 3, 4), (2, 3, 9))
    assert found == Agreement(kept=4, gold=3, both=2)
    assert (found.precision, found.recall, found.f1) == (0.5, 2 / 3, 4 / 7)
    assert found + Agreement(1, 0, 0) == Agreement(5, 3, 2)


def test_nothing_kept_and_nothing_gold_is_zero() -> None:
    assert (Agreement().precision, Agreement().recall, Agreement().f1) == (0.0, 0.0, 0.0)
    assert Carried().share == 0.0


def test_words_of_a_gold_memory_are_compared_by_stems_and_numbers() -> None:
    found = carried("The user booked cabins for 7 days.", ["Booking: a cabin", "seven days"])
    assert (found.gold, found.carried) == (5, 3)
    assert (found + found).share == 3 / 5


def test_a_session_is_read_in_the_windows_of_a_flush() -> None:
    events = [Event(n, "user", "user", f"line {n}", UNDATED + timedelta(minutes=n)) for n in range(1, 8)]
    extractor = KeepsFirst()
    bounds = ExtractorSettings(max_messages_per_flush=5)
    found = extract_session(extractor, events, "atlas", bounds)
    assert extractor.seen == [([], [1, 2, 3, 4, 5]), ([2, 3, 4, 5], [6, 7])]
    assert [memory.sources for memory in found] == [(1,), (6,)]


def test_messages_count_by_their_place_in_the_file() -> None:
    (one,) = read_conversations([json.dumps(TRIP), "\n"])
    assert one.numbers == {1: 2, 2: 3, 3: 4}
    assert one.gold == {2: "The user booked a cabin for 7 days."}
    assert [event.happened_at for event in one.events] == [
        UNDATED,
        UNDATED + timedelta(minutes=1),
        datetime(2026, 3, 3, 8, 5, tzinfo=UTC),
    ]
    found = evaluate([one], KeepsFirst(), BOUNDS)
    assert (found.conversations, found.messages, found.memories) == (1, 4, 1)
    assert found.all_messages == Agreement(1, 1, 1)
    assert found.by_role == {"user": Agreement(1, 1, 1), "assistant": Agreement(0, 0, 0)}
    assert found.words == Carried(gold=5, carried=2)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("{", "the line is not JSON"),
        ("[]", "the line must hold a JSON object"),
        ('{"messages": []}', "messages must be a list of at least one message"),
        ('{"turns": []}', "unknown field 'turns'"),
        ('{"session": 7, "messages": [{"role": "user", "content": "x"}]}', "session must be text"),
        ('{"messages": [7]}', "message 1: a message is a mapping"),
        ('{"messages": [{"role": "pirate", "content": "x"}]}', "message 1: role must be one of"),
        ('{"messages": [{"role": "user", "content": "x", "memory": 3}]}', "message 1: memory must be text"),
        ('{"messages": [{"role": "user", "content": "x", "at": "soon"}]}', "message 1: at must be a time"),
    ],
)
def test_a_bad_line_is_named_with_what_to_do(line: str, wrong: str) -> None:
    with pytest.raises(BadLine, match="line 2"):
        list(read_conversations([json.dumps(TRIP), line]))
    shown = run("-", stdin=f"{json.dumps(TRIP)}\n{line}\n")
    assert shown.exit_code == 2
    assert f"line 2 of -: {wrong}" in shown.stderr
    assert "correct the line" in shown.stderr
    assert shown.stdout == ""


def test_the_command_prints_figures_and_json(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(TRIP), encoding="utf-8")
    shown = run(str(file))
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0].startswith("1 conversation, 4 messages, 1 with a gold memory; the rules made ")
    told = json.loads(run(str(file), "--json").stdout)
    assert told["all"]["gold"] == 1
    assert told["by_role"].keys() == {"assistant", "user"}
    assert told["gold_words"] == 5


def test_a_file_without_gold_memories_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text('{"messages": [{"role": "user", "content": "x"}]}', encoding="utf-8")
    shown = run(str(file))
    assert shown.exit_code == 2
    assert "no message in" in shown.stderr
    assert run(str(tmp_path / "none.jsonl")).exit_code == 2
