"""A query with several sentences is a message of a conversation; a single sentence is a question that stands alone."""

import pytest

from slowwave.recall.continuing import continues_talk


@pytest.mark.parametrize(
    "message",
    [
        "The CV is done. What's next?",
        "Hi! I'm back from Rome",
        "Wir sind fertig. Was kommt jetzt?",
        "\u59d0\u59d0\u4f60\u597d\u3002\u4e0b\u4e00\u6b65\uff1f",
        'He said "no." Then he left.',
        "first line\nsecond line",
    ],
)
def test_several_sentences_continue_a_conversation(message: str) -> None:
    assert continues_talk(message)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?!.",
        "GHA secrets config",
        "When did Maya move to Bergen?",
        "What did Dr. Smith say about version 3.5?",
        "When was J. R. born?",
        "Was kostet ca. ein Kilo?",
        "One sentence that ends here.  \n",
    ],
)
def test_one_sentence_stands_alone(question: str) -> None:
    assert not continues_talk(question)
