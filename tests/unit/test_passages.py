from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.passages import PASSAGE_CHARACTERS, PIECE_CHARACTERS, WHOLE_CHARACTERS, passages_of

ROWS = "\n".join(f"| Porto, day {n} | ferry and museum number {n} |" for n in range(40))
PLAN = f"# Plan\n\nWe begin in May.\n\n## Budget\n\n| stop | what |\n|---|---|\n{ROWS}\n"
texts = st.text("aé漢 .\n#|-`*😀", max_size=3 * PIECE_CHARACTERS) | st.text(max_size=4 * WHOLE_CHARACTERS)


def test_short_event_is_one_passage() -> None:
    (only,) = passages_of("Short.")
    assert (only.part, only.begins, only.ends, only.heading) == (0, 0, 6, "")
    assert len(passages_of("")) == 1


def test_table_rows_carry_the_header_and_the_heading() -> None:
    last = passages_of(PLAN)[-1]
    assert PLAN[last.begins : last.ends].startswith("| Porto, day")
    assert last.heading == "Budget stop | what"


def test_code_fence_is_not_cut_if_it_fits() -> None:
    code = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(20)) + "\n```"
    text = f"{'An introduction to it. ' * 30}\n\n{code}\n\n{'A remark behind it. ' * 30}"
    assert any(code in text[one.begins : one.ends] for one in passages_of(text))


@given(texts)
def test_passages_cover_the_text_but_white_space(text: str) -> None:
    found = passages_of(text)
    assert [one.part for one in found] == list(range(len(found)))
    at = 0
    for one in found:
        assert not text[at : one.begins].strip()
        assert one.ends - one.begins <= max(PASSAGE_CHARACTERS, WHOLE_CHARACTERS)
        at = one.ends
    assert not text[at:].strip()
