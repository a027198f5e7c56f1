"""Answers of models, of any shape: bound to what was asked, or refused. Nothing of them can fail a flush or a pass."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from slowwave_server.domain import model_adjudication, model_summaries, model_synthesis, model_triples
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.model_calls import Answer, Prompt
from slowwave_server.domain.model_extraction import KnownContext, KnownMemory, prompt_of, read_window
from slowwave_server.domain.model_extraction.asking import CERTAINTY, IMPORTANCE, PRECISIONS, TYPES
from slowwave_server.domain.review import ReviewedMemory
from slowwave_server.domain.summaries.lines import FACETS
from slowwave_server.services.llm.answers import UnfitAnswer, read_answer
from tests.attacks import strategies as odd
from tests.attacks.fuzzing import examples, tried
from tests.support.modelling import NOON, extracted, turns

TALK = turns(
    "I adopted a dog yesterday, her name is Biscuit.",
    ("assistant", "Lovely! How old is she?"),
    "She is two years old. My sister Leila lives in Porto.",
    "Jonas \ufffd wrote to me on 31 February.",
)
MEMORIES = ("Maya adopted a dog named Biscuit", "Leila lives in Porto")
CONTEXT = ExtractionContext("iris", "Pacific/Apia")
said = st.one_of(
    st.sampled_from(
        ["Maya adopted a dog.", "Leila lives in Porto", "Maya has two dogs", "NO_REPLY", "none", *MEMORIES]
    ),
    odd.odd_text,
)
number = odd.often(st.integers(-2, 6), odd.json_values)


def rows_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with these fields: one in twelve is missing or wrong, sometimes there is one more."""
    row = st.fixed_dictionaries({name: odd.often(value, odd.json_values) for name, value in fields.items()})
    return st.lists(
        odd.often(row, st.one_of(odd.json_values, st.builds(lambda a, b: a | b, row, odd.mappings))), max_size=4
    )


MEMORY = rows_of(
    content=said,
    kind=st.sampled_from(TYPES),
    subject=said,
    importance=odd.often(st.sampled_from(list(IMPORTANCE)), odd.json_values),
    certainty=odd.often(st.sampled_from(list(CERTAINTY)), odd.json_values),
    entities=st.lists(said, max_size=2),
    valid_from=st.one_of(st.none(), odd.time_texts),
    precision=odd.often(st.sampled_from(PRECISIONS), odd.json_values),
    repeats=odd.often(st.sampled_from(["K1", "K2", None]), odd.json_values),
    corrects=odd.often(st.sampled_from(["K1", "K2", None]), odd.json_values),
    sources=st.lists(number, max_size=3),
)
LINE = rows_of(seq=number, facet=st.sampled_from(FACETS), text=said)
ENDS = st.sampled_from(model_triples.TYPES)
RELATION = rows_of(note=number, subject=said, subject_type=ENDS, predicate=said, object=said, object_type=ENDS)


def wrapped(name: str, rows: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return odd.often(st.fixed_dictionaries({name: rows}), st.one_of(rows, odd.json_values))


def text_of(data: Any, around: str) -> str:
    return around.replace("%", odd.written(data))


around = st.sampled_from(
    ["%", "```json\n%\n```", "<think>{</think>%", "Here: % done", "%%", "\ufeff%", "{%", "%\0", "  ", "NO_REPLY", "'%'"]
)


def understood(entrance: str, prompt: Prompt, text: str) -> Answer | None:
    """What the caller of a model gets of its text; None where it is refused."""
    try:
        found, data = read_answer(prompt, text, 7)
    except UnfitAnswer:
        tried(entrance, taken=False)
        return None
    tried(entrance, taken=True)
    return Answer(found, data, 3, 4, "test")


def storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


@examples(60)
@given(wrapped("memories", MEMORY), around)
@example({"memories": [{"content": "Maya adopted a dog.", "sources": [1], "importance": 10**400}]}, "%")
def test_memories_of_a_model_rest_on_the_window(data: Any, about: str) -> None:
    known = KnownContext((KnownMemory(MEMORIES[1], None, UUID(int=1)),))
    prompt = prompt_of(read_window(TALK, CONTEXT), CONTEXT, known, no_reply="NO_REPLY")
    answer = understood("model: memories", prompt, text_of(data, about))
    data = odd.made(data) if answer is None else answer.data
    found = extracted(lambda _prompt: data, TALK, zone="Pacific/Apia", known=known)
    for candidate in found.candidates:
        assert set(candidate.sources) <= {1, 2, 3, 4}
        assert candidate.type in TYPES
        assert storable(candidate.content)
        assert candidate.valid_from <= TALK.events[-1].happened_at


@examples(40)
@given(wrapped("lines", LINE), around)
def test_lines_of_a_days_summary_rest_on_its_events(data: Any, about: str) -> None:
    segment = model_summaries.SegmentText.of(
        TALK.events, preceding=(), session="monday", agent="iris", time_zone="Europe/Berlin"
    )
    answer = understood("model: lines of a day", segment.question(), text_of(data, about))
    if answer is not None:
        assert {line.seq for line in segment.lines_of(answer)} <= {1, 2, 3, 4}


@examples(40)
@given(wrapped("relations", RELATION), around)
def test_relations_stand_in_their_memory(data: Any, about: str) -> None:
    answer = understood("model: relations", model_triples.question(MEMORIES), text_of(data, about))
    if answer is not None:
        found = model_triples.relations_of(answer, MEMORIES)
        for memory, relations in zip(MEMORIES, found, strict=True):
            assert all(relation.subject.split()[0].casefold() in memory.casefold() for relation in relations)


@examples(40)
@given(
    odd.often(
        st.fixed_dictionaries(
            {
                "holds": odd.often(st.sampled_from(["first", "second", "both", "unclear"]), odd.json_values),
                "why": odd.often(said, odd.json_values),
                "sources": st.lists(number, max_size=3),
            }
        ),
        odd.json_values,
    ),
    around,
)
def test_a_verdict_goes_no_further_than_what_it_cites(data: Any, about: str) -> None:
    older, newer = (_side(n, content) for n, content in enumerate(("Leila lives in Porto", "Leila lives in Turin")))
    evidence = [
        model_adjudication.Evidence(of_newer=n == 1, speaker="Maya", content=side.content, at=side.valid_from)
        for n, side in enumerate((older, newer))
    ]
    prompt = model_adjudication.question(older, newer, evidence)
    answer = understood("model: verdict", prompt, text_of(data, about))
    if answer is not None:
        verdict = model_adjudication.verdict_of(answer)
        ruling = model_adjudication.ruling(verdict, older, newer, evidence)
        assert ruling == "open" or set(verdict.sources) <= {1, 2}


def _side(number: int, content: str) -> ReviewedMemory:
    at = NOON + timedelta(days=number)
    return ReviewedMemory(
        id=UUID(int=number), status="active", trust="user", importance=0.5, valid_from=at, reaffirmed_at=at,
        content=content,
    )  # fmt: skip


@examples(40)
@given(said, odd.odd_text, odd.odd_text, around)
def test_a_sentence_stands_for_two_or_is_left(said_there: str, first: str, second: str, about: str) -> None:
    answer = understood("model: sentence", model_synthesis.question(first, second), about.replace("%", said_there))
    sentence = None if answer is None else model_synthesis.sentence_of(answer)
    if sentence is not None:
        assert model_synthesis.may_stand_for(sentence, first, second) in {True, False}
