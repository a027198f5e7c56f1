"""What a caller may hand over by mistake or on purpose: text of every kind, numbers and times at their edges, trees.

Each strategy mixes what is right with what is wrong, so that a call gets past the first check as often as not.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any

from hypothesis import strategies as st


class NoOffset(tzinfo):
    """A zone that does not know its offset: a time with it has a zone and is naive all the same."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None


class Word(str):
    """Text of a class of its own, as template engines and enumerations have it."""

    __slots__ = ()


ODD_TEXTS = (
    "",
    " ",
    "\t\r\n",
    "\0",
    "Maya\0likes tea",
    "\ud800",
    "Jonas \udc00 rows",
    "\ufeffPriya",
    "\u202eayirP",
    "e\u0301" * 20,
    "\u200b",
    "\x1b[31mred\x1b[0m",
    "\x85\u2028\u2029",
    "';--",
    "$1 %s %(x)s {0} {x}",
    "../../etc/passwd",
    "NaN",
    "null",
    "-0",
    "9" * 5000,
    "room:",
    "room:kitchen",
    "team:\0",
    "<!-- slowwave -->",
    "---\n",
    "[" * 3000,
    "\U0010ffff",
    "ﷺ" * 50,
    "a" * 201,
    "b" * 100_001,
)


class Rare(Enum):
    """What can't be shown in a report of a failing example, by name; `made` puts the thing itself in its place."""

    HUGE = "an integer of 5,000 digits"
    LESS = "the same, negative"
    DEEP = "200 lists in each other"
    DEEPER = "5,000 of them"
    ITSELF = "a list that holds itself"
    MUTE = "an object whose repr fails"

    def __repr__(self) -> str:
        return f"Rare.{self.name}"


class Mute:
    """An object that can't be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


def _rare(which: Rare) -> Any:
    looped: list[Any] = []
    looped.append(looped)
    things = {Rare.HUGE: 10**5000, Rare.LESS: -(10**5000), Rare.DEEP: deep(200), Rare.DEEPER: deep(5000)}
    return (things | {Rare.ITSELF: looped, Rare.MUTE: Mute()})[which]


def made(value: Any) -> Any:
    """A drawn value with the rare things themselves in it."""
    if isinstance(value, Rare):
        return _rare(value)
    if isinstance(value, dict):
        return {key: made(item) for key, item in value.items()}
    return [made(item) for item in value] if type(value) is list else value


odd_text = st.one_of(
    st.sampled_from(ODD_TEXTS),
    st.text(max_size=40),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Mn", "Zs"]), max_size=8),
)
edge_numbers = st.sampled_from(
    [
        0,
        -1,
        1,
        0.0,
        -0.0,
        0.5,
        1.5,
        2**31,
        2**63,
        -(2**63) - 1,
        Rare.HUGE,
        Rare.LESS,
        1e308,
        5e-324,
        math.inf,
        -math.inf,
        math.nan,
    ]
)
numbers = st.one_of(edge_numbers, st.integers(), st.floats(), st.booleans(), st.decimals(), st.complex_numbers())

ZONES = (UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-23, minutes=-59)), NoOffset(), None)
times = st.builds(
    datetime.replace,
    st.one_of(
        st.sampled_from(["0001-01-01", "9999-12-31T23:59:59.999999", "1900-01-01", "2999-12-31T23:59"]).map(
            datetime.fromisoformat
        ),
        st.datetimes(),
    ),
    tzinfo=st.sampled_from(ZONES),
)
time_texts = st.one_of(
    st.sampled_from(
        [
            "2026-03-01T09:30:00+01:00",
            "2026-03-01",
            "20260301T093000Z",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-12:00",
            "2026-W10-1T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-03-01T24:00:00Z",
            "２０２６-03-01T09:30:00+01:00",  # noqa: RUF001 (wide digits)
            "infinity",
            "now",
        ]
    ),
    times.map(str),
    odd_text,
)

anything_later: st.SearchStrategy[Any] = st.deferred(lambda: anything)


@st.composite
def often(draw: st.DrawFn, right: st.SearchStrategy[Any], wrong: st.SearchStrategy[Any] = anything_later) -> Any:
    """Mostly what is right, one time in twelve what is not: calls have many arguments."""
    # Not one_of, which counts kinds of values: there are more wrong ones.
    return draw(wrong if draw(st.integers(1, 12)) == 7 else right)


texts = often(
    st.sampled_from(
        [
            "Maya lives in Turin",
            "Jonas rows on the lake",
            "I adopted a dog.",
            "Für Priya: 你好 🌻",
            "two\nlines",
            "<!-- slowwave -->",
            "$1 %s {0}",
            "e\u0301",
        ]
    ),
    odd_text,
)
"""What is said: mostly something that can be kept."""
moments = often(
    st.sampled_from(["2026-03-01T09:30:00+01:00", "2026-03-01T00:00:00Z", datetime(2026, 3, 1, 9, tzinfo=UTC)]),
    st.one_of(times, time_texts),
)
"""When it was said."""
names = often(st.sampled_from(["atlas", "maya", "monday", "tuesday"]), odd_text)
"""Names of agents, sessions, tenants."""

json_leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), odd_text, edge_numbers)
json_values = st.recursive(
    json_leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(odd_text, inner, max_size=4)),
    max_leaves=8,
)


def written(value: Any) -> str:
    """A drawn value as JSON; what can't be written as that is brackets without end."""
    try:
        return json.dumps(made(value), default=lambda other: type(other).__name__)
    except (ValueError, TypeError, RecursionError):
        return "[" * 5000


