"""The state that all requests share: settings, connections, a clock, recently seen keys, limits."""

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
    """The collaborators of one gateway. clock: returns an aware time."""

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
        """True if requests can be answered."""
        return self.readiness.ready()

    def shell(self, tenant: str) -> Shell:
        """Return the shell of a tenant, for functions of commands."""
        return Shell.over(self.settings.model_copy(update={"tenant": tenant}), self.engine, self.redis)
