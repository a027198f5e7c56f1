"""The drawings of docs/images are those that docs_reference draws, readable in light and dark."""

import re

import pytest

from docs_reference.demo_picture import LINE_HEIGHT, ROWS, picture
from docs_reference.drawings import FOLDER, drawings
from docs_reference.drawn_parts import BOXES, GROUPS, SEQUENCES, Box, Sequence

DRAWINGS = drawings()


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawing_is_the_one_that_the_data_give(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == DRAWINGS[name](), "run python -m docs_reference.drawings"


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawing_has_a_dark_form_and_a_title(name: str) -> None:
    text = DRAWINGS[name]()
    assert "prefers-color-scheme: dark" in text
    assert "<title>" in text


@pytest.mark.parametrize("box", BOXES.values(), ids=lambda box: box.title)
def test_box_is_inside_one_group(box: Box) -> None:
    assert sum(_is_inside(box, group) for group in GROUPS) == 1


@pytest.mark.parametrize("drawn", SEQUENCES, ids=lambda drawn: drawn.name)
def test_step_names_actors_of_its_sequence(drawn: Sequence) -> None:
    for start, end, _ in drawn.steps:
        assert {start, end} <= set(drawn.actors)


def _is_inside(box: Box, group: Box) -> bool:
    inner, outer = _edges(box), _edges(group)
    return outer[0] < inner[0] and outer[1] < inner[1] and inner[2] < outer[2] and inner[3] < outer[3]


def _edges(box: Box) -> tuple[int, int, int, int]:
    return box.x, box.y, box.x + box.width, box.y + box.height


def test_picture_of_the_demo_is_as_high_as_a_terminal_and_scrolls_to_its_last_line() -> None:
    drawn = picture(["1. Week one", *(f"line {number}" for number in range(ROWS + 9)), "6. The context", "left out"])
    height = re.search(r'viewBox="0 0 \d+ ([\d.]+)"', drawn)
    assert height is not None
    assert float(height[1]) < (ROWS + 4) * LINE_HEIGHT
    assert f"translateY(-{10 * LINE_HEIGHT:.1f}px)" in drawn
    assert "left out" not in drawn.replace("&#160;", " ")
    assert "prefers-reduced-motion: no-preference" in drawn


def test_picture_of_few_lines_does_not_move() -> None:
    assert "animation" not in picture(["1. Week one", "first line"])
