"""The state that all requests of one console share: settings, connections, a clock."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from redis import Redis
from sqlalchemy import Connection, Engine

from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.domain.console_roles import UserRole
from slowwave_server.workers.console.health_cache import HealthCache
from slowwave_server.workers.shared.shell import Shell

Group = Literal["Work", "Knowledge", "History", "System"]
"""The headings of the sidebar, in its order."""


class Link(NamedTuple):
    """One entry of the sidebar, and its row in docs/console.md.

    group: the heading above it; place: its place below the heading. icon: the path of an SVG of 24 by 24. shows: what
    the page shows, for the row. key: the letter after `g` that opens the page. badge: the figure of `/live/badges`
    beside it. also: addresses of further pages that belong to this entry. path, role: those of the route.
    """

    title: str
    group: Group
    place: int
    icon: str
    shows: str
    key: str = ""
    badge: str = ""
    also: tuple[str, ...] = ()
    path: str = ""
    role: UserRole = "viewer"


@dataclass(frozen=True, slots=True)
class AppState:
    """The collaborators of one console. clock: returns an aware time. body_seconds: the longest time in which a form
    may arrive.

    secure: True if cookies are for https only.
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
        """Return the name of a cookie. With https, its prefix tells browsers that no other host may set it."""
        return f"__Host-{name}" if self.secure else name

    def shell(self, tenant: str) -> Shell:
        """Return the shell of a tenant, because pages call some functions of commands."""
        return Shell.over(self.settings.model_copy(update={"tenant": tenant}), self.engine, self.redis)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a read-only connection, because a page that only shows data must not change any."""
        with self.engine.connect() as connection:
            yield connection.execution_options(postgresql_readonly=True)
