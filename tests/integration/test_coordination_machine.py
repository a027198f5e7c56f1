"""The same state machine of sessions on a real Valkey."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from redis import Redis

from slowwave.coordination.flush_queue import redis_from_url
from tests.support.coordination_machine import CoordinationMachine


@pytest.mark.timeout(400)  # a slow machine is no failure
@pytest.mark.servers
def test_i3_i4_hold_on_valkey_through_crashes_expiry_and_lost_messages(valkey_url: str) -> None:
    class OnValkey(CoordinationMachine):
        def connect(self) -> Redis:
            return redis_from_url(valkey_url)

    run_state_machine_as_test(
        OnValkey,
        settings=settings(
            max_examples=12,
            stateful_step_count=30,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
