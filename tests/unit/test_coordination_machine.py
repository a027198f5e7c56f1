"""The state machine of sessions on a server in this process."""

import fakeredis
from hypothesis import settings
from redis import Redis

from tests.coordination_machine import CoordinationMachine


class OnFakeRedis(CoordinationMachine):
    def connect(self) -> Redis:
        return fakeredis.FakeRedis()


TestOnFakeRedis = OnFakeRedis.TestCase
TestOnFakeRedis.settings = settings(max_examples=25, stateful_step_count=30, deadline=None, report_multiple_bugs=False)
