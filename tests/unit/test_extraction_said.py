"""Passages: what a judge may keep of a turn word for word, and how it chooses between a passage and a sentence."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from slowwave_server.domain.candidates import Candidate, ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.said import MAX_CHARACTERS, MOST
from tests.support.judging import Judge

AT = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
Said = tuple[EventKind, str | None, str]


def extract(likes: Callable[[str], float], *turns: Said) -> tuple[list[Candidate], list[str]]:
    judge = Judge(likes)
    events = tuple(
        Event(seq, kind, kind, content, AT + timedelta(minutes=seq), name=name)
        for seq, (kind, name, content) in enumerate(turns, 1)
    )
    found = RulesExtractor(judge).extract(Window(events), ExtractionContext("helper", "UTC"), AT)
    return list(found.candidates), judge.asked


GROUP: tuple[Said, ...] = (
    ("user", "Jen", "is the room free"),
    ("user", "Ozzy", "no idea lol"),
    ("user", "Graham", "Trampoline place has moved us. The new date is 17 October at 2."),
)


def test_sentences_that_follow_each_other_make_one_passage() -> None:
    kept, _ = extract(lambda text: 0.9 if "has moved us. The new" in text else 0.0, *GROUP)
    assert [one.content for one in kept] == [
        'Graham: "Trampoline place has moved us. The new date is 17 October (2026-10-17) at 2."'
    ]
    assert kept[0].sources == (3,)
    assert kept[0].importance == 0.9


def test_an_answer_may_carry_its_question_and_both_sources() -> None:
    kept, _ = extract(
        lambda text: 0.9 if "asked" in text else 0.2,
        ("user", "Jen", "Where do we meet on the day of the hike?"),
        ("user", "Graham", "Car park by Linden Mill, at nine."),
        ("user", "Ozzy", "ok"),
    )
    assert [one.content for one in kept] == [
        'Graham (asked “Where do we meet on the day of the hike?”): "Car park by Linden Mill, at nine."'
    ]
    assert kept[0].sources == (1, 2)


def test_i2_a_message_is_not_told_again_with_the_next_one() -> None:
    kept, _ = extract(
        lambda _: 0.97,
        ("user", "mara", "boot loader 0.9 erases page 62 of the Linden board"),
        ("user", "mara", "board 7 of the Bergen batch is the last one with 0.8"),
        ("user", "pxl", "noted"),
        ("user", "yuki", "thanks"),
    )
    assert [one.sources for one in kept] == [(1,), (2,)]


def test_of_a_passage_and_its_sentence_the_better_is_kept() -> None:
    turn: Said = ("user", "Priya", "I moved to Bergen in March. My flat is next to the fish market.")
    other: Said = ("user", "Tom", "Nice, that sounds lovely.")
    whole, _ = extract(lambda text: 0.9 if "Bergen" in text and "market" in text else 0.6, turn, other)
    assert len(whole) == 1
    assert "market" in whole[0].content
    parts, _ = extract(lambda text: 0.3 if text.startswith("Priya: ") else 0.8, turn, other)
    assert len(parts) == 2
    assert all(not one.content.startswith("Priya: ") for one in parts)


def test_without_a_judge_there_are_no_passages() -> None:
    events = tuple(Event(seq, kind, kind, text, AT, name=name) for seq, (kind, name, text) in enumerate(GROUP, 1))
    found = RulesExtractor().extract(Window(events), ExtractionContext("helper", "UTC"), AT)
    assert all("said" not in one.signals for one in found.candidates)


def test_a_judge_reads_few_and_short_passages_of_any_turn() -> None:
    long = " ".join(f"Shelf {at} of the Linden depot holds {at} boxes of copper fittings." for at in range(400))
    _, asked = extract(lambda _: 0.0, ("user", "Ana", long), ("user", "Bo", "ok"), ("user", "Cy", "fine"))
    passages = [text for text in asked if text.startswith("Ana: ")]
    assert 0 < len(passages) <= MOST * 7
    assert max(map(len, passages)) <= MAX_CHARACTERS + 20


def test_a_speaker_that_stands_amid_a_sentence_is_quoted() -> None:
    kept, _ = extract(
        lambda _: 0.9,
        ("user", "Ilaria", "The fridge in the larder runs at 6 degrees, I saw it on the probe."),
        ("user", "Bo", "ok"),
    )
    assert kept
    assert all(one.content.startswith("Ilaria: ") for one in kept)


def test_the_name_of_whom_a_message_is_said_to_is_left_out() -> None:
    _, asked = extract(
        lambda _: 0.0,
        ("user", "otavio", "the freeze begins on 3 June"),
        ("user", "fray", "otavio: meta-browser drops the 4.19 kernel after the release of 3.2"),
        ("user", "kergoth", "ok"),
    )
    assert 'fray: "Meta-browser drops the 4.19 kernel after the release of 3.2."' in asked


def test_a_mail_is_read_without_the_mail_that_it_answers() -> None:
    mail = (
        "I set the DNS to 10.1.0.1 on the Linden router and it works now.\n\n"
        "On Mon, 7/30/12, Tim <tim@mail.example> wrote:\n> Did you try the DNS of Bergen Telecom, 10.9.9.9?\n"
    )
    _, asked = extract(lambda _: 0.0, ("user", "jb", mail), ("user", "Tim", "Good."), ("user", "Ana", "thanks"))
    assert any("Linden" in text for text in asked)
    assert not any("Bergen" in text for text in asked)


def test_demands_of_the_moment_are_no_passages() -> None:
    told = "My hotel is the Linden in Urumqi. I require the precise flight numbers immediately. Book the Bergen suite."
    _, asked = extract(
        lambda _: 0.0,
        ("user", None, "Plan my trip to Urumqi with a ski guide, three nights, from 3 March."),
        ("assistant", None, "I can offer you three hotels and two guides. Which hotel did you choose?"),
        ("user", None, told),
    )
    assert any("Linden" in text for text in asked)
    assert not any("flight numbers" in text for text in asked)
