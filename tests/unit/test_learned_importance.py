"""Importance from use: a function of a set of facts, in bounds, that popularity alone never raises."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.learned_importance import HALF_LIFE, KEPT, MAX_GAIN, MAX_LOSS, Use, use_gain

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROUNDING = 0.0005
times = st.none() | st.integers(-30, 270).map(lambda days: NOW - timedelta(days=days))
facts = st.builds(Use, st.none() | st.integers(1, 30), times, times)
sets = st.lists(facts, max_size=60)


def shown(conversation: int, days_ago: float = 1) -> Use:
    return Use(conversation, NOW - timedelta(days=days_ago), None)


def used(conversation: int, days_ago: float = 1) -> Use:
    at = NOW - timedelta(days=days_ago)
    return Use(conversation, at, at)


@given(sets, st.randoms())
def test_i9_the_order_and_repetition_of_facts_change_nothing(uses: list[Use], random: object) -> None:
    mixed = [*uses, *uses[:5]]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert use_gain(mixed, NOW) == use_gain(uses, NOW)


@given(sets)
def test_i9_parts_of_a_fact_may_arrive_apart(uses: list[Use]) -> None:
    apart = [part for one in uses for part in (Use(one[0], None, one.used_at), Use(one[0], one.shown_at, None))]
    assert use_gain(apart, NOW) == use_gain(uses, NOW)


@given(sets)
def test_the_gain_keeps_its_bounds(uses: list[Use]) -> None:
    assert -MAX_LOSS <= use_gain(uses, NOW) <= MAX_GAIN


@given(sets, st.lists(st.integers(31, 200), max_size=100, unique=True))
def test_being_shown_never_raises_importance(uses: list[Use], conversations: list[int]) -> None:
    assert use_gain([*uses, *map(shown, conversations)], NOW) <= use_gain(uses, NOW)


@given(sets, st.integers(1, 40))
def test_a_use_never_lowers_importance(uses: list[Use], conversation: int) -> None:
    assert use_gain([*uses, used(conversation, 0)], NOW) >= use_gain(uses, NOW)


@given(sets)
def test_a_fact_that_is_too_old_counts_for_nothing(uses: list[Use]) -> None:
    assert use_gain(uses, NOW + KEPT + timedelta(days=40)) == 0


def test_uses_in_one_conversation_count_once() -> None:
    assert use_gain([used(1)] * 20, NOW) == use_gain([used(1)], NOW) > 0


def test_each_further_conversation_raises_less() -> None:
    gains = [use_gain([used(number) for number in range(count)], NOW) for count in range(12)]
    steps = [after - before for before, after in pairwise(gains)]
    assert all(step > 0 for step in steps)
    assert all(later < earlier + ROUNDING for earlier, later in pairwise(steps))


def test_a_few_showings_cost_nothing_many_do() -> None:
    gains = [use_gain([shown(number) for number in range(count)], NOW) for count in (5, 10, 20, 50)]
    assert gains[0] == 0
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < -MAX_LOSS / 2


@pytest.mark.parametrize("uses", [[used(1, 0)], [shown(number, 0) for number in range(40)]], ids=["used", "ignored"])
def test_the_gain_fades(uses: Sequence[Use]) -> None:
    gains = [abs(use_gain(uses, NOW + age * HALF_LIFE)) for age in range(7)]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 2 * gains[3]
