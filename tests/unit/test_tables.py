"""A test that goes through a table fails if one case does, and names each that did."""

import pytest

from tests.support.tables import for_each


def small(number: int, limit: int) -> None:
    assert number < limit


def test_each_wrong_case_is_named_and_the_others_are_not() -> None:
    with pytest.raises(AssertionError, match="2 of 4 cases") as failed:
        for_each("number", [1, 7, 2, 9])(small)(limit=5)
    told = str(failed.value)
    assert "{'number': 7}" in told
    assert "{'number': 9}" in told
    assert "{'number': 1}" not in told


def test_an_exception_that_was_missing_is_a_wrong_case() -> None:
    def raises(number: int) -> None:
        with pytest.raises(ZeroDivisionError):
            1 // number

    with pytest.raises(AssertionError, match="1 of 2 cases"):
        for_each("number", [0, 1])(raises)()


def test_a_table_has_cases_and_its_names_are_those_of_the_test() -> None:
    with pytest.raises(AssertionError, match="proves nothing"):
        for_each("number", [])
    with pytest.raises(AssertionError, match="small takes"):
        for_each("size", [1])(small)
