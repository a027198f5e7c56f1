"""Every language's data file has every part that the engine reads, and every phrase in it compiles."""

import json
from datetime import date
from importlib.resources import files

import pytest

from slowwave.memory_types import MEMORY_TYPES
from slowwave_server.domain import languages as detected
from slowwave_server.domain.extraction.languages import CODES, language, weights
from slowwave_server.domain.extraction.languages.dating import mentions

FOLDER = files("slowwave_server.domain.extraction.languages")
UNWEIGHED = {"lead", "second_person", "self_habit", "always", "directive", "pending"}
"""Signals that others are made of."""
OF_SHAPE = {"digit", "identifier", "name", "full_name", "dated", "quoted", "answers", "only_you", "short", "long"}
"""Signals that no word fires."""

DATES = {"words", "weekdays", "weekday", "units", "numbers", "ago", "ahead", "months", "day_of_month"}


def data(code: str) -> dict[str, object]:
    loaded: dict[str, object] = json.loads((FOLDER / f"{code}.json").read_text("utf-8"))
    return loaded


def test_the_files_are_the_languages_with_rules() -> None:
    stored = {one.name.removesuffix(".json") for one in FOLDER.iterdir() if one.name.endswith(".json")}
    assert stored - {"weights"} == set(CODES)
    assert {code for code, one in detected.LANGUAGES.items() if one.rules} == {*CODES, "en"}


@pytest.mark.parametrize("code", CODES)
def test_a_file_has_all_keys_and_compiles(code: str) -> None:
    told = data(code)
    assert set(told) == set(data("de"))
    assert told["provenance"]
    known = language(code)
    assert known is not None
    assert set(known.signals) == UNWEIGHED | (set(weights().signals) - OF_SHAPE)
    assert all(known.signals[name].search("") is None for name in known.signals)


@pytest.mark.parametrize("code", CODES)
def test_the_dates_of_a_file_compile(code: str) -> None:
    known = language(code)
    assert known is not None
    assert set(known.dates) == DATES
    assert len(known.dates["weekdays"]) == 7
    assert len(known.dates["months"]) == 12
    assert mentions("2026-05-03", date(2026, 5, 1), code, "future")[0].label == "2026-05-03"


def test_every_signal_has_a_type_that_exists() -> None:
    assert {one.type for one in weights().signals.values() if one.type is not None} <= set(MEMORY_TYPES)
    assert weights().topics <= set(weights().signals)
