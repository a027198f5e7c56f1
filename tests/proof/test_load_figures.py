"""What a load's figures say: percentiles, slopes, what counts as carried, where the search for saturation goes."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.load.figures import (
    Bounds,
    bottleneck,
    evenness,
    next_load,
    percentile,
    rise_in_10_minutes,
    saturation,
    slope,
    why_not_carried,
)

FLAT = [(float(at), 3.0) for at in range(40)]
CARRIED = {"load": 50.0, "backlog": FLAT, "p95_due": 2.0, "p95_late": 0.01, "left": 0}


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_percentile_is_a_value_that_was_seen_and_that_share_is_not_above_it(
    values: list[float], share: float
) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= math.floor(share * len(values))
    assert percentile([], share) is None


def test_a_slope_is_not_moved_by_a_few_wild_samples() -> None:
    times = [float(at) for at in range(60)]
    values = [2 * at + 1 for at in times]
    assert slope(times, values) == pytest.approx(2)
    values[10], values[50] = 10_000.0, -10_000.0
    assert slope(times, values) == pytest.approx(2, abs=0.01)
    assert slope([1.0], [5.0]) == 0.0


def test_what_fills_while_it_warms_up_is_flat_and_what_leaks_is_not() -> None:
    warming = [(float(at), 60 + min(at, 500) / 10) for at in range(0, 1800, 10)]
    leaking = [(float(at), 60 + at / 300) for at in range(0, 1800, 10)]
    assert rise_in_10_minutes(warming) == pytest.approx(0, abs=0.01)
    assert rise_in_10_minutes(leaking) == pytest.approx(2)


def test_a_load_that_is_carried_has_no_reason_against_it() -> None:
    assert why_not_carried(Bounds(), **CARRIED) == []
    # What waits for the next sweep comes and goes.
    saw = [(float(at), float(at % 5) * 4) for at in range(40)]
    assert why_not_carried(Bounds(), **(CARRIED | {"backlog": saw})) == []


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"backlog": [(float(at), 4.0 * at) for at in range(40)]}, "grows by 4.0 sessions"),
        ({"p95_due": 11.0}, "11.0 s"),
        ({"p95_due": None}, "nothing was flushed"),
        ({"p95_late": 0.9}, "0.9 s late"),
        ({"left": 3}, "3 turns were left"),
    ],
)
def test_each_bound_is_a_reason_by_itself(changed: dict[str, object], why: str) -> None:
    (reason,) = why_not_carried(Bounds(), **(CARRIED | changed))
    assert why in reason


@settings(max_examples=50)
@given(st.floats(2, 2000))
def test_the_search_ends_close_to_where_the_system_ends(limit: float) -> None:
    tried: dict[float, bool] = {}
    while (load := next_load(tried, first=10, factor=2, closeness=1.2)) is not None:
        assert load not in tried
        tried[load] = load <= limit
        assert len(tried) < 25
    found = saturation(tried)
    assert found is not None
    assert found <= limit
    # Loads are whole numbers: small ones can't be closer.
    assert min(load for load, carried in tried.items() if not carried) <= max(found * 1.2, found + 1)


def test_a_load_that_was_carried_above_one_that_was_not_counts_for_nothing() -> None:
    assert saturation({10: True, 20: False, 40: True}) == 10
    assert saturation({10: False}) is None


def test_the_bottleneck_is_named_by_what_is_used_up_and_by_nobody_on_a_machine_that_is_not_quiet() -> None:
    cores, children = {"postgres": 0.6, "worker-main": 1.3}, {"worker-main/1": 0.5}
    said = bottleneck(cores, machine=0.97, waiting=0, children=children, others=0)
    assert said == "the CPU of the machine (97% busy); in cores: worker-main 1.30, postgres 0.60"
    assert "disk" in bottleneck(cores, machine=0.5, waiting=0.4, children=children, others=0)
    assert "children" in bottleneck(cores, machine=0.7, waiting=0, children={"worker-main/1": 0.95}, others=0)
    assert "none" in bottleneck(cores, machine=0.7, waiting=0, children=children, others=0)
    assert "unknown" in bottleneck(cores, machine=1, waiting=0, children=children, others=1.2)


def test_evenness_is_one_where_all_have_the_same_and_a_nth_where_one_has_all() -> None:
    assert evenness([3, 3, 3]) == pytest.approx(1)
    assert evenness([0, 0, 9, 0]) == pytest.approx(0.25)
    assert evenness([0, 0]) is None
