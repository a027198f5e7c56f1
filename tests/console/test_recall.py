"""The recall page: what an agent finds for a question and why, and its next prompt."""

import re
from html import unescape

import pytest

from tests.console.conftest import Console

pytestmark = pytest.mark.servers


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.fixture
def spoken(console: Console) -> Console:
    console.memory.turn_completed("maya", "s1", [{"role": "user", "content": "The boat is called Tern."}])
    return console


def test_question_shows_hits_with_reasons_and_prompt(spoken: Console) -> None:
    page = words(spoken.get("/recall?agent=maya&query=boat").text)
    hits, _, prompt = page.partition("Next prompt")
    assert "The boat is called Tern." in hits
    assert "It holds 100 % of the question's words" in hits
    assert "The boat is called Tern." in prompt
    assert 'href="/session?agent=maya&amp;session=s1&amp;at=1#e1"' in spoken.get("/recall?agent=maya&query=boat").text


def test_without_question_only_the_prompt_is_shown(spoken: Console) -> None:
    page = words(spoken.get("/recall?agent=maya&max_tokens=400&days=1").text)
    assert "The boat is called Tern." in page
    assert "Hits" not in page
    assert "Choose an agent and ask a question" in spoken.get("/recall").text


def test_wrong_values_are_told(spoken: Console) -> None:
    for path, told in (
        ("/recall?agent=maia&query=boat", "did you mean 'maya'"),
        ("/recall?agent=maya&query=boat&scopes=kitchen", "room:NAME"),
        ("/recall?agent=maya&days=many", "a whole number from 0 to 366"),
        ("/recall?agent=maya&days=99999999999999999999", "a whole number"),
    ):
        answer = spoken.get(path)
        assert answer.status_code in {400, 404}, path
        assert told in words(answer.text)
