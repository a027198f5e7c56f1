"""What all requests share: settings, connections, a clock, the keys that were seen, limits."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from redis import Redis
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.workers.gateway.idempotency import Answers
from slowwave_server.workers.gateway.keys import Keys
from slowwave_server.workers.gateway.limits import Limits
from slowwave_server.workers.gateway.readiness import Readiness
from slowwave_server.workers.shared.shell import Shell


@dataclass(frozen=True, slots=True)
class Gate:
    """The collaborators of one gateway. clock: answers an aware time."""

    settings: Settings
    engine: Engine
    redis: Redis
    clock: Callable[[], datetime]
    memory: Memory
    keys: Keys
    limits: Limits
    answers: Answers
    readiness: Readiness

    def ready(self) -> bool:
        """Whether requests can be answered."""
        return self.readiness.ready()

    def shell(self, tenant: str) -> Shell:
        """What commands of the shell work with, for a tenant."""
        return Shell.over(self.settings.model_copy(update={"tenant": tenant}), self.engine, self.redis)
