"""A message that the next page shows once after a change, in a cookie signed with the login's secret."""

from dataclasses import dataclass

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

from slowwave_server.services.access.console_sessions import Login

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
