"""Outlines: title, points and figures of a structured answer, every word of them from the answer."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.headings import only_headings
from slowwave_server.domain.extraction.outline import MAX_POINTS, clean, listed, numbered, outline
from tests.support.bounded import at_most

MENU = """Here is what I have in mind.

## Harvest Dinner Menu

1. **Starter:** Pumpkin soup with sage
2. **Main**: Risotto for 12 guests
   - stir in the wine
   - rest for 2 minutes
3. Dessert: pears from Corvara

Total cost: 340 euros
"""


def test_title_points_and_final_figures_are_kept() -> None:
    found = outline(MENU)
    assert found is not None
    assert found.title == "Harvest Dinner Menu"
    assert found.points == (
        "Starter: Pumpkin soup with sage",
        "Main: Risotto for 12 guests",
        "Dessert: pears from Corvara",
    )
    assert "Total cost: 340 euros" in found.told()
    assert found.is_specific


def test_the_inner_level_of_a_list_is_left_out() -> None:
    found = outline(MENU)
    assert found is not None
    assert "stir in the wine" not in found.told()


def test_more_points_than_fit_are_counted() -> None:
    many = "## Court Calendar 2031\n" + "\n".join(f"- Hearing {n} in room {n}" for n in range(20))
    found = outline(many)
    assert found is not None
    assert (len(found.points), found.more) == (MAX_POINTS, 20 - MAX_POINTS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "***",
        "## ",
        "# Lesson Plan for Year Nine",
        "The wound heals well. No stitches are needed.",
        "- only one point",
        "| Dose | Hour |\n|---|---|\n| 5 mg | 8 |\n",
        "## Can you tell me?\n- what\n- when\n",
        "```\n- a\n```",
    ],
)
def test_without_a_title_and_two_points_there_is_none(text: str) -> None:
    assert outline(text) is None


def test_headings_stand_for_points_if_no_list_does() -> None:
    found = outline("# Levels of Frost Keep\n\n## The Gate of 9 Locks\nText.\n\n## The Ice Library\nText.\n")
    assert found is not None
    assert found.points == ("The Gate of 9 Locks", "The Ice Library")


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("**Bold** and *soft* and `code`", "Bold and soft and code"),
        ("- `__init__.py` in `src/*.py`", "__init__.py in src/*.py"),
        ("edit __init__.py and *.toml", "edit __init__.py and *.toml"),
        ("a 2*3 grid costs 2**8 points, issue #45, in C#", "a 2*3 grid costs 2**8 points, issue #45, in C#"),
        ("the snake_case_name stays", "the snake_case_name stays"),
        ("## Dosage ##", "Dosage"),
        ("_italic_ word", "italic word"),
        ("| a | b |", "a b"),
        ("", ""),
    ],
)
def test_marks_go_and_identifiers_stay(line: str, plain: str) -> None:
    assert clean(line) == plain


def test_a_point_is_found_by_its_number_in_the_last_list() -> None:
    text = "1. soup\n2. salad\n\nDesserts:\n1. figs\n2. **Plum cake**\n"
    assert numbered(text, 2) == "Plum cake"
    assert numbered(text, 7) is None


def test_a_list_comes_with_the_line_that_introduces_it() -> None:
    assert listed("My deal-breakers are:\n- noise at night\n- no lift\nBye.") == (
        "My deal-breakers are",
        ("noise at night", "no lift"),
    )
    assert listed("- a\n- b") is None


MARKS = st.sampled_from(
    ["# ", "- ", "1. ", "**", "*", "_", "`", "|", "\n", "  - ", "é", "总计 3", "word ", "Big Plan "]
)


@given(st.lists(MARKS, max_size=40).map("".join))
def test_every_word_of_an_outline_stands_in_the_answer(text: str) -> None:
    found = outline(text)
    assert found == outline(text)
    if found is not None:
        bare = re.sub(r"[^\w]", "", text)
        for part in (found.title, *found.points):
            assert re.sub(r"[^\w]", "", part) in bare or "_" in text


REPORT = """# Harbor Report for Lille

## Summary
- Ferries: 12 a day since May
- Quay 7 is closed
## Main Goals
- Berths for 40 boats
## Market Impact
"""


def test_a_list_stands_for_headings_that_say_nothing() -> None:
    found = outline(REPORT)
    assert found is not None
    assert found.points == ("Ferries: 12 a day since May", "Quay 7 is closed", "Berths for 40 boats")
    named = outline(REPORT.replace("Main Goals", "Goals of Ida Holm"))
    assert named is not None
    assert named.points == ("Goals of Ida Holm", "Market Impact")


@pytest.mark.parametrize(
    ("points", "only"),
    [
        (["Key Themes", "Phase 2: Market Impact"], True),
        (["Key Themes", "Berths for 40 boats"], False),
        (["Key Themes", "Ferries: every hour"], False),
        (["Key Themes", "Notes of Novak"], False),
    ],
)
def test_headings_have_neither_values_nor_names(points: list[str], only: bool) -> None:
    assert only_headings(points) is only


@pytest.mark.parametrize("end", ["", "x", "\n- b"])
@pytest.mark.parametrize(
    "junk", ["_", "# ", "#", " ", "- ", "**", "*a", "`", "`a", "|", "1. ", "**a: ", "\n", "\t- ", "total "]
)
def test_hostile_answers_are_outlined_in_bounded_time(junk: str, end: str) -> None:
    text = "- a" + junk * (50_000 // len(junk)) + end
    with at_most(4):
        outline(text)
        outline("# " + text)
        numbered(text, 1)
        listed(text)
