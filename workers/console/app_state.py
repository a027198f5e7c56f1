"""State that all requests of one console share: settings, connections, a clock."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from redis import Redis
from sqlalchemy import Connection, Engine

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.domain.console_roles import UserRole
from slowwave_server.workers.console.health_cache import HealthCache
from slowwave_server.workers.shared.shell import Shell


class Link(NamedTuple):
    """One entry of the sidebar.

    group: the heading above it. role: a person without it sees no entry. key: the letter after `g` that opens the page.
    badge: the figure of `/live/badges` beside it. also: pages that belong to this entry, too.
    """

    title: str
    path: str
    group: str
    icon: str
    key: str = ""
    role: UserRole = "viewer"
    badge: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AppState:
    """The collaborators of one console. clock: answers an aware time. body_seconds: how long a form may take to arrive.

    secure: whether cookies are for https alone.
    """

    settings: Settings
    engine: Engine
    redis: Redis
    clock: Callable[[], datetime]
    secure: bool
    navigation: Sequence[Link]
    watch: HealthCache
    memory: Memory
    body_seconds: float

    def cookie(self, name: str) -> str:
        """The name of a cookie. Where browsers speak https no other host may set it: its name says so to browsers."""
        return f"__Host-{name}" if self.secure else name

    def shell(self, tenant: str) -> Shell:
        """What commands of the shell work with, for a tenant: functions behind commands take it from pages, too."""
        return Shell.over(self.settings.model_copy(update={"tenant": tenant}), self.engine, self.redis)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that can't write: a page that is only looked at changes nothing."""
        with self.engine.connect() as connection:
            yield connection.execution_options(postgresql_readonly=True)