json_texts = json_values.map(written)


def deep(levels: int, *, leaf: Any = 1) -> Any:
    """Lists in lists, as many levels as that."""
    value = leaf
    for _ in range(levels):
        value = [value]
    return value


anything = st.one_of(
    json_values,
    numbers,
    times,
    st.binary(max_size=20),
    st.sets(st.integers(), max_size=3),
    st.sampled_from([object(), Path("x"), Word("Maya"), range(3), int, {1: 2}, {(1, 2): 3}, *Rare]),
)
"""Whatever Python has."""


roles = often(
    st.sampled_from(["user", "human", "assistant", "ai", "model", "task", "system", "tool"]),
    st.sampled_from(["User", "root", ""]),
)
parts = st.lists(
    st.one_of(
        st.fixed_dictionaries({"type": st.just("text"), "text": odd_text}),
        st.dictionaries(odd_text, json_leaves, max_size=3),
    ),
    max_size=3,
)
metadata = often(
    st.sampled_from([{}, {"room": "kitchen", "n": 1.5, "tags": ["a", None]}]),
    st.one_of(
        st.dictionaries(odd_text, json_values, max_size=3),
        st.sampled_from([{"x": Rare.DEEPER}, {"x": Rare.HUGE}, {"x": math.nan}, {1: 2}]),
    ),
)
message_fields = {
    "name": often(names),
    "at": often(moments),
    "metadata": often(metadata),
    "key": often(texts),
    "tool_calls": json_values,
}
messages = st.fixed_dictionaries(
    {"role": often(roles), "content": often(often(texts, st.one_of(parts, st.none())))}, optional=message_fields
)
message_lists = often(st.lists(often(messages), max_size=4))

mappings = st.one_of(st.dictionaries(odd_text, json_values, max_size=4), st.just({}))


def payloads(
    fields: Mapping[str, st.SearchStrategy[Any]], needed: frozenset[str] = frozenset()
) -> st.SearchStrategy[Any]:
    """Keyword arguments by these names: each right or wrong, some left out, sometimes one that nobody knows."""
    known = st.fixed_dictionaries(
        {name: value for name, value in fields.items() if name in needed},
        optional={name: value for name, value in fields.items() if name not in needed},
    )
    return often(known, st.one_of(st.builds(lambda a, b: a | b, known, mappings), mappings))
