"""The state machine of sessions on a server in this process."""

import fakeredis
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from redis import Redis

from tests.support.coordination_machine import CoordinationMachine


class OnFakeRedis(CoordinationMachine):
    def connect(self) -> Redis:
        return fakeredis.FakeRedis()


@pytest.mark.parametrize("runs", [10, pytest.param(40, marks=pytest.mark.long)])
def test_i3_i4_hold_through_crashes_expiry_and_lost_messages(runs: int) -> None:
    run_state_machine_as_test(
        OnFakeRedis,
        settings=settings(max_examples=runs, stateful_step_count=30, deadline=None, report_multiple_bugs=False),
    )
