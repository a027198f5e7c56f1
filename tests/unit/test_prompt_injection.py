"""Hostile turns against a model that obeys them: the prompt holds, and what comes back is one speaker's word."""

import re

import pytest

from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.model_extraction import KnownContext, prompt_of, read_window
from slowwave_server.domain.model_extraction.answers import MAX_CONTENT
from slowwave_server.domain.model_extraction.asking import MOST_MEMORIES, TYPES
from slowwave_server.domain.prompts import prompt_text
from tests.support.hostile import TURNS, worst
from tests.support.modelling import extracted, turns
from tests.support.tables import for_each

CALM = ("I work as a gardener in Bergen.", ("assistant", "How long have you been there?"))
SECRETS = ("zebra-Quartz-77", "sk-proj-abcdef", "ghp_abcdef")


@for_each("text", TURNS)
def test_a_turn_stays_one_line_inside_the_fence(text: str) -> None:
    asked = read_window(turns(*CALM, text), ExtractionContext("iris"))
    prompt = prompt_of(asked, ExtractionContext("iris"), KnownContext.of("Maya has a boat"), no_reply="NO_REPLY")
    lines = prompt.user.splitlines()
    fences = [at for at, line in enumerate(lines) if re.fullmatch(r"`{3,}(?:text)?", line)]
    assert len(fences) == 4, "a turn opened or closed a fence"
    window = lines[fences[2] + 1 : fences[3]]
    assert [line.split(" ")[0] for line in window] == [f"#{seq}" for seq in asked.said]
    assert lines[fences[3]] not in "\n".join(window)
    assert lines[fences[3] + 1 :] == []
    assert not re.search("[\x00-\x08\x1b\u200b\u202a-\u202e\U000e0000-\U000e007f]", prompt.user)
    assert not any(secret in prompt.user for secret in SECRETS)
    assert prompt.system.startswith(prompt_text("extract/2")[:400])


@pytest.mark.parametrize("text", TURNS)
def test_an_obeying_model_gives_no_more_than_what_that_speaker_said(text: str) -> None:
    window = turns(*CALM, text, ("assistant", text))
    for seq, trust in ((3, "user"), (4, "assistant")):
        found = extracted([*worst(text, seq)], window)
        assert len(found.candidates) <= MOST_MEMORIES
        for candidate in found.candidates:
            assert set(candidate.sources) <= {1, 2, 3, 4}
            said_by_user = any(window.events[at - 1].kind == "user" for at in candidate.sources)
            assert candidate.trust == ("user" if said_by_user and 4 not in candidate.sources else "assistant")
            if candidate.sources == (seq,):
                assert candidate.trust == trust
            assert candidate.type in TYPES
            assert 0.05 <= candidate.confidence <= 0.95
            assert 0.05 <= candidate.importance <= 0.95
            assert candidate.valid_from <= window.events[-1].happened_at
            assert "maya" in candidate.content.casefold() or "iris" in candidate.content.casefold()
            assert "\n" not in candidate.content
            assert len(candidate.content) <= MAX_CONTENT
            assert not any(secret in candidate.content for secret in SECRETS)


def test_there_are_enough_of_them() -> None:
    assert len(set(TURNS)) >= 40
