"""What a note is worth, and that the lazy order is the order of all."""

from collections.abc import Iterator
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.curation import LEAST_WORTH, Note, by_worth, independence, worth

shares = st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.9, 1.0]) | st.floats(0, 1)
notes = st.lists(st.tuples(shares, shares, st.integers(1, 80)), max_size=40).map(
    lambda rows: [Note(UUID(int=n), 1, "inbox", c, i, w) for n, (c, i, w) in enumerate(rows)]
)


def falling(given_notes: list[Note]) -> list[Note]:
    return sorted(given_notes, key=lambda note: -(note.importance * note.confidence))


@given(notes)
def test_the_lazy_order_is_the_order_of_all_of_them(given_notes: list[Note]) -> None:
    lines = [note for note in given_notes if worth(note) >= LEAST_WORTH]
    assert list(by_worth(falling(given_notes))) == sorted(lines, key=lambda note: (-worth(note), note.id))


@given(st.integers(0, 60), shares, shares)
def test_another_independent_source_never_lowers_the_worth(
    witnesses: int, confidence: float, importance: float
) -> None:
    few, more = (Note(UUID(int=1), 1, "inbox", confidence, importance, n) for n in (witnesses, witnesses + 1))
    assert 0 <= worth(few) <= worth(more) <= 1
    assert independence(0) == 0


def test_no_more_notes_are_read_than_the_first_ones_need() -> None:
    asked = 0

    def many() -> Iterator[Note]:
        nonlocal asked
        for n in range(10_000):
            asked += 1
            yield Note(UUID(int=n), 1, "inbox", 1.0, 1 - n / 10_000, 1 + n % 3)

    first = by_worth(many())
    assert [next(first).witnesses for _ in range(3)] == [3, 3, 3]
    assert asked < 3000
