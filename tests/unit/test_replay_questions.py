"""Questions of replays: made from an event, never a repetition of the memory, and the same in every order."""

from slowwave_server.domain.consolidation.replay import Replay, by_hash, held, lost, make_question

SAID = "Hello! My cat Bruno was sick again, so I drove him to the clinic in Aker. It cost 300 kroner."
MEMORY = "The user's cat Bruno was sick"


def test_question_joins_words_of_the_memory_and_of_the_event() -> None:
    words = set((make_question(SAID, MEMORY) or "").split())
    assert {"cat", "sick"} <= words
    assert words & {"drove", "clinic", "aker"}
    assert not words & {"kroner", "bruno"}


def test_question_is_not_made_of_an_event_about_something_else() -> None:
    assert make_question("The weather in Bergen is lovely.", MEMORY) is None
    assert make_question("", MEMORY) is None
    assert make_question(SAID, "") is None


def test_sample_does_not_depend_on_the_order() -> None:
    texts = [f"question {number}" for number in range(40)]
    assert by_hash(texts) == by_hash(reversed(texts))
    assert by_hash(texts)[:5] != texts[:5]


def test_lost_evidence_is_the_mean_over_questions() -> None:
    answers = [Replay(1.0, 0.5), Replay(1.0, 1.0), Replay(0.0, 0.5), Replay(1.0, 0.0)]
    assert held(answers) == (0.75, 0.5)
    assert lost(answers) == 0.25
    assert lost([]) == 0
