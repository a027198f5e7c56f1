"""Routes: a path, the role that it needs, and the function that answers a request.

    ROUTES = [reads("/memories/{memory:uuid}", life), changes("/memories/{memory:uuid}/pin", pin, role="curator")]

The checks run before the page's function. Without a login, a GET is redirected to the login page, and a form gets an
error page. A user without the role gets an error page. A form without the token of its own login is refused and changes
nothing. The body of a form is read after login and role are known; it has a deadline and a size limit that depends on
the role.
"""

import asyncio
import hmac
from collections.abc import Callable
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from slowwave_server.domain.console_roles import UserRole, may
from slowwave_server.services.access.console_sessions import Login, find_session
from slowwave_server.workers.console.app_state import AppState, Link
from slowwave_server.workers.console.failures import answer_failure
from slowwave_server.workers.console.request import PageError, PageRequest

COOKIE = "slowwave_console"
FIELDS = 2_000
BODY_BYTES = 1 << 20
"""The largest form of a role that decides: the text of a memory can be long."""
SMALL_BODY_BYTES = 16 << 10
"""The largest form of a viewer or of a user without login: a name, a password, a page to go to."""
LOGIN_THREADS = 4
"""The most logins that run at once. Other logins wait without a thread, so that other pages get threads."""
Answer = Callable[[PageRequest], Response]


class Page(NamedTuple):
    """One route. role: None for a route that needs no login. link: its entry in the sidebar."""

    path: str
    method: str
    role: UserRole | None
    answer: Answer
    link: Link | None = None

    @property
    def body_bytes(self) -> int:
        return SMALL_BODY_BYTES if self.role in {None, "viewer"} else BODY_BYTES


def reads(path: str, answer: Answer, *, role: UserRole = "viewer", link: Link | None = None) -> Page:
    """Return a route that shows a page and changes nothing."""
    return Page(path, "GET", role, answer, link and link._replace(path=path, role=role))


def changes(path: str, answer: Answer, *, role: UserRole) -> Page:
    """Return a route that receives a form and changes data on behalf of the user."""
    return Page(path, "POST", role, answer)


class Endpoint:
    """The function that Starlette calls for one route."""

    def __init__(self, state: AppState, page: Page) -> None:
        self._state = state
        self._page = page
        self._logins = CapacityLimiter(LOGIN_THREADS)

    async def answer(self, request: Request) -> Response:
        req = PageRequest(self._state, request, None, FormData(), self._page.path)
        refused = await run_in_threadpool(self._admit, req)
        if self._page.method == "GET":
            return await run_in_threadpool(self._answer, req) if refused is None else refused
        if refused is None:
            try:
                req.form = await _form(request, self._page.body_bytes, self._state.body_seconds)
            except PageError as trouble:
                # The traceback would keep the partly read body in memory as long as the page's values live.
                refused = await run_in_threadpool(answer_failure, req, trouble.with_traceback(None))
        if refused is not None:
            # Do not wait for the rest of the body.
            refused.headers["Connection"] = "close"
            return refused
        if self._page.role is None:
            return await to_thread.run_sync(self._answer, req, limiter=self._logins)
        return await run_in_threadpool(self._answer, req)

    def _admit(self, req: PageRequest) -> Response | None:
        """Find the user of the request. Return a refusal, or None if the user may see this page."""
        try:
            req.login = self._login(req.request)
            _check_text(req.request)
            return None if self._page.role is None else self._refused(req, self._page.role)
        except Exception as error:  # noqa: BLE001 (answer_failure logs an unexpected error and shows no details)
            return answer_failure(req, error)

    def _answer(self, req: PageRequest) -> Response:
        try:
            if self._page.method == "POST" and self._page.role is not None:
                check_token(req.form, req.login.form_token if req.login else "")
            return self._page.answer(req)
        except Exception as error:  # noqa: BLE001 (as above)
            return answer_failure(req, error)

    def _login(self, request: Request) -> Login | None:
        secret = request.cookies.get(self._state.cookie(COOKIE))
        if not secret:
            return None
        with self._state.reading() as connection:
            return find_session(connection, secret, now=self._state.clock())

    def _refused(self, req: PageRequest, role: UserRole) -> Response | None:
        if req.login is None:
            if self._page.method == "POST":
                raise PageError(
                    HTTPStatus.UNAUTHORIZED, "Nothing was changed: you are not logged in any more", "log in"
                )
            asked = req.request.url.path + (f"?{req.request.url.query}" if req.request.url.query else "")
            return RedirectResponse("/login" + ("" if asked == "/" else f"?next={quote(asked)}"), HTTPStatus.SEE_OTHER)
        if not may(req.user.role, role):
            raise PageError(
                HTTPStatus.FORBIDDEN,
                f"This needs the role {role}, and {req.user.name} is a {req.user.role}",
                "ask who runs this installation: `slowwave admin users` gives roles",
            )
        return None


def check_token(form: FormData, token: str) -> None:
    """Raise PageError unless this login received the form, for its current tenant."""
    given = form.get("token", "")
    if not token or not isinstance(given, str) or not hmac.compare_digest(given.encode(), token.encode()):
        raise PageError(
            HTTPStatus.FORBIDDEN,
            "Nothing was changed: this form is of another login or of another tenant",
            "load the page again, and send the form once more",
        )


def _check_text(request: Request) -> None:
    """Raise PageError for text that Postgres can't store (NUL). Unpaired surrogates never reach this function."""
    given = (*request.query_params.values(), *map(str, request.path_params.values()))
    if any("\0" in value for value in given):
        raise PageError(HTTPStatus.BAD_REQUEST, "An address can't contain NUL")


async def _form(request: Request, most: int, seconds: float) -> FormData:
    """Return the form of a request. Raises PageError: too long, without a length (both unread), or too slow."""
    declared = request.headers.get("content-length", "")
    if not declared.isascii() or not declared.isdigit():
        raise PageError(HTTPStatus.LENGTH_REQUIRED, "A form must send its length in the header Content-Length")
    if int(declared) > most:
        raise PageError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A form has at most {most:,} bytes, got {int(declared):,}"
        )
    try:
        async with asyncio.timeout(seconds):
            body = await request.body()
    except TimeoutError:
        raise PageError(
            HTTPStatus.REQUEST_TIMEOUT, f"The form did not arrive within {seconds:g} seconds", "send it once more"
        ) from None
    except ClientDisconnect:
        raise PageError(HTTPStatus.BAD_REQUEST, "The form did not arrive: the connection ended") from None
    return _fields(request, body)


def _fields(request: Request, body: bytes) -> FormData:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if body and kind != "application/x-www-form-urlencoded":
        raise PageError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A form must be sent as application/x-www-form-urlencoded")
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError:
        raise PageError(HTTPStatus.BAD_REQUEST, "No page of this console sends this form") from None
    if any("\0" in value for _, value in fields):
        raise PageError(HTTPStatus.BAD_REQUEST, "A form can't contain NUL")
    return FormData([*fields])
