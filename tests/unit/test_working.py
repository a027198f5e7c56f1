"""Which notes repeat something, which are kept and linked to what."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.similarity import Thresholds, read
from slowwave_server.domain.working import MAX_COMPARED, MAX_LINKS, Note, Other, Sieve, Sifted

SAID = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)
SIEVE = Sieve(duplicate=0.85, link=0.7, thresholds=Thresholds())


def note(content: str, kind: str = "fact", minutes: int = 0) -> Note:
    said_at = SAID + timedelta(minutes=minutes)
    return Note(uuid4(), 1, None, kind, content, 0.8, marked=False, said_at=said_at)


def known(content: str, kind: str = "fact", *, current: bool = True) -> Other:
    return Other(uuid4(), False, kind, content, read(content), SAID, current)


def sift(notes: Sequence[Note], near: Sequence[Other] = (), sieve: Sieve = SIEVE) -> list[Sifted]:
    return sieve.sift([(one, read(one.content)) for one in notes], [near] * len(notes), block_keys)


def test_of_notes_that_say_the_same_the_first_is_kept() -> None:
    first, again = note("Maya lives in Lisbon."), note("Maya lives in Lisbon!", minutes=5)
    kept, dropped = sift([first, again])
    assert kept.repeats is None
    assert dropped.repeats is not None
    assert (dropped.repeats.id, dropped.repeats.is_note) == (first.id, True)
    assert "alike" in dropped.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Maya prefers dark mode.", "Maya prefers light mode."),
        ("The release is on 3 March.", "The release is on 4 March."),
        ("Jonas likes the new office.", "Jonas doesn't like the new office."),
        ("The cluster has 12 nodes.", "The cluster has 13 nodes."),
        ("Priya reports to Jonas.", "Jonas reports to Priya."),
    ],
)
def test_mistake_21_statements_written_almost_alike_that_say_something_else_are_both_kept(one: str, other: str) -> None:
    assert [sifted.repeats for sifted in sift([note(one), note(other)])] == [None, None]
    assert sift([note(other)], [known(one)])[0].repeats is None


def test_what_a_memory_says_is_dropped_whatever_type_an_agent_left_unsaid() -> None:
    memory = known("Jonas prefers tea over coffee.", "preference")
    (dropped,) = sift([note("Jonas prefers tea over coffee")], [memory])
    assert dropped.repeats is not None
    assert (dropped.repeats.id, dropped.repeats.is_note) == (memory.id, False)
    assert dropped.links == ()


def test_a_higher_duplicate_threshold_keeps_more() -> None:
    memory = known("Maya's desk is in Lisbon.")
    words = note("Maya's  DESK is in Lisbon")
    assert sift([words], [memory])[0].repeats is not None
    strict = Sieve(duplicate=1.0, link=0.7, thresholds=Thresholds())
    assert sift([words], [memory], strict)[0].repeats is None


def test_a_note_is_linked_to_what_is_related_at_most_five_and_never_to_itself() -> None:
    near = [known(f"Maya planted {number} rose bushes in the back garden.") for number in range(2, 12)]
    (kept,) = sift([note("Maya planted 20 rose bushes in the back garden.")], near)
    assert kept.repeats is None
    assert len(kept.links) == MAX_LINKS
    scores = [link.score for link in kept.links]
    assert scores == sorted(scores, reverse=True)
    assert all(0.7 <= score <= 1 for score in scores)
    assert {link.to.id for link in kept.links} <= {memory.id for memory in near}


def test_notes_of_one_cycle_are_linked_to_each_other() -> None:
    first = note("Maya planted rose bushes in the back garden.")
    second = note("Maya planted rose bushes in the back garden with Ines.", minutes=1)
    _, later = sift([first, second])
    assert [(link.to.id, link.to.is_note) for link in later.links] == [(first.id, True)]


@pytest.mark.parametrize("current", [True, False])
def test_nothing_is_linked_to_what_no_longer_stands(current: bool) -> None:
    memory = known("Maya planted rose bushes in the back garden.", current=current)
    (kept,) = sift([note("Maya planted rose bushes in the back garden with Ines.")], [memory])
    assert [link.to for link in kept.links] == ([memory] if current else [])


def test_long_texts_are_compared_for_equality_alone() -> None:
    text = "The minutes of the meeting. " * (MAX_COMPARED // 20)
    (kept,) = sift([note(text)], [known(text + "Jonas left early.")])
    assert (kept.repeats, kept.links) == (None, ())


def test_the_reason_says_why_a_note_was_taken_up() -> None:
    marked = Note(uuid4(), 1, None, "fact", "Ines has a cat.", 0.1, marked=True, said_at=SAID)
    reasons = [one.why for one in sift([marked, note("Jonas rows on Sundays.")])]
    assert reasons == ["marked by the agent", "noted by the agent with importance 0.80"]
