"""Two versions of a day's summary are compared line by line."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave_server.domain.summaries.differences import compare_lines


def line(text: str, facet: str = "said", seq: int = 1) -> dict[str, Any]:
    return {"facet": facet, "text": text, "seq": seq}


def test_what_stayed_what_went_and_what_came() -> None:
    before = [line("Maya wants tea.", "wanted"), line("Jonas is ill."), line("It rains.")]
    after = [line("Maya wants tea.", "wanted", seq=4), line("Jonas is well."), line("It rains.")]
    told = [(one.standing, one.line["text"]) for one in compare_lines(before, after)]
    assert told == [
        ("same", "Maya wants tea."), ("gone", "Jonas is ill."), ("new", "Jonas is well."), ("same", "It rains."),
    ]  # fmt: skip
    assert compare_lines(before, after)[0].line["seq"] == 4
    moved = compare_lines([line("It rains.", "state")], [line("It rains.", "said")])
    assert [one.standing for one in moved] == ["gone", "new"]


LINES = st.lists(st.builds(line, st.sampled_from("abcd"), st.sampled_from(["said", "state"])), max_size=8)


@settings(max_examples=60)
@given(LINES, LINES)
def test_either_version_can_be_read_off(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    told = compare_lines(before, after)
    assert [one.line for one in told if one.standing != "new"] == before
    assert [one.line for one in told if one.standing != "gone"] == after
