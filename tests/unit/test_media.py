"""Parts of a framework's message that are no text: their words are recorded, the others are counted."""

from types import SimpleNamespace

import pytest

from slowwave.integrations.media import Described, described, part_of


def test_words_of_parts_become_text_and_others_are_counted() -> None:
    found = described(
        [
            {"type": "image", "alt_text": "a red\nbike"},
            {"type": "input_file", "filename": "invoice-12.pdf"},
            {"type": "input_audio", "input_audio": {"data": "x", "transcript": "Call me at noon."}},
            {"type": "image_url", "image_url": {"url": "https://pictures.example/1.png"}},
            {"type": "reasoning", "description": "a thought"},
            {"url": "x"},
        ]
    )
    assert found == Described(
        ("[image: a red bike]", "[file: invoice-12.pdf]", "[audio: Call me at noon.]"),
        ("image_url", "reasoning", "unknown"),
    )
    assert found.after("Look.").startswith("Look.\n[image: a red bike]\n")
    assert Described().after("Look.") == "Look."
    assert described([{"type": "image", "alt": "a bike"}]).after("") == "[image: a bike]"


@pytest.mark.parametrize(
    ("fields", "further", "word"),
    [
        ({"alt_text": "a bike"}, {"alt_text": "another"}, "[image: a bike]"),
        ({"name": "bike.png"}, {}, "[image: bike.png]"),
        ({"name": "bike.png", "filename": "bike-2.png"}, {}, "[image: bike-2.png]"),
        ({"alt_text": None}, {"caption": "a bike"}, "[image: a bike]"),
    ],
)
def test_an_object_of_a_framework_is_described_by_its_fields(
    fields: dict[str, object], further: dict[str, str], word: str
) -> None:
    assert described([part_of("image", SimpleNamespace(**fields), further, None)]).words == (word,)


def test_an_object_without_words_is_counted() -> None:
    assert described([part_of("video", SimpleNamespace(url="x"))]) == Described((), ("video",))
