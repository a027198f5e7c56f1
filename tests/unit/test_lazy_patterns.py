"""Patterns that are compiled at their first use."""

import re

import pytest

from slowwave.lazy_patterns import lazy_pattern


@pytest.mark.parametrize("method", ["search", "match", "fullmatch"])
def test_lazy_pattern_finds_what_a_compiled_one_finds(method: str) -> None:
    source, text = r"(?P<word>[a-z]+) \d", "x BOAT 3"
    compiled, lazy = re.compile(source, re.IGNORECASE), lazy_pattern(source, re.IGNORECASE)
    for start in (0, 2):
        wanted, found = (getattr(one, method)(text, start) for one in (compiled, lazy))
        assert (found and found.span("word")) == (wanted and wanted.span("word"))


def test_lazy_pattern_has_the_other_methods_and_fields() -> None:
    lazy = lazy_pattern(r"(?P<digit>\d)")
    assert lazy.groupindex == {"digit": 1}
    assert lazy.sub("x", "a1b2") == "axbx"
    assert lazy.findall("a1b2") == ["1", "2"]
    assert lazy.split("a1b") == ["a", "1", "b"]
    assert [match[0] for match in lazy.finditer("a1b2")] == ["1", "2"]


def test_lazy_pattern_is_compiled_once_at_the_first_use() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")
    lazy = lazy_pattern("a")
    assert lazy.search("a")
    first = lazy.search
    assert lazy.search is first
