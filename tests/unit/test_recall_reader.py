"""Who may read from where, and how what was said is put into a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.errors import InvalidName
from slowwave.recall.rendering import Block, fenced, one_line
from slowwave.recall.scopes import reader


def test_the_own_scope_comes_first_and_none_twice() -> None:
    assert reader("default", "maya", ["room:kitchen", "team:a:b", "room:kitchen"]).scopes == (
        ("agent", "maya"),
        ("room", "kitchen"),
        ("team", "a:b"),
    )


@pytest.mark.parametrize("scope", ["", "kitchen", "agent:jonas", "room:", "room:\0", ":x", "ROOM:x", None, 7])
def test_a_scope_that_names_no_room_or_team_is_refused(scope: str) -> None:
    with pytest.raises(InvalidName):
        reader("default", "maya", [scope])


def test_a_text_is_no_list_of_scopes() -> None:
    with pytest.raises(InvalidName, match="must be a list"):
        reader("default", "maya", "room:kitchen")


def test_too_many_scopes_are_refused() -> None:
    with pytest.raises(InvalidName, match="at most 20"):
        reader("default", "maya", [f"room:{n}" for n in range(21)])


def test_nothing_known_is_no_text() -> None:
    assert fenced([Block("Known", [])]) == ""


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_nothing_that_was_said_ends_the_fence_or_begins_a_line(lines: list[str]) -> None:
    text = fenced([Block("Known", ["- " + one_line(line) for line in lines])])
    head, _, rest = text.partition("\n\n## Known\n\n")
    assert head.startswith("Between the fences")
    opening, *body, closing = rest.rstrip("\n").split("\n")
    fence = opening.removesuffix("text")
    assert set(fence) == {"`"}
    assert closing == fence
    assert len(body) == len(lines)
    assert all(line.startswith("- ") and fence not in line for line in body)
