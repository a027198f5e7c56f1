"""What readers called junk makes no memory, and what stands beside it still does."""

from datetime import UTC, datetime

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def kept(*turns: tuple[EventKind, str, str | None]) -> list[str]:
    events = tuple(Event(n, kind, kind, text, AT, name=name) for n, (kind, text, name) in enumerate(turns, 1))
    found = RulesExtractor().extract(Window(events), ExtractionContext("agent"), AT)
    return [one.content for one in found.candidates]


@pytest.mark.parametrize(
    "said",
    [
        "+ for i := range questions {",
        "// My function always returns the header of the file.",
        "The final act only: creating the skills that were selected in step 4.",
    ],
)
def test_pasted_code_before_an_answer_is_dropped(said: str) -> None:
    assert kept(("user", said, None)) == []


def test_talk_about_the_other_person_is_dropped() -> None:
    said = "Portugal has some very tasty pastries for breakfast. I moved to Leeds in May."
    assert kept(("user", said, "Maya"), ("user", "Great.", "Jonas")) == ["Maya moved to Leeds in May."]


def test_question_without_a_mark_is_dropped() -> None:
    assert kept(("user", "How my team at Northwind uses the new printer", "Maya"), ("user", "Hm.", "Jonas")) == []


def test_walk_through_code_is_no_outcome() -> None:
    said = "Next, we created an instance of `PCA` called `model` using the `PCA()` function."
    assert kept(("user", "Please explain the code.", None), ("assistant", said, None)) == []


def test_choice_that_names_nothing_is_dropped() -> None:
    offer = "We can look at costs or at dates. Which one?"
    vague = kept(("assistant", offer, None), ("user", "Let's do the drawing part.", None))
    named = kept(("assistant", offer, None), ("user", "Let's use Postgres 17 for the archive.", None))
    assert vague == []
    assert len(named) == 1


def test_definition_in_another_language_is_dropped() -> None:
    definition = "Bei der Arbeit mit Docker läuft jeder Container als eigene Instanz in einem Haus von Diensten."
    fact = "Ich bin gegen Erdnüsse allergisch und wohne in Graz."
    asked = "Was ist ein Container? Bitte antworte in einem Satz."
    assert kept(("assistant", asked, None), ("user", definition, None)) == []
    assert len(kept(("assistant", "Erzähl mir etwas über dich, bitte.", None), ("user", fact, None))) == 1


def test_discussion_of_a_group_is_dropped() -> None:
    turns: list[tuple[EventKind, str, str | None]] = [
        ("user", "Uh we always have the spongy buttons on the remote in our team.", "Maya"),
        ("user", "I have used the old kernel on my laptop since Christmas.", "Jonas"),
        ("user", "We decided on a rubber casing for the plastic shell of the remote.", "Priya"),
    ]
    assert [one for one in kept(*turns) if "rubber casing" not in one] == []
    assert any("rubber casing" in one for one in kept(*turns))
