"""Long turns are read whole: what is said in their middle counts, in time linear in their length."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from slowwave_server.domain.candidates import Extraction, ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.tools import calls

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ARTICLE = (
    "The harbour of the old town was rebuilt in 1904. Its warehouses hold grain and timber from three countries. "
    "Ships of the northern line call every Tuesday, and the customs house opens at dawn.\n\n"
)
STORY = "I walked along the river with my brother in the rain. The boats were late again that day.\n\n"
FACT = "I am allergic to peanuts.\n\n"


def told(*contents: str) -> Extraction:
    """What the rules make of the turns of a person and an agent who talk in turn."""
    roles = ("user", "assistant")
    events = tuple(
        Event(n + 1, roles[n % 2], roles[n % 2], content, AT)  # type: ignore[arg-type]
        for n, content in enumerate(contents)
    )
    return RulesExtractor().extract(Window(events), ExtractionContext("helper"), AT)


@pytest.mark.parametrize("filler", [ARTICLE, STORY], ids=["pasted", "own"])
def test_a_fact_in_the_middle_of_a_long_turn_is_kept(filler: str) -> None:
    half = filler * (47_000 // len(filler))
    found = told(f"{half}{FACT}{half}", "I will read that.")
    assert "The user is allergic to peanuts." in [one.content for one in found.candidates]


def test_a_fact_in_a_long_turn_without_full_stops_is_kept() -> None:
    run_on = "the boats were late and the rain went on " * 200
    found = told(f"{run_on}and I am allergic to peanuts and I think {run_on}", "Noted.")
    assert [one.content for one in found.candidates] == ["The user is allergic to peanuts."]


def test_a_paragraph_of_ones_own_within_a_paste_is_read() -> None:
    own = "My own view: I want the launch moved to May 3, since the venue is booked.\n\n"
    assert own.strip() in " ".join(own_words(f"{ARTICLE * 20}{own}{ARTICLE * 20}"))


def test_quotes_and_authors_within_a_paste_are_not_the_speakers() -> None:
    quoted = '"I moved to Bergen," said the captain. "I have two dogs."\n\n'
    author = "Then I asked the guard. I saw my friend leave. I took a train home, and the journey was long.\n\n"
    assert own_words(ARTICLE * 20 + quoted + ARTICLE * 20) == []
    assert own_words(ARTICLE * 20 + "The guard spoke. " + ARTICLE.rstrip() + " " + author + ARTICLE * 20) == []


def test_opening_of_a_long_turn_is_the_speakers_if_it_is_in_the_first_person() -> None:
    opening = "I run a bakery in Leeds. The ovens are from 1990. My budget for new ones is 9,000 euros.\n\n" * 30
    kept = own_words(opening + ARTICLE * 200)
    assert kept[:2] == ["I run a bakery in Leeds.", "The ovens are from 1990."]
    assert 90 <= len(kept) <= 96


def test_a_long_turn_may_give_more_memories_and_says_what_it_left_out() -> None:
    # 700 facts, about 29,000 characters.
    found = told(" ".join(f"I have a dog called Rex{n} at my house." for n in range(700)), "Fine.")
    assert len(found.candidates) == 18
    assert found.notes == ("682 statements of long events left out",)


def test_code_after_many_blocks_stays_machine_text() -> None:
    block = "```\nI like my_value = 3\n```\n"
    assert told(block * 400, "Done.").candidates == ()


def is_linear(short: Callable[[], object], eight_times_as_long: Callable[[], object]) -> bool:
    """If the work on eight times the length takes no more than 24 times the processor time, in one of three runs.

    Quadratic work takes 64 times the time.
    """
    return any(seconds(eight_times_as_long) < 24 * seconds(short) + 0.05 for _ in range(3))


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize(
    "atom",
    [
        pytest.param(STORY, marks=pytest.mark.long),
        ARTICLE,
        "- **Plan**: I want the launch in May\n",
        pytest.param("2026-03-01 10:00:00,123 INFO worker[3] started\n", marks=pytest.mark.long),
        "def keep(self):\n    return self.value[3]\n\n",
        "abcdefgh",
        "if we like it and I like it ",
        "```\nx\n```\n",
        "a.b ",
        "no, ",
    ],
    ids=["story", "article", "list", "log", "code", "no spaces", "no full stops", "blocks", "dots", "commas"],
)
def test_time_is_linear_in_the_length_of_a_turn(atom: str) -> None:
    short, long = (atom * (length // len(atom)) for length in (10_000, 80_000))
    assert is_linear(lambda: told(short, short), lambda: told(long, long))


def test_time_is_linear_in_unanswered_calls() -> None:
    def session(count: int) -> list[Event]:
        asked = [
            Event(n, "tool", "tool_call", "book(id=1)", AT, metadata={"tool_call_id": f"c{n}"}) for n in range(count)
        ]
        answers = [
            Event(count + n, "tool", "tool", "id: 1", AT, metadata={"tool_call_id": f"c{count - n - 1}"})
            for n in range(count // 2)
        ]
        return [*asked, *answers]

    short, long = session(500), session(4_000)
    assert [call.seqs for call in calls(session(4))] == [(3, 4), (2, 5)]
    assert is_linear(lambda: list(calls(short)), lambda: list(calls(long)))
