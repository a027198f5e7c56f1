"""Long texts: cut at their structure, nothing of them lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.long_text import at_most, ends, pieces

TEXTS = st.text(st.sampled_from("ab .?\n#"), max_size=400)


@given(TEXTS, st.integers(2, 60))
def test_joined_pieces_are_the_text(text: str, size: int) -> None:
    found = list(pieces(text, size))
    assert "".join(found) == text
    assert all(1 <= len(piece) <= size for piece in found)


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("one two five\n\n# Plan\nthree", "one two five\n\n"),
        ("one. two.\n\nthree four five", "one. two.\n\n"),
        ("one, two three. four five six", "one, two three. "),
        ("abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqr"),
    ],
)
def test_pieces_end_at_headings_paragraphs_and_sentences(text: str, first: str) -> None:
    assert next(pieces(text, 18)) == first


@given(TEXTS, st.integers(1, 60))
def test_ends_show_the_beginning_and_the_end_and_return_the_middle(text: str, size: int) -> None:
    shown, middle = ends(text, size)
    if len(text) <= size:
        assert (shown, middle) == (text, "")
    else:
        assert middle in text
        assert f"[… {len(middle)} characters left out …]" in shown
        head, tail = shown.split(f"\n[… {len(middle)} characters left out …]\n")
        assert len(head) + len(tail) <= size
        assert text.startswith(head)
        assert text.endswith(tail)


def test_room_grows_with_length_up_to_a_bound() -> None:
    assert [at_most(6, length) for length in (0, 12_000, 12_001, 30_000, 95_000, 900_000)] == [6, 6, 12, 18, 24, 24]
