"""Answers to the second prompt: kinds, dates with precision, repeats and corrections, and what counts as no answer."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.model_extraction import KnownContext, KnownMemory, is_presentable, prompt_of, read_window
from slowwave_server.domain.model_extraction.asking import SCHEMA, TYPES
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.services.llm.answers import UnfitAnswer, read_answer
from tests.support.modelling import NOON, Saying, extracted, extractor, memory, turns
from tests.support.prompting import prompt

PORTO = UUID("00000000-0000-7000-8000-000000000001")
KNOWN = KnownContext((KnownMemory("Maya lives in Porto.", date(2025, 1, 14), PORTO),))
MONTHS = {"january": 1, "february": 2, "march": 3}


def _one(window: Window, content: str, *sources: int, known: KnownContext | None = None, **fields: Any) -> Any:
    (found,) = extracted([memory(content, *sources, **fields)], window, known=known or KnownContext()).candidates
    return found


@pytest.mark.parametrize("kind", TYPES)
def test_every_kind_of_memory_is_kept_as_its_kind(kind: str) -> None:
    assert _one(turns("I always want metric units."), "Maya always wants metric units.", 1, kind=kind).type == kind


def test_agent_gives_itself_no_instruction() -> None:
    window = turns("hello there, how is it?", ("assistant", "From now on I always answer in French."))
    assert _one(window, "iris always answers in French.", 2, kind="instruction").type == "fact"


@pytest.mark.parametrize(
    ("said", "valid_from", "precision", "stored"),
    [
        ("I adopted a dog yesterday.", "2025-03-02", "day", "2025-03-02"),
        ("I adopted a dog last week.", "2025-02-26", "week", "2025-02-24"),
        ("I adopted a dog last month.", "2025-02-11", "month", "2025-02-01"),
        ("I adopted a dog last month.", "2025-02", "month", "2025-02-01"),
        ("I adopted a dog last year.", "2024-07-01", "year", "2024-01-01"),
        ("I adopted a dog in 2019.", "2019", "year", "2019-01-01"),
        ("I adopted a dog last spring.", "2024-03-01", "month", "2024-03-01"),
        ("I adopted a dog two weekends ago.", "2025-02-22", "day", "2025-02-22"),
        ("I adopted a dog over Christmas.", "2024-12-25", "week", "2024-12-23"),
        ("I adopted a dog last weekend.", "2025-03-01", "day", "2025-03-01"),
    ],
)
def test_validity_begins_with_its_period(said: str, valid_from: str, precision: str, stored: str) -> None:
    found = _one(turns(said), "Maya adopted a dog.", 1, valid_from=valid_from, precision=precision)
    assert found.valid_from.date().isoformat() == stored
    assert f"dated by the {precision}" in found.signals


@pytest.mark.parametrize(
    ("said", "valid_from", "precision"),
    [
        ("I adopted a dog a while ago.", None, "unknown"),
        ("I adopted a dog.", "2019-05-01", "unknown"),
        ("I adopted a dog.", "2019-05-01", "day"),
        ("I adopted a dog yesterday.", "2025-02-11", "day"),
        ("I adopted a dog last month.", "2023-02-01", "month"),
        ("I fly to Oslo on 9 June.", "2025-06-09", "day"),
        ("I adopted a dog.", "soon", "day"),
        ("I adopted a dog.", "2025-02-31", "day"),
        ("I adopted a dog yesterday.", "2025-03-02", "hour"),
        ("I adopted a dog 300 years ago.", "1725-01-01", "year"),
    ],
)
def test_unborne_date_leaves_the_time_of_the_event(said: str, valid_from: str | None, precision: str) -> None:
    window = turns(said)
    content = "Maya flies to Oslo on 2025-06-09." if "Oslo" in said else "Maya adopted a dog."
    found = _one(window, content, 1, valid_from=valid_from, precision=precision)
    assert found.valid_from == window.events[0].happened_at


def test_plan_holds_from_the_day_on_which_it_was_made() -> None:
    window = turns("I fly to Oslo on 9 June.")
    planned = memory("Maya flies to Oslo on 2025-06-09.", 1, kind="task", valid_from="2025-03-03", precision="day")
    (found,) = extracted([planned], window).candidates
    assert found.valid_from == window.events[0].happened_at


def test_date_that_only_a_reader_understands_may_stand_in_the_content() -> None:
    window = turns("I adopted a dog two weekends ago.")
    dated = {"valid_from": "2025-02-22", "precision": "day"}
    assert _one(window, "Maya adopted a dog on 2025-02-22.", 1, **dated).valid_from == datetime(2025, 2, 22, tzinfo=UTC)
    assert extracted([memory("Maya adopted a dog on 2025-02-23.", 1, **dated)], window).candidates == ()


def test_planned_weekend_and_second_day_may_stand_in_the_content() -> None:
    (found,) = extracted(
        [memory("Maya camps on the weekend of 2025-03-08.", 1)], turns("I camp at the weekend.")
    ).candidates
    assert "2025-03-08" in found.content
    window = turns("I am in Oslo on May 19th and 20th, 2025.")
    assert extracted([memory("Maya is in Oslo on 2025-05-19 and 2025-05-20.", 1)], window).candidates
    assert not extracted([memory("Maya is in Oslo on 2025-05-19 and 2025-05-21.", 1)], window).candidates


def test_acceptance_makes_a_decision_with_both_turns() -> None:
    window = turns(("assistant", "I suggest Hotel Nordlys for 3 nights at 120 euros."), "Yes, book it.")
    found = _one(window, "Maya decided to book Hotel Nordlys for 3 nights at 120 euros.", 1, 2, kind="decision")
    assert (found.type, found.sources, found.trust) == ("decision", (1, 2), "user")
    refused = turns(("assistant", "I suggest Hotel Nordlys for 3 nights at 120 euros."), "Never in my life.")
    assert extracted([memory("Maya booked Hotel Nordlys.", 2)], refused).candidates == ()


@pytest.mark.parametrize(
    "yes",
    [
        "I\u2019d like to go with the second option, please.",
        "The second one.",
        "Yes, do it. And can you tell me the way to the fjord, please?",
    ],
)
def test_acceptance_in_other_words_is_a_persons_decision(yes: str) -> None:
    window = turns(("assistant", "There is Hotel Nordlys for 120 euros, and Hotel Polar for 90 euros."), yes)
    found = _one(window, "Maya chose Hotel Polar for 90 euros.", 1, 2, kind="decision")
    assert (found.sources, found.trust) == ((1, 2), "user")


def test_request_is_no_evidence_that_the_agent_did_it() -> None:
    window = turns("Save the plan of the trip to my cloud drive.", ("assistant", "The plan is saved, all is final."))
    found = _one(window, "iris saved the plan of the trip to Maya's cloud drive.", 1, 2, kind="result")
    assert (found.sources, found.trust) == ((1, 2), "assistant")
    found = _one(window, "The plan of Maya's trip was saved to the cloud drive.", 1, 2, kind="result")
    assert (found.sources, found.trust) == ((1, 2), "assistant")


def test_result_that_a_person_confirms_is_a_persons() -> None:
    window = turns(("assistant", "I changed the phone number of the hut to 0412 88."), "Right, that's the number.")
    found = _one(window, "The phone number of Maya's hut is now 0412 88.", 1, 2, kind="result")
    assert (found.sources, found.trust) == ((1, 2), "user")


def test_question_is_no_evidence_for_what_the_agent_answers() -> None:
    window = turns("When did you leave Norway? Do you miss the fjords?", ("assistant", "At nine. I do miss them."))
    found = _one(window, "iris misses the fjords of Norway.", 1, 2)
    assert (found.sources, found.trust) == ((1, 2), "assistant")
    assert found.content == "iris misses the fjords of Norway."


def test_instruction_that_the_agent_confirms_is_a_persons() -> None:
    window = turns("From now on use metric units.", ("assistant", "Sure, I use metric units from now on."))
    found = _one(window, "iris is to use metric units.", 1, 2, kind="instruction")
    assert (found.type, found.trust) == ("instruction", "user")


def test_decision_of_the_day_is_later_than_what_it_changes() -> None:
    window = turns("I fly on HAT1.", ("assistant", "HAT2 is free on that day, too."), "Then I take HAT2.")
    found = _one(window, "Maya takes HAT2 instead of HAT1.", 1, 3, valid_from="2025-03-03", precision="day")
    assert found.valid_from == window.events[2].happened_at


def test_date_beside_its_words_is_not_written_twice() -> None:
    found = _one(turns("I met Leila last Friday."), "Maya met Leila on Friday, 2025-02-28.", 1)
    assert found.content == "Maya met Leila on Friday, 2025-02-28."


def test_correction_may_say_again_what_still_holds() -> None:
    known = KnownContext((KnownMemory("Maya weighs 85 kg, her target is 78 kg.", date(2025, 1, 14), PORTO),))
    window = turns("I weigh 88 kg now.")
    found = _one(window, "Maya weighs 88 kg, her target is 78 kg.", 1, known=known, corrects="K1")
    assert (found.corrects, found.sources) == (PORTO, (1,))
    for content in ("Maya weighs 85 kg, her target is 78 kg.", "Maya weighs 88 kg, her target is 70 kg."):
        assert extracted([memory(content, 1, corrects="K1")], window, known=known).candidates == ()


def test_repeat_names_the_known_memory() -> None:
    window = turns("As you know I still live in Porto.")
    assert _one(window, "Maya lives in Porto.", 1, known=KNOWN, repeats="K1").repeats == PORTO
    assert _one(window, "Maya lives in Porto.", 1, known=KNOWN, repeats="[K1]").repeats == PORTO


@pytest.mark.parametrize("name", ["K2", "K0", "1", 1, None, "K99999", ["K1"], ""])
def test_repeat_of_something_unknown_is_a_new_memory(name: Any) -> None:
    window = turns("As you know I still live in Porto.")
    assert _one(window, "Maya lives in Porto.", 1, known=KNOWN, repeats=name).repeats is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I do not live in Porto.", "Maya does not live in Porto."),
        ("I live in Porto with 3 cats.", "Maya lives in Porto with 3 cats."),
        ("I live in Bergen.", "Maya lives in Bergen."),
        ("I live in Porto with Leila.", "Maya lives in Porto with Leila."),
    ],
)
def test_repeat_that_says_something_else_is_a_new_memory(said: str, content: str) -> None:
    assert _one(turns(said), content, 1, known=KNOWN, repeats="K1").repeats is None


def test_mistake_24_repeat_without_own_words_is_dropped() -> None:
    window = turns("Book a table for tonight.", ("assistant", "In Porto, where you live?"), "Why do you ask me that?")
    found = extracted([memory("Maya lives in Porto.", 3, repeats="K1")], window, known=KNOWN)
    assert found.candidates == ()


def test_correction_names_the_memory_that_ends() -> None:
    window = turns("I moved, I live in Bergen now.")
    found = _one(window, "Maya lives in Bergen.", 1, known=KNOWN, corrects="K1")
    assert (found.corrects, found.repeats) == (PORTO, None)
    assert "correction" in found.signals


def test_agent_corrects_nothing() -> None:
    window = turns("Where do I live, what do you think?", ("assistant", "You moved, Maya lives in Bergen."))
    assert _one(window, "Maya lives in Bergen.", 2, known=KNOWN, corrects="K1").corrects is None


def test_correction_shares_something_with_what_it_ends() -> None:
    window = turns(("Jonas", "The build needs 3 minutes."))
    assert _one(window, "The build needs 3 minutes, Jonas says.", 1, known=KNOWN, corrects="K1").corrects is None


@pytest.mark.parametrize("said", ["", "  \n", "NO_REPLY", "```\nNO_REPLY\n```", "{}", "[]", "null", '{"memories": []}'])
def test_empty_answer_means_nothing_to_keep(said: str) -> None:
    asked = prompt_of(
        read_window(turns("hi all"), ExtractionContext("iris")),
        ExtractionContext("iris"),
        KnownContext(),
        no_reply="NO_REPLY",
    )
    _, data = read_answer(asked, said, 7)
    found = extracted(lambda _: data, turns("I have two dogs called Rex and Luna."))
    assert found.candidates == ()
    assert found.made is not None
    assert found.made.fallback is None


def test_empty_answer_stays_unfit_where_a_sentence_is_wanted() -> None:
    with pytest.raises(UnfitAnswer):
        read_answer(prompt(schema=None), "", 7)


def test_one_bad_field_spoils_its_memory_alone() -> None:
    asked = prompt_of(
        read_window(turns("I own 2 boats."), ExtractionContext("iris")),
        ExtractionContext("iris"),
        KnownContext(),
        no_reply="X",
    )
    text = '{"memories": [{"content": "Maya owns 2 boats.", "kind": "system", "sources": [1]}, {"content": 3}]}'
    _, data = read_answer(asked, text, 7)
    found = extracted(lambda _: data, turns("I own 2 boats."))
    assert [candidate.content for candidate in found.candidates] == ["Maya owns 2 boats."]
    assert found.made is not None
    assert found.made.dropped == {"malformed": 1}
    with pytest.raises(UnfitAnswer):
        read_answer(asked, '{"memories": 3}', 7)


def test_prompt_names_every_field_and_value_and_no_number_of_memories() -> None:
    text = prompt_text("extract/2")
    fields = SCHEMA["properties"]["memories"]["items"]["properties"]
    words = [*fields, *(value for field in fields.values() for value in field.get("enum", ()))]
    assert [word for word in words if word not in text] == []
    assert "At most" not in text
    assert text.count("NO_REPLY") + text.count("{no_reply}") == 1


def test_known_memories_carry_a_name_and_a_date() -> None:
    model = Saying({"memories": []})
    known = KnownContext(
        (*KNOWN.memories, KnownMemory("Maya plays the cello.", date(2025, 2, 1))), ("09:12 Maya: fed the cat",)
    )
    before = Event(1, "assistant", "assistant", "Where do you live?", NOON)
    context = ExtractionContext("iris", "UTC", (before,), scope_id=1)
    extractor(model, known).extract(turns("In Porto, still.", first=2), context, NOON)
    lines = model.prompts[0].user.splitlines()
    assert "[K1] 2025-01-14 Maya lives in Porto." in lines
    assert "[K2] 2025-02-01 Maya plays the cello." in lines
    assert "- 09:12 Maya: fed the cat" in lines
    assert "Mon 2025-03-03 12:00 iris (assistant): Where do you live?" in lines


def test_captions_of_images_are_text() -> None:
    at = NOON + timedelta(minutes=1)
    events = (
        Event(
            1,
            "user",
            "user",
            "Look at him!",
            at,
            "Maya",
            {"images": [{"url": "x", "caption": "a black cat on a piano"}]},
        ),
        Event(2, "user", "user", "And ![Rex the brown dog](https://example.org/1.png) here.", at, "Maya"),
        Event(3, "user", "user", "", at, "Maya", {"alt_text": "a red bicycle"}),
    )
    model = Saying({"memories": [memory("Maya has a black cat that sits on a piano.", 1)]})
    found = extractor(model).extract(Window(events), ExtractionContext("iris"), NOON)
    shown = model.prompts[0].user
    assert "Look at him! [image: a black cat on a piano]" in shown
    assert "And [image: Rex the brown dog] here." in shown
    assert "[image: a red bicycle]" in shown
    assert "example.org" not in shown
    assert len(found.candidates) == 1


@pytest.mark.parametrize(
    "content",
    [
        "Sam enjoys Thanks for the tip (kind of writing).",
        "Sam went to Rome last month (2023-09) (September 2023).",
        "Can you help with this?",
        "Sam lives in",
        "Sam said the the same.",
        'Sam said "yes.',
        "Thanks!",
        "Blue one",
        "It's like a reminder of Caroline's roots.",
        "Sam likes tea (and coffee.",
    ],
)
def test_broken_memory_is_not_shown(content: str) -> None:
    assert not is_presentable(content)


@pytest.mark.parametrize(
    "content",
    [
        "Maya lives in Porto.",
        "Sam went to Rome last month (2023-09).",
        'Maya calls her dog "Biscuit".',
        "Maya hates tea",
    ],
)
def test_plain_memory_is_shown(content: str) -> None:
    assert is_presentable(content)


def test_known_things_survive_json() -> None:
    known = KnownContext((*KNOWN.memories, KnownMemory("Maya plays the cello.")), ("a note",))
    assert KnownContext.from_json(known.to_json()) == known
