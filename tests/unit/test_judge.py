"""The judge of what is worth remembering: what the rules ask it, what follows, and the package that answers."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.settings import Settings
from slowwave_judge import NAME, Judge
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.keeping import FIRST_WORTHY, SURELY_WORTHY, WORTHY
from slowwave_server.domain.extraction.worth import Proposal
from slowwave_server.services.extraction.judging import installed_judge, rules_extractor

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
DATA = Path(__file__).parent.parent.parent / "judge" / "data"
PORTO = "Maya moved to Porto in May."
SAID = "I moved to Porto in May. I bought a green kettle for the office kitchen."


class Says:
    """A judge whose answers are given, by words of the statement."""

    name = "told"

    def __init__(self, otherwise: float, **by_word: float) -> None:
        self.otherwise = otherwise
        self.by_word = by_word
        self.calls: list[list[Proposal]] = []

    def __call__(self, proposals: Sequence[Proposal], /) -> list[float]:
        self.calls.append(list(proposals))
        return [next((x for word, x in self.by_word.items() if word in one.text), self.otherwise) for one in proposals]


def told(judge: Says, *texts: str) -> dict[str, float]:
    """The memories of a talk between Maya and Jonas, with their importance."""
    people = ("Maya", "Jonas") * len(texts)
    events = tuple(Event(seq, "user", "user", text, AT, people[seq - 1]) for seq, text in enumerate(texts, 1))
    found = RulesExtractor(judge).extract(Window(events), ExtractionContext("helper"), AT).candidates
    return {one.content: one.importance for one in found}


def test_what_the_judge_finds_useful_is_kept_with_its_word_as_importance() -> None:
    found = told(Says(0.0, Porto=0.81, kettle=0.62), SAID)
    assert sorted(found.values()) == [0.62, 0.81]
    assert told(Says(0.0), SAID) == {}


def test_the_best_statement_of_a_turn_is_kept_sooner_than_the_ones_beside_it() -> None:
    between = (FIRST_WORTHY + WORTHY) / 2
    said = "I finished the report about tides. I sold the canoe to Jonas."
    assert len(told(Says(0.0, report=between, canoe=between - 0.01), said)) == 1
    assert len(told(Says(0.0, report=WORTHY + 0.01, canoe=WORTHY), said)) == 2


def test_a_standing_instruction_needs_less() -> None:
    judge = Says((SURELY_WORTHY + FIRST_WORTHY) / 2)
    events = (
        Event(1, "user", "user", "Always answer in German, please. I bought a green kettle.", AT),
        Event(2, "assistant", "assistant", "Gern.", AT),
    )
    found = RulesExtractor(judge).extract(Window(events), ExtractionContext("helper"), AT).candidates
    assert [one.type for one in found] == ["instruction"]


def test_a_window_is_judged_in_one_call_whatever_its_turns() -> None:
    judge = Says(1.0)
    found = told(judge, SAID, "I live in Oslo with my two sons.", SAID)
    (asked,) = judge.calls
    assert len(asked) >= len(found) >= 3
    assert {(one.talk, one.role) for one in asked} == {("pair", "user")}
    assert told(judge, "Hi!") == {}
    assert len(judge.calls) == 1, "nothing to ask, nothing asked"


def test_the_judge_stands_in_the_version_and_the_setting_turns_it_off() -> None:
    assert rules_extractor(Settings()).version == f"2, {NAME}"
    off = Settings.model_validate({"memory": {"auto_flush": {"extractor": {"judge": False}}}})
    assert rules_extractor(off).version == "2"


def test_the_card_names_the_weights_that_are_there() -> None:
    package = files("slowwave_judge")
    card = json.loads((package / "card.json").read_text())
    assert card["sha256"] == hashlib.sha256((package / "model.onnx").read_bytes()).hexdigest()
    assert f"judge {card['sha256'][:8]}" == NAME
    assert (package / "model.onnx").read_bytes().__len__() < 25_000_000


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


def test_what_somebody_will_need_is_above_what_nobody_misses(judge: Judge) -> None:
    pairs = [
        ("Ines is allergic to latex.", "Ines thinks that's hilarious."),
        ("The staging database moved to host db-7 in March.", "Tomasz is going to look at the logs now."),
        ("Refund RF-2291 of 84 euros was approved.", "The user would like to know if that is possible."),
        ("The team decided to drop Python 3.9 in release 5.", "The user and others has to see about it."),
    ]
    for useful, junk in pairs:
        first, second = judge.worth([(useful, "agent, user, fact"), (junk, "agent, user, fact")])
        assert first > second + 0.2


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=400), max_size=20))
def test_any_text_is_judged_and_alone_as_among_others(judge: Judge, texts: list[str]) -> None:
    asked = [(text, "group, user, fact") for text in texts]
    found = judge.worth(asked)
    assert all(0 <= one <= 1 for one in found)
    assert len(found) == len(texts)
    if texts:
        assert judge.worth(asked[-1:]) == found[-1:]


def test_a_long_statement_is_cut_and_judged(judge: Judge) -> None:
    assert len(judge.worth([("Maya moved to Porto. " * 5000, "pair, user, fact")])) == 1


def test_installed_judge_and_package_say_the_same(judge: Judge) -> None:
    installed = installed_judge()
    assert installed is not None
    proposal = Proposal(PORTO, "pair", "user", "event")
    assert list(installed([proposal])) == judge.worth([(PORTO, "pair, user, event")])


def test_labels_are_letters_of_two_readers_at_most_and_stand_once() -> None:
    labels = [json.loads(line) for line in (DATA / "labels.jsonl").read_text().splitlines()]
    written = [json.loads(line) for line in (DATA / "statements.jsonl").read_text().splitlines()]
    assert all(row["label"] and len(row["label"]) <= 2 for row in (*labels, *written))
    assert {letter for row in (*labels, *written) for letter in row["label"]} == {"u", "m", "j"}
    assert len({(row["set"], row["id"]) for row in labels}) == len(labels)
    assert len({row["text"] for row in written}) == len(written)
