"""One request of one user: the user, the tenant, the form's fields, and the response.

A page is a function that takes a `PageRequest` and returns a `Response`. It runs in a thread, so it may wait for
Postgres.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

from itsdangerous import BadData, URLSafeTimedSerializer
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
from slowwave_server.workers.console.templating import TEMPLATES
from slowwave_server.workers.shared.shell import Shell

COOKIE = "slowwave_said"
SECONDS = 60
LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Flash:
    """A sentence that one page shows once. undo: the run that the button beside it undoes; None without a button."""

    sentence: str
    undo: int | None = None


def write_flash(response: Response, login: Login, flash: Flash, *, cookie: str, secure: bool) -> None:
    """Show a message on the next page. cookie: the cookie's name."""
    value = _signer(login).dumps([flash.sentence[:LONGEST], flash.undo])
    said = value if isinstance(value, str) else value.decode()
    response.set_cookie(cookie, said, max_age=SECONDS, path="/", httponly=True, samesite="strict", secure=secure)


def read_flash(request: Request, login: Login, *, cookie: str) -> Flash | None:
    """Return the flash message for this page; None if the request has no message, or another login signed it."""
    try:
        said = _signer(login).loads(request.cookies.get(cookie, ""), max_age=SECONDS)
    except BadData:
        return None
    return Flash(*said) if isinstance(said, list) else None


def clear_flash(request: Request, response: Response, *, cookie: str, secure: bool) -> None:
    """Delete the cookie after a page has shown its message."""
    if cookie in request.cookies:
        response.delete_cookie(cookie, path="/", httponly=True, samesite="strict", secure=secure)


def _signer(login: Login) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(login.secret, salt="said")


DIGITS = 19
"""The most digits that an id can have."""


