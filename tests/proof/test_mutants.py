"""The catalogue of mutants fits the code as it is; what becomes of a mutant is told rightly."""

from pathlib import Path

import pytest

from proof.mutants.catalogue import Mutant, Unfit, chosen, read_catalogue
from proof.mutants.running import ROOT, environment, run_tests

MUTANTS = read_catalogue()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_it_fits_its_file_once_and_names_tests_that_exist(mutant: Mutant) -> None:
    text = mutant.path(ROOT).read_text(encoding="utf-8")
    assert mutant.broken(text) != text
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert not name or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def test_ten_of_them_revert_the_fix_of_a_mistake() -> None:
    assert len({mutant.mistake for mutant in MUTANTS if mutant.mistake}) >= 10


def test_a_text_that_is_there_twice_or_not_at_all_is_said_to_be() -> None:
    mutant = Mutant("name", "promise", "file", "a", "b", ("test",))
    with pytest.raises(Unfit, match="2 times"):
        mutant.broken("a a")
    with pytest.raises(Unfit, match="0 times"):
        mutant.broken("c")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unfit, match=r"name: there is no file x\.sql"):
        Mutant("name", "promise", "x.sql", "a", "c", ("test",)).path(tmp_path)


def test_a_name_that_nothing_has_is_told_with_those_that_there_are() -> None:
    with pytest.raises(Unfit, match="no mutant is called swapp; there are: swap"):
        chosen(MUTANTS, ["swapp"])


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("def test_it(): assert True", "passed"),
        ("def test_it(): assert False", "failed"),
        ("import nothing_of_that_name", "broken"),
        ("import pytest\n@pytest.fixture\ndef x(): raise ValueError\ndef test_it(x): pass", "broken"),
    ],
)
def test_only_a_test_that_fails_has_noticed(body: str, verdict: str, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(body, encoding="utf-8")
    outcome = run_tests(tmp_path, ["test_one.py"])
    assert outcome.verdict == verdict, outcome.tail
    assert outcome.noticed == ("test_one.py::test_it" if verdict == "failed" else "")


def test_a_copy_comes_before_what_is_installed(tmp_path: Path) -> None:
    assert environment(tmp_path)["PYTHONPATH"].startswith(str(tmp_path))
