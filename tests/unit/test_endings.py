"""Endings: which sentences take something back, how a memory tells it, and which memory is meant; in doubt none."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.endings.recognise import recognise
from slowwave_server.domain.endings.targets import Sourced, ends
from slowwave_server.domain.endings.wording import ending_of, told
from tests.support.revising import revision
from tests.support.tables import for_each

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


@dataclass
class Scope:
    """Statements in the order in which they are said, an hour apart."""

    said: list[Sourced] = field(default_factory=list)

    def hear(self, content: str, kind: str, *, trust: str = "user", events: tuple[int, ...] = ()) -> Sourced:
        at = START + timedelta(hours=len(self.said))
        memory = revision(content, at, trust=trust, type=kind)
        one = Sourced(memory, frozenset((1, seq) for seq in events or (len(self.said) + 100,)))
        self.said.append(one)
        return one

    def take_back(self, sentence: str, *, kind: str = "decision", events: tuple[int, ...] = ()) -> list[str]:
        """What the memory of a sentence ends."""
        ending = recognise(sentence)
        assert ending is not None, sentence
        return self.ended_by(self.hear(told(ending, "The user"), kind, events=events))

    def ended_by(self, newer: Sourced) -> list[str]:
        return [end.older.content for end in ends(newer, self.said)]


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("Scrap the newsletter plan.", "the newsletter plan"),
        ("Ok, let's drop the loyalty program idea, it costs too much.", "the loyalty program idea"),
        ("We decided against the rooftop venue.", "the rooftop venue"),
        ("The company offsite is cancelled.", "The company offsite"),
        ("We're no longer doing the podcast.", "the podcast"),
        ("I won't be using the treadmill desk any more.", "the treadmill desk"),
        ("Forget about the kitchen redesign.", "the kitchen redesign"),
    ],
)
def test_called_off_plan_is_named(said: str, what: str) -> None:
    found = recognise(said)
    assert found is not None
    assert (found.act, found.what) == ("called_off", what)


@pytest.mark.parametrize(
    ("said", "direction"),
    [
        ("You can use emojis again.", "prohibition"),
        ("Exclamation marks are fine again.", "prohibition"),
        ("Forget what I said about metric units.", "either"),
        ("Drop the tables-only rule.", "either"),
        ("No need to cc Bob any more.", "demand"),
        ("You don't have to send me the weekly digest anymore.", "demand"),
        ("You no longer need to translate the captions.", "demand"),
    ],
)
def test_lifted_instruction_has_a_direction(said: str, direction: str) -> None:
    found = recognise(said)
    assert found is not None
    assert (found.act, found.direction) == ("lifted", direction)


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("No, not Kyoto, we go to Osaka.", "Kyoto", "Osaka"),
        ("That booking was wrong, it is seat 14C, not 12A.", "12A", "seat 14C"),
        ("Let's use Postgres instead of MySQL.", "MySQL", "Postgres"),
        ("We switched the ingestion from Kafka to Redis.", "Kafka", "Redis"),
        ("Not Tuesday but Friday works for the review.", "Tuesday", "Friday"),
    ],
)
def test_correction_has_an_old_and_a_new_value(said: str, old: str, new: str) -> None:
    found = recognise(said)
    assert found is not None
    assert (found.act, found.what, found.instead) == ("corrected", old, new)


@for_each(
    "said",
    [
        "",
        "Forget it.",
        "Scrap that.",
        "Drop the file in the folder.",
        "Should we scrap the newsletter plan?",
        "If it rains, cancel the hiking trip.",
        "Let's skip the budget plan for now.",
        "You can try again later.",
        "You can say that again.",
        "No need to ask again.",
        "No need to rush.",
        "The light is off.",
        "It's not just the 14 kg, but all of it.",
        "Maybe we should call off the launch party.",
        "They scrapped the tram line.",
        "Stop wasting my time.",
        "I forgot the plan.",
        "Not bad, but London is better.",
        "I don't want to use it anymore.",
        "Create the summary instead of asking.",
        "I'd like to change my flight from Rome to Oslo.",
        "We moved the train from Rome to Oslo.",
    ],
)
def test_other_sentences_end_nothing(said: str) -> None:
    assert recognise(said) is None


@given(st.text(max_size=400))
def test_any_text_is_read_and_told_alike(said: str) -> None:
    found = recognise(said)
    if found is not None:
        again = ending_of(told(found, "The user"))
        assert again is not None
        assert (again.act, again.what) == (found.act, found.what)


def test_ending_is_read_back_from_its_memory() -> None:
    for said in ("Scrap the newsletter plan.", "You can use emojis again.", "It is seat 14C, not 12A."):
        found = recognise(said)
        assert found is not None
        assert ending_of(told(found, "Maya")) == found


def test_plan_that_is_called_off_ends_with_its_decision() -> None:
    scope = Scope()
    scope.hear("The user decided: launch the newsletter in March.", "decision")
    scope.hear("The user decided: rent the studio for a year.", "decision")
    assert scope.take_back("Scrap the newsletter plan.") == ["The user decided: launch the newsletter in March."]


def test_title_of_an_outline_counts_and_not_its_points() -> None:
    scope = Scope()
    scope.hear('The user agreed on "Marketing for spring": blog; newsletter; radio.', "decision")
    assert scope.take_back("Scrap the newsletter plan.") == []
    assert scope.take_back("Scrap the spring marketing.") == [
        'The user agreed on "Marketing for spring": blog; newsletter; radio.'
    ]


def test_two_equally_good_memories_are_a_doubt() -> None:
    scope = Scope()
    scope.hear("The user decided: launch the newsletter in March.", "decision")
    scope.hear("The user decided: print the newsletter in colour.", "decision")
    assert scope.take_back("Scrap the newsletter plan.") == []


def test_facts_and_denials_are_not_called_off() -> None:
    scope = Scope()
    scope.hear("The user reads a newsletter about bees.", "fact")
    scope.hear("The user decided: do not print the newsletter.", "decision")
    assert scope.take_back("Scrap the newsletter plan.") == []


def test_what_is_said_after_an_end_is_not_ended_by_it() -> None:
    scope = Scope()
    ending = recognise("Scrap the newsletter plan.")
    assert ending is not None
    newer = scope.hear(told(ending, "The user"), "decision")
    scope.hear("The user decided: launch the newsletter in May.", "decision")
    assert scope.ended_by(newer) == []


def test_decision_for_a_place_ends_with_its_correction() -> None:
    scope = Scope()
    scope.hear("The user was born in Kyoto.", "fact")
    scope.hear("The user decided: go to Kyoto in April.", "decision")
    assert scope.take_back("No, not Kyoto, we go to Osaka.") == ["The user decided: go to Kyoto in April."]


def test_correction_of_the_turn_before_ends_what_that_turn_says() -> None:
    scope = Scope()
    scope.hear("agent: Seat 12A has been booked on flight LX318.", "result", trust="assistant", events=(2,))
    scope.hear("agent: Seat 12A has been booked on flight KL604.", "result", trust="assistant", events=(8,))
    ended = scope.take_back("That booking was wrong, it is seat 14C, not 12A.", kind="fact", events=(8, 9))
    assert ended == ["agent: Seat 12A has been booked on flight KL604."]


def test_plain_number_needs_more_in_common_than_a_name() -> None:
    scope = Scope()
    scope.hear("The user keeps 12 hens.", "fact")
    assert scope.take_back("The price is 14, not 12.", kind="fact") == []


@pytest.mark.parametrize(
    ("lift", "instruction"),
    [
        ("You can use emojis again.", "don't use emojis in your replies."),
        ("No need to cc Bob any more.", "always cc Bob on emails to clients."),
        ("Forget what I said about metric units.", "use metric units."),
    ],
)
def test_lift_ends_the_instruction_it_is_about(lift: str, instruction: str) -> None:
    scope = Scope()
    scope.hear("The user instructs: answer in German.", "instruction")
    scope.hear(f"The user instructs: {instruction}", "instruction")
    assert scope.take_back(lift) == [f"The user instructs: {instruction}"]


@pytest.mark.parametrize(
    ("lift", "instruction"),
    [
        ("You can use emojis again.", "use emojis in headings."),
        ("No need to cc Bob any more.", "never cc Bob."),
        ("No need to cc Bob any more.", "always cc Alice."),
    ],
)
def test_lift_leaves_other_instructions(lift: str, instruction: str) -> None:
    scope = Scope()
    scope.hear(f"The user instructs: {instruction}", "instruction")
    assert scope.take_back(lift) == []


def test_another_persons_instruction_is_not_lifted() -> None:
    scope = Scope()
    scope.hear("Maya instructs: don't use emojis.", "instruction")
    assert scope.take_back("You can use emojis again.") == []


def test_less_trusted_witness_takes_nothing_back() -> None:
    scope = Scope()
    scope.hear("The user decided: launch the newsletter in March.", "decision", trust="hand")
    assert scope.take_back("Scrap the newsletter plan.") == []
