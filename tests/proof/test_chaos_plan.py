"""The plan of a chaos run: the same for the same seed, whole, and without two faults of one server at once."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proof.chaos.faults import unmade
from proof.chaos.plan import KINDS, LONG_POSTGRES_PAUSE, Lane, draw

LANES: tuple[Lane, ...] = ("valkey", "postgres", "processes", "around")


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), count=st.integers(1, 120), seconds=st.floats(1, 600), short=st.booleans())
def test_faults_of_one_lane_follow_each_other_and_none_is_lost(
    seed: int, count: int, seconds: float, short: bool
) -> None:
    plan = draw(seed, count, seconds, short=short)
    assert plan == draw(seed, count, seconds, short=short), "the same seed draws the same plan"
    assert len(plan.faults) == count
    assert [fault.number for fault in plan.faults] == list(range(1, count + 1))
    assert sum(len(plan.of(lane)) for lane in LANES) == count
    for lane in LANES:
        for before, after in pairwise(plan.of(lane)):
            assert after.at >= before.at + before.seconds, f"{before} and {after} overlap"
    assert all(0 <= fault.at <= plan.seconds for fault in plan.faults)


@pytest.mark.parametrize("seed", range(5))
def test_each_kind_is_there_where_there_is_room_for_it(seed: int) -> None:
    names = {fault.kind.name for fault in draw(seed, len(KINDS), 60, short=True).faults}
    assert names == {kind.name for kind in KINDS}
    without = draw(seed, 56, 330, without=["spool-full"])
    assert {fault.kind.name for fault in without.faults} == names - {"spool-full"}
    assert max(fault.seconds for fault in without.faults) == LONG_POSTGRES_PAUSE


def test_every_kind_of_fault_is_made() -> None:
    assert unmade() == set()