class PageError(Exception):
    """An error that is shown as a page with a sentence and its fix, instead of the requested page."""

    def __init__(self, status: HTTPStatus, sentence: str, cure: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.cure = cure


@dataclass
class PageRequest:
    """One request. login: None only on the login page. form: the fields of a POST with a valid token; otherwise empty.

    Names and ids in `request.path_params` and `query` are untrusted input: look them up with `tenant`.
    """

    state: AppState
    request: Request
    login: Login | None
    form: FormData
    path: str
    """The route's own path, as registered."""
    connections: int = 0
    """The number of connections that this request holds now. A page is never rendered while a connection is held,
    because rendering may need a second connection and would wait for it.
    """

    @property
    def user(self) -> User:
        """The logged-in user. Raises RuntimeError on a route without login."""
        if self.login is None:
            raise RuntimeError("this page is for whoever comes")
        return self.login.user

    @property
    def tenant(self) -> str:
        """The tenant of the login: everything that this request reads or changes belongs to this tenant."""
        if self.login is None:
            raise RuntimeError("this page is of no tenant")
        return self.login.tenant

    def may(self, needed: UserRole) -> bool:
        """Return True if this user has the role `needed`; templates hide actions that the user may not perform."""
        return may(self.user.role, needed)

    @cached_property
    def settings(self) -> Settings:
        """The settings of this tenant."""
        return self.shell.settings

    @cached_property
    def shell(self) -> Shell:
        """Connections and helpers that CLI commands use, for this tenant: queue, writer, listening(), build_model."""
        return self.state.shell(self.tenant)

    @property
    def engine(self) -> Engine:
        return self.state.engine

    @cached_property
    def memory(self) -> Memory:
        """The client that an agent's host uses, for this tenant: search and context return what agents get."""
        return self.state.memory.for_tenant(self.tenant)

    @property
    def queue(self) -> FlushQueue:
        return self.shell.queue

    @cached_property
    def now(self) -> datetime:
        """The aware time at which this request began."""
        return self.state.clock()

    @property
    def query(self) -> Mapping[str, str]:
        """The query parameters; if one is given twice, the last value is used."""
        return self.request.query_params

    def word(self, name: str) -> str | None:
        """Return a query parameter without surrounding blanks; None if it is missing or blank."""
        return self.query.get(name, "").strip() or None

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000) -> int:
        """Return a query parameter as an integer. Raises PageError for any other value."""
        given = self.word(name)
        if given is None:
            return default
        digits = given.isascii() and given.isdigit() and len(given) <= DIGITS
        if not digits or not least <= int(given) <= most:
            wanted = f"a whole number from {least} to {most:,}"
            raise PageError(HTTPStatus.BAD_REQUEST, f"{name} is {wanted}, not {given!r:.60}")
        return int(given)

    def field(self, name: str) -> str:
        """Return a form field without surrounding blanks; "" if it is missing."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a connection on which Postgres refuses every write."""
        with self.state.reading() as connection, self._held():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction for a service that takes a connection; the end of the block commits it."""
        with self.engine.begin() as connection, self._held():
            yield connection

    @property
    def noted(self) -> ActDetails:
        """The details in every audit entry of this request."""
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
        """Return a page. problem, cure: sentences at the top of the page if a form was refused.

        Raises RuntimeError while this request holds a connection.
        """
        if self.connections:
            raise RuntimeError(f"{template} is made while a connection is held; make it after the block")
        around = {"req": self, "flash": self._flash(), "navigation": self.state.navigation, "groups": self._groups()}
        values |= around | {"problem": problem, "cure": cure}
        response = TEMPLATES.TemplateResponse(self.request, template, values, status_code=status_code)
        clear_flash(self.request, response, cookie=self.state.cookie(COOKIE), secure=self.state.secure)
        return response

    def part(self, template: str, **values: Any) -> Response:
        """Return a part of a page for a live update. A waiting flash message stays for the next page."""
        if self.connections:
            raise RuntimeError(f"{template} is made while a connection is held; make it after the block")
        return TEMPLATES.TemplateResponse(self.request, template, values | {"req": self})

    @property
    def wants_part(self) -> bool:
        """True if htmx sent the request, so that the response is a part of a page."""
        return self.request.headers.get("hx-request") == "true"

    def go(self, path: str, *, say: str | None = None, undo: int | None = None, **query: str | int | None) -> Response:
        """Redirect to another page, which shows `say` once. undo: the run that the button beside it undoes."""
        if urlsplit(path).netloc or not path.startswith("/") or path.startswith("//"):
            raise ValueError(f"{path!r} is not a page of this console")
        given = {name: value for name, value in query.items() if value is not None}
        response = RedirectResponse(f"{path}?{urlencode(given)}" if given else path, HTTPStatus.SEE_OTHER)
        if say is not None and self.login is not None:
            write_flash(
                response, self.login, Flash(say, undo), cookie=self.state.cookie(COOKIE), secure=self.state.secure
            )
        return response

    def link(self, **changed: str | int | None) -> str:
        """Return this page's address with some query parameters changed; None removes a parameter."""
        given: dict[str, Any] = dict(self.query) | changed
        kept = urlencode({name: value for name, value in given.items() if value not in {None, ""}})
        return f"{self.request.url.path}?{kept}" if kept else self.request.url.path

    def is_within(self, path: str) -> bool:
        """Return True if this page is at `path` or below it."""
        here = self.request.url.path
        return here == path or (path != "/" and here.startswith(f"{path}/"))

    def is_at(self, link: Link) -> bool:
        """Return True if this page belongs to an entry of the sidebar."""
        return any(self.is_within(path.partition("?")[0]) for path in (link.path, *link.also))

    def tenants(self) -> list[str]:
        """Return the tenants that this user may see."""
        with self.reading() as connection:
            return tenants_of(connection, self.user)

    def _groups(self) -> list[str]:
        """Return the headings of the sidebar that have at least one entry for this user."""
        if self.login is None:
            return []
        return list(dict.fromkeys(link.group for link in self.state.navigation if self.may(link.role)))

    def _flash(self) -> Flash | None:
        return None if self.login is None else read_flash(self.request, self.login, cookie=self.state.cookie(COOKIE))
