"""Extraction by a model: what it is shown, and that nothing of its answer is believed that the window doesn't say."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.failures import TransientError
from slowwave_server.domain.model_calls import BudgetReached, ModelFailed, Spender
from slowwave_server.domain.model_extraction.answers import MOST_READ
from slowwave_server.domain.model_extraction.asking import MOST_MEMORIES, SCHEMA, TYPES
from slowwave_server.domain.prompts import prompt_text
from tests.support.modelling import NOON, Saying, extracted, extractor, memory, turns

TALK = turns(
    "I adopted a dog yesterday, her name is Biscuit.",
    ("assistant", "Lovely! How old is she?"),
    "She is two years old. My sister Leila lives in Porto.",
    "thanks!",
)
CONTEXT = ExtractionContext("iris", scope_id=7, tenant="acme")


def _contents(answer: Any, window: Any = TALK, **more: Any) -> list[str]:
    return [candidate.content for candidate in extracted(answer, window, **more).candidates]


def _dropped(answer: Any, window: Any = TALK, **more: Any) -> dict[str, int]:
    made = extracted(answer, window, **more).made
    assert made is not None
    return dict(made.dropped)


def test_a_memory_names_its_events_and_the_day_that_was_meant() -> None:
    dated = memory(
        "Maya adopted a dog named Biscuit yesterday.", 1, kind="event", valid_from="2025-03-02", precision="day"
    )
    (found,) = extracted([dated], TALK).candidates
    assert found.content == "Maya adopted a dog named Biscuit yesterday (2025-03-02)."
    assert (found.type, found.sources, found.trust) == ("event", (1,), "user")
    assert found.valid_from == datetime(2025, 3, 2, tzinfo=UTC)
    assert {"Maya", "Biscuit"} <= set(found.entities)


def test_a_day_resolved_by_the_model_is_one_that_was_said() -> None:
    assert _contents([memory("Maya adopted a dog on 2025-03-02.", 1)])
    assert _contents([memory("Maya adopted a dog on 2 March 2025.", 1)])
    assert _dropped([memory("Maya adopted a dog on 2025-02-11.", 1)]) == {"invented": 1}
    dated = memory("Maya adopted a dog.", 1, valid_from="2025-03-02", precision="day")
    (found,) = extracted([dated], TALK).candidates
    assert found.valid_from == datetime(2025, 3, 2, tzinfo=UTC)
    dated = memory("Maya adopted a dog.", 1, valid_from="2031-01-01", precision="day")
    (found,) = extracted([dated], TALK).candidates
    assert found.valid_from == TALK.events[0].happened_at


def test_an_event_that_was_not_shown_is_no_source() -> None:
    wrong = [memory("Maya adopted a dog.", 9), memory("Maya adopted a dog."), memory("Maya adopted a dog.", 1, 99)]
    odd = [memory("Maya adopted a dog.", 1) | {"sources": bad} for bad in (["1"], [True], [1.0], "1", None, [[1]])]
    # Thanks are noise: nothing can rest on them.
    assert _dropped([*wrong, *odd, memory("Maya said thanks.", 4)]) == {"outside": 10}


@pytest.mark.parametrize(
    "content",
    [
        "Maya adopted three dogs.",
        "Maya adopted a dog named Rex.",
        "Maya adopted a dog in 2019.",
        "Maya adopted a dog at 5 pm.",
        "Maya lives in Porto.",  # said, but not by event 1
        "Maya dislikes loud music.",  # no word of it was said
        "Маya adopted a dog.",  # noqa: RUF001 - a name with a letter of another alphabet is another name
    ],
)
def test_what_its_sources_dont_say_is_invented(content: str) -> None:
    assert _dropped([memory(content, 1)]) == {"invented": 1}


def test_a_statement_stands_alone_with_its_speaker_named() -> None:
    assert _contents([memory("I adopted a dog", 1)]) == ["Maya adopted a dog."]
    assert _contents([memory("Biscuit is two years old.", 1, 3)]) == ["Maya said: Biscuit is two years old."]
    talk = turns(("user", "I never eat fish."))
    assert _contents([memory("The user never eats fish.", 1)], talk) == ["The user never eats fish."]


def test_trust_follows_who_said_it_and_never_the_answer() -> None:
    talk = turns(
        "Which plan did we take?",
        ("assistant", "We decided to take the Nordlicht plan."),
        "Good, then I take Nordlicht.",
    )
    hostile = memory("We decided to take the Nordlicht plan.", 2, trust="hand", scope="team:all")
    (found,) = extracted([hostile], talk).candidates
    assert found.trust == "assistant"
    assert "agent" in found.signals
    # An agent repeats what it is told: where a user says it, that is the evidence.
    (found,) = extracted([memory("Maya takes Nordlicht.", 2, 3)], talk).candidates
    assert (found.trust, found.sources) == ("user", (3,))


def test_an_answer_is_borne_out_by_its_question() -> None:
    asked = turns(("assistant", "Did you grow up in Tromsø?"))
    window = turns("Yes I did, until school was over.", first=2)
    said = [memory("Maya grew up in Tromsø.", 2)]
    assert _contents(said, window, preceding=asked.events) == ["Maya grew up in Tromsø."]
    assert _dropped(said, window) == {"invented": 1}


def test_mistake_24_a_known_memory_is_no_evidence_for_itself() -> None:
    known = ["Maya prefers strong coffee without milk"]
    talk = turns(
        "Book me a table with milk for the cat.", ("assistant", "You prefer strong coffee without milk, right?"), "Why?"
    )
    again = "Maya prefers strong coffee without milk."
    assert _dropped([memory(again, 1)], talk, known=known) == {"known": 1}
    assert _dropped([memory(again, 2)], talk, known=known) == {"known": 1}
    said = turns("As I said, I prefer my coffee strong and without milk.")
    assert _contents([memory(again, 1)], said, known=known) == [again]


def test_mistake_24_what_was_recalled_is_not_read_at_all() -> None:
    recalled = "[memory 0192f0c1-0000-7000-8000-000000000001] Maya keeps bees in Aarhus"
    window = turns(f"<memory>Maya keeps bees in Aarhus</memory> Where do I keep my bees?\n{recalled}")
    model = Saying({"memories": [memory("Maya keeps bees in Aarhus.", 1)]})
    found = extractor(model).extract(window, CONTEXT, NOON)
    assert "Aarhus" not in model.prompts[0].user
    assert found.candidates == ()


def test_known_things_are_marked_with_numbers_that_are_no_events() -> None:
    model = Saying({"memories": []})
    extractor(model, known=["Maya has a boat", "#1 Mon Maya (user): I own a castle"]).extract(TALK, CONTEXT, NOON)
    lines = model.prompts[0].user.splitlines()
    assert "[K1] Maya has a boat" in lines
    assert [line.split(" ")[0] for line in lines if line.startswith("#") and line[1].isdigit()] == ["#1", "#2", "#3"]
    assert model.spenders == [Spender("acme", "iris")]


def test_secrets_neither_go_to_a_model_nor_come_back() -> None:
    window = turns("The password for the router is tr0ub4dor-and-3, keep it.")
    model = Saying({"memories": [memory("Maya said the password for the router is tr0ub4dor-and-3.", 1)]})
    found = extractor(model).extract(window, CONTEXT, NOON)
    assert "tr0ub4dor" not in model.prompts[0].user
    assert not any("tr0ub4dor" in candidate.content for candidate in found.candidates)
    assert found.redactions >= 1


def test_odd_importance_certainty_and_kind_stay_in_bounds() -> None:
    odd: list[Any] = [float("inf"), float("nan"), -3, 7, "highest", None, True, 10**400, ["high"], {}]
    for value in odd:
        wild = memory("Maya adopted a dog.", 1, importance=value, certainty=value, kind="system", precision=value)
        (found,) = extracted([wild], TALK).candidates
        assert found.type == "fact"
        assert 0.05 <= found.importance <= 0.95
        assert 0.05 <= found.confidence <= 0.95


def test_a_model_that_goes_on_and_on_is_cut_short() -> None:
    window = turns(*(f"I own {number} boats in harbour {number}." for number in range(40, 120)))
    answer = [memory(f"Maya owns {39 + seq} boats in harbour {39 + seq}.", seq) for seq in range(1, 81)]
    found = extracted(answer, window)
    assert len(found.candidates) == MOST_MEMORIES
    assert found.made is not None
    assert found.made.dropped == {"over": 80 - MOST_MEMORIES}
    assert _dropped(answer * 500)["over"] == 500 * 80 - MOST_READ, "nobody looks at all of these"


def test_the_same_statement_twice_is_one_with_both_sources() -> None:
    window = turns("I never eat fish.", "Remember: I never eat fish.")
    (found,) = extracted([memory("Maya never eats fish.", 1), memory("Maya never eats fish", 2)], window).candidates
    assert found.sources == (1, 2)


def test_rules_read_the_middle_of_a_turn_that_is_too_long_for_the_prompt() -> None:
    story = "We walked along the river and the boats were late again. " * 40
    window = turns(
        f"I own 2 boats. {story}\n\nI am allergic to peanuts.\n\n{story} My sister lives in Bergen.", "Noted."
    )
    model = Saying({"memories": [memory("Maya owns 2 boats.", 1)]})
    reader = replace(extractor(model), max_chars=1_000)
    found = reader.extract(window, CONTEXT, NOON)

    [prompt] = model.prompts
    assert "I own 2 boats." in prompt.user
    assert "lives in Bergen." in prompt.user
    assert "peanuts" not in prompt.user
    assert {"Maya owns 2 boats.", "Maya is allergic to peanuts."} <= {one.content for one in found.candidates}
    assert found.notes[0].endswith("characters of long events were read by the rules, not by the model")


def test_a_window_of_noise_costs_no_call_and_milestones_need_none() -> None:
    model = Saying({"memories": []})
    quiet = turns("hi", ("assistant", "Hello!"), ("task", "Nightly import of 40 files"))
    found = extractor(model).extract(quiet, CONTEXT, NOON)
    assert model.prompts == []
    assert [candidate.trust for candidate in found.candidates] == ["task"]
    assert found.noise == 2
    assert found.made is None


def test_nothing_to_keep_is_an_answer() -> None:
    empty: tuple[Any, ...] = (None, {"memories": []})
    for answer in empty:
        found = extracted(answer, TALK)
        assert found.candidates == ()
        assert found.made is not None
        assert (found.made.extractor, found.made.fallback) == ("model openai test-model", None)


@pytest.mark.parametrize(
    ("failure", "fallback", "why"),
    [
        (BudgetReached("memory.llm.daily_token_budget", NOON), "budget", "memory.llm.daily_token_budget"),
        (ModelFailed("the answer is not JSON", 300), "failed", "the answer is not JSON"),
        ({"memories": "all of them"}, "failed", "the model's answer is not a list of memories"),
    ],
)
def test_i3_what_the_model_cant_do_the_rules_do_and_it_is_told(failure: Any, fallback: str, why: str) -> None:
    found = extracted(failure, TALK)
    assert any("Biscuit" in candidate.content for candidate in found.candidates)
    assert found.made is not None
    assert (found.made.extractor, found.made.version) == ("rules", "2")
    assert (found.made.fallback, found.made.why) == (fallback, why)
    assert found.made.tokens == {"budget": 0, "failed": 300 if isinstance(failure, ModelFailed) else 120}[fallback]


def test_mistake_1_a_transient_failure_is_raised_and_nothing_is_made_of_it() -> None:
    with pytest.raises(TransientError):
        extracted(TransientError("busy"), TALK)


def test_the_schema_is_strict_and_the_prompt_names_what_it_holds() -> None:
    item = SCHEMA["properties"]["memories"]["items"]
    assert set(item["required"]) == set(item["properties"])
    assert item["additionalProperties"] is False
    for name in (*item["properties"], *TYPES):
        assert name in prompt_text("extract/2")
    with pytest.raises(FileNotFoundError):
        prompt_text("extract/0")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.just([1])
    | st.just("Maya adopted"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*SCHEMA["properties"]["memories"]["items"]["properties"], "memories"]), inner, max_size=8
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.lists(_JSON, max_size=4))
def test_no_answer_whatever_gives_a_candidate_beyond_its_bounds(items: list[Any]) -> None:
    shown = {1, 2, 3}
    for candidate in extracted(items, TALK).candidates:
        assert set(candidate.sources) <= shown
        assert candidate.type in TYPES
        assert candidate.valid_from <= TALK.events[-1].happened_at
