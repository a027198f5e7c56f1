"""One request of one person: who asks, for which tenant, what the form says; and how it is answered.

A page is a function of a `PageRequest` that answers a `Response`. It runs in a thread, so it may wait for Postgres.

Must not know: any single page, how somebody logs in.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

from sqlalchemy import Connection, Engine
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from slowwave import Memory
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.settings import Settings
from slowwave_server.domain.console_roles import UserRole, may
from slowwave_server.services.access.audit_log import ActDetails
from slowwave_server.services.access.console_sessions import Login
from slowwave_server.services.access.console_users import User, tenants_of
from slowwave_server.workers.console.app_state import AppState, Link
from slowwave_server.workers.console.flash import COOKIE, Flash, clear_flash, read_flash, write_flash
from slowwave_server.workers.console.templating import TEMPLATES
from slowwave_server.workers.shared.shell import Shell

DIGITS = 19
"""As many as any id has."""


class PageError(Exception):
    """A page that says what was wrong and what to do, in place of what was asked for."""

    def __init__(self, status: HTTPStatus, sentence: str, cure: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.cure = cure


@dataclass
class PageRequest:
    """One request. login: None on the login page alone. form: of a POST whose token was right; else empty.

    Names and ids in `request.path_params` and `query` are text of whoever asks: look them up with `tenant`.
    """

    state: AppState
    request: Request
    login: Login | None
    form: FormData
    path: str
    """The route's own path, as it was registered."""
    connections: int = 0
    """So many are held at this moment. While one is, no page is made: a second one may have to be waited for."""

    @property
    def user(self) -> User:
        """Who asks. Raises RuntimeError where nobody has to be logged in."""
        if self.login is None:
            raise RuntimeError("this page is for whoever comes")
        return self.login.user

    @property
    def tenant(self) -> str:
        """Whose memories are looked at: everything that this req reads or changes is of this tenant."""
        if self.login is None:
            raise RuntimeError("this page is of no tenant")
        return self.login.tenant

    def may(self, needed: UserRole) -> bool:
        """Whether this person may do what needs a role; templates leave out what they may not."""
        return may(self.user.role, needed)

    @cached_property
    def settings(self) -> Settings:
        """The settings, for this tenant."""
        return self.shell.settings

    @cached_property
    def shell(self) -> Shell:
        """What the shell's commands work with, for this tenant: queue, writer, listening(), build_model."""
        return self.state.shell(self.tenant)

    @property
    def engine(self) -> Engine:
        return self.state.engine

    @cached_property
    def memory(self) -> Memory:
        """What an agent's host has: search and context as agents get them, of this tenant."""
        return self.state.memory.for_tenant(self.tenant)

    @property
    def queue(self) -> FlushQueue:
        return self.shell.queue

    @cached_property
    def now(self) -> datetime:
        """When this req began, aware."""
        return self.state.clock()

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of the address; of one that is given twice, the last."""
        return self.request.query_params

    def word(self, name: str) -> str | None:
        """A parameter of the address without the blanks around it; None where it is missing or blank."""
        return self.query.get(name, "").strip() or None

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000) -> int:
        """A whole number of the address. Raises PageError for anything else."""
        given = self.word(name)
        if given is None:
            return default
        digits = given.isascii() and given.isdigit() and len(given) <= DIGITS
        if not digits or not least <= int(given) <= most:
            wanted = f"a whole number from {least} to {most:,}"
            raise PageError(HTTPStatus.BAD_REQUEST, f"{name} is {wanted}, not {given!r:.60}")
        return int(given)

    def field(self, name: str) -> str:
        """A field of the form, without the blanks around it; "" where it is missing."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that Postgres lets write nothing."""
        with self.state.reading() as connection, self._held():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, committed at the end of the block: for a service that takes a connection."""
        with self.engine.begin() as connection, self._held():
            yield connection

    @property
    def noted(self) -> ActDetails:
        """What every row of the audit log says of this req."""
        return {"tenant": self.tenant, "via": "console", "now": self.now}

    @contextmanager
    def _held(self) -> Iterator[None]:
        self.connections += 1
        try:
            yield
        finally:
            self.connections -= 1

    def page(
        self,
        template: str,
        *,
        status_code: int = 200,
        problem: str | None = None,
        cure: str | None = None,
        **values: Any,
    ) -> Response:
        """Answer a page. problem and cure: shown above it, for a form that was refused.

        Raises RuntimeError while this req holds a connection.
        """
        if self.connections:
            raise RuntimeError(f"{template} is made while a connection is held; make it after the block")
        around = {"req": self, "flash": self._flash(), "navigation": self.state.navigation, "groups": self._groups()}
        values |= around | {"problem": problem, "cure": cure}
        response = TEMPLATES.TemplateResponse(self.request, template, values, status_code=status_code)
        clear_flash(self.request, response, cookie=self.state.cookie(COOKIE), secure=self.state.secure)
        return response

    def part(self, template: str, **values: Any) -> Response:
        """Answer a part of a page, for a live update: it shows no flash and leaves the one that waits for a page."""
        if self.connections:
            raise RuntimeError(f"{template} is made while a connection is held; make it after the block")
        return TEMPLATES.TemplateResponse(self.request, template, values | {"req": self})

    @property
    def wants_part(self) -> bool:
        """Whether htmx asks: the answer is a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    def go(self, path: str, *, say: str | None = None, undo: int | None = None, **query: str | int | None) -> Response:
        """After a change: see another page (of this console), which says `say` once.

        undo: the run that a button beside `say` takes back.
        """
        if urlsplit(path).netloc or not path.startswith("/") or path.startswith("//"):
            raise ValueError(f"{path!r} is no page of this console")
        given = {name: value for name, value in query.items() if value is not None}
        response = RedirectResponse(f"{path}?{urlencode(given)}" if given else path, HTTPStatus.SEE_OTHER)
        if say is not None and self.login is not None:
            write_flash(
                response, self.login, Flash(say, undo), cookie=self.state.cookie(COOKIE), secure=self.state.secure
            )
        return response

    def link(self, **changed: str | int | None) -> str:
        """This page's address with some parameters changed; None takes one away."""
        given: dict[str, Any] = dict(self.query) | changed
        kept = urlencode({name: value for name, value in given.items() if value not in {None, ""}})
        return f"{self.request.url.path}?{kept}" if kept else self.request.url.path

    def is_within(self, path: str) -> bool:
        """Whether this page is at `path` or below it."""
        here = self.request.url.path
        return here == path or (path != "/" and here.startswith(f"{path}/"))

    def is_at(self, link: Link) -> bool:
        """Whether this page belongs to an entry of the sidebar."""
        return any(self.is_within(path) for path in (link.path, *link.also))

    def tenants(self) -> list[str]:
        """The tenants that this person may look at."""
        with self.reading() as connection:
            return tenants_of(connection, self.user)

    def _groups(self) -> list[str]:
        """The headings of the sidebar that have an entry for this person."""
        if self.login is None:
            return []
        return list(dict.fromkeys(link.group for link in self.state.navigation if self.may(link.role)))

    def _flash(self) -> Flash | None:
        return None if self.login is None else read_flash(self.request, self.login, cookie=self.state.cookie(COOKIE))
