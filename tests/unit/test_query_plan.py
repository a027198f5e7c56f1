"""Which stems of a question name candidates, and that nothing in a question is read as syntax."""

from hypothesis import given
from hypothesis import strategies as st

from slowwave.recall import QuestionVector
from slowwave.recall.query_plan import (
    CANDIDATE_BUDGET,
    MAX_TERMS,
    MEMORY_POSTINGS_BUDGET,
    POSTINGS_BUDGET,
    Plan,
    Term,
    any_of,
    clean_question,
    number_forms,
    plan,
)
from slowwave.recall.search import ScopeStats, find_steps

lexemes = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zs")), min_size=1, max_size=12)
terms = st.lists(
    st.builds(Term, lexemes, st.none() | st.integers(64, 100_000)), max_size=30, unique_by=lambda term: term.lexeme
)


@given(terms)
def test_common_terms_never_name_more_candidates_than_the_budget(asked: list[Term]) -> None:
    chosen = plan(asked, 100_000)
    alone = [group[0].documents or 0 for group in chosen.candidates if len(group) == 1]
    only_choice = len(chosen.candidates) == 1
    assert sum(alone) <= CANDIDATE_BUDGET or only_choice


def postings(chosen: Plan) -> int:
    """How many entries of the index name the candidates: of each set the rarest term's, each term's once."""
    led = {min(group, key=lambda term: term.documents or 0) for group in chosen.candidates}
    return sum(term.documents or 0 for term in led)


@given(
    st.lists(
        st.builds(Term, lexemes, st.none() | st.integers(64, 50_000_000)), max_size=12, unique_by=lambda t: t.lexeme
    )
)
def test_what_is_read_of_the_index_is_bounded_however_common_the_terms_are(asked: list[Term]) -> None:
    chosen = plan(asked, 100_000_000)
    assert postings(chosen) <= (MEMORY_POSTINGS_BUDGET if chosen.late else POSTINGS_BUDGET + CANDIDATE_BUDGET)
    assert chosen.fallback is None or postings(chosen.fallback) <= POSTINGS_BUDGET


def test_terms_that_very_many_hold_are_looked_for_among_the_latest() -> None:
    dog, walk, like = Term("dog", 50_000), Term("walk", 60_000), Term("like", 900_000)
    every = ((dog,), (walk,), (like,))
    # Memories that hold all three, too: there are fewer of these.
    assert plan([walk, like, dog], 3_000_000) == Plan((dog, walk, like), ((dog, walk, like),), every)
    talk = Term("talk", 130_000)
    assert plan([like, talk], 3_000_000) == Plan((talk, like), (), ((talk,), (like,)))
    # Together they can be looked up while one of them is rarer than that.
    tent = Term("tent", 12_000)
    chosen = plan([walk, like, dog, tent], 3_000_000)
    assert (chosen.candidates, chosen.late) == (((tent, dog, walk),), ())


def test_a_common_term_alone_is_looked_up_where_it_would_seldom_be_among_the_latest() -> None:
    dog = Term("dog", 20_000)
    assert plan([dog], 3_000_000) == Plan((dog,), ((dog,),))
    assert plan([dog], 1_000_000) == Plan((dog,), (), ((dog,),))


@given(terms)
def test_every_question_with_a_term_has_candidates(asked: list[Term]) -> None:
    chosen = plan(asked, 100_000)
    assert bool(chosen.candidates or chosen.late) == bool(asked)
    assert len(chosen.terms) == min(len(asked), MAX_TERMS)


@given(terms)
def test_every_rare_term_that_is_weighed_names_its_documents(asked: list[Term]) -> None:
    chosen = plan(asked, 100_000)
    assert {(term,) for term in chosen.terms if term.documents is None} <= set(chosen.candidates)


def test_of_common_terms_those_that_meet_least_often_are_asked_for_together() -> None:
    rare, dog, walk, like = Term("biscuit"), Term("dog", 900), Term("walk", 1_500), Term("like", 40_000)
    chosen = plan([like, dog, rare, walk], 100_000)
    assert chosen.candidates == ((rare,), (dog, walk))
    assert chosen.fallback == Plan((rare, dog, walk, like), ((dog,),))


def test_a_single_common_term_is_better_than_nothing() -> None:
    assert plan([Term("dog", 1_400)], 2_000).candidates == ((Term("dog", 1_400),),)


def test_a_cut_question_keeps_the_rarest_terms() -> None:
    common = [Term(f"common{n}", 1000 + n) for n in range(20)]
    chosen = plan([*common, Term("biscuit")], 100_000)
    assert chosen.terms[0] == Term("biscuit")
    assert Term("common19", 1019) not in chosen.terms


def test_terms_carry_every_scope_and_quote_what_tsquery_reads() -> None:
    assert any_of([(Term("it's"), Term("a\\b"))], [7, 9]) == r"('7:it''s' & '7:a\\b') | ('9:it''s' & '9:a\\b')"


def test_a_word_with_several_stems_counts_once_and_any_of_them_is_enough() -> None:
    houses = Term("haus", None, ("häus", "häuser"))
    assert any_of([(houses, Term("neu"))], [7]) == "(('7:haus' | '7:häus' | '7:häuser') & '7:neu')"
    assert houses.beginnings == ("hau", "häu", "häuse")


def test_one_character_of_text_without_spaces_is_searched_as_a_beginning() -> None:
    assert any_of([(Term("猫"), Term("é"), Term("子猫"))], [7]) == "('7:猫':* & '7:é' & '7:子猫')"


@given(st.text())
def test_any_question_becomes_text_that_postgres_takes(question: str) -> None:
    cleaned = clean_question(question)
    assert "\0" not in cleaned
    assert len(cleaned) <= 2000
    cleaned.encode("utf-8")


def test_a_question_of_a_hundred_thousand_characters_is_cut_and_half_a_surrogate_is_replaced() -> None:
    assert clean_question("dog " * 25_000) == ("dog " * 500)
    assert clean_question("a\ud800b\0c") == "a?b c"


def test_numbers_that_are_too_small_for_postgres_are_not_sent() -> None:
    stats = ScopeStats({1: None}, 10, None, (Term("dog"),))
    query = next(find_steps(stats, limit=3, vector=QuestionVector("m", [1.0, 1e-50, -3e-320])))
    assert query.values["question"] == "{1.0,0.0,-0.0}"


def test_with_a_vector_a_common_word_alone_is_the_last_resort_too() -> None:
    """Where a scope has no vectors yet, they may find no less than words would by themselves."""
    stats = ScopeStats({1: None}, 100_000, None, (Term("dog", 30_000), Term("walk", 60_000), Term("like", 70_000)))
    steps = find_steps(stats, limit=3, vector=QuestionVector("m", [1.0]))
    assert next(steps).values["model"] == "m"
    last = steps.send([]).values
    assert (last["any"], last["late"]) == ("", "('1:dog')")


def test_variants_of_compounds_are_beginnings_and_pairs_of_stems() -> None:
    term = Term("stromrechn", variants=(">stromrechn*", "strom rechnung", "it's"))
    assert any_of([(term,)], [7]) == ("(('7:stromrechn' | '7:>stromrechn':* | ('7:strom' & '7:rechnung') | '7:it''s'))")
    assert term.beginnings == ("stromrech", "it'")
    assert any_of([(Term("a*"),)], [7]) == "('7:a*')"


def test_a_number_is_also_sought_in_dates_and_accounts() -> None:
    assert number_forms("7") == ("-7", "-07")
    assert number_forms("21") == ("-21",)
    assert number_forms("may") == number_forms("\u0667") == number_forms("") == ()
