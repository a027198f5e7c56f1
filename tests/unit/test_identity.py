"""Which names may be used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.errors import InvalidName, SlowwaveError
from slowwave.identity import MAX_NAME_CHARACTERS, SessionRef, check_name


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=MAX_NAME_CHARACTERS))
def test_any_text_without_control_characters_is_a_name(name: str) -> None:
    assert check_name("agent", name) == name
    assert name.encode().decode() == name


@given(st.text(max_size=20), st.characters(categories=["Cc", "Cs"]), st.text(max_size=20))
def test_control_characters_and_half_surrogates_are_refused(before: str, bad: str, after: str) -> None:
    with pytest.raises(InvalidName, match="agent: character"):
        check_name("agent", before + bad + after)


@pytest.mark.parametrize("name", ["", "x" * (MAX_NAME_CHARACTERS + 1)])
def test_a_name_has_1_to_200_characters(name: str) -> None:
    with pytest.raises(InvalidName):
        check_name("session", name)


@pytest.mark.parametrize("field", ["tenant", "agent", "session"])
def test_the_error_says_which_name_is_wrong(field: str) -> None:
    names = {"tenant": "default", "agent": "Maya", "session": "breakfast", field: "a\x00"}
    with pytest.raises(SlowwaveError, match=f"^{field}: character 2 "):
        SessionRef(**names).checked()


def test_a_session_with_good_names_is_answered_unchanged() -> None:
    ref = SessionRef("default", "Maya", "../x")
    assert ref.checked() is ref
