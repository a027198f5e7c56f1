"""Log in, log out, and choose the tenant."""

import hmac
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.responses import Response

from slowwave_server.services.access.audit_log import note_act
from slowwave_server.services.access.console_sessions import Login, choose_tenant, close_session, open_session
from slowwave_server.services.access.console_users import (
    Passwords,
    User,
    anybody,
    check_password,
    find_user,
    tenants_of,
)
from slowwave_server.services.access.login_failures import LoginFailures
from slowwave_server.workers.console.login_forms import COOKIE as BEFORE
from slowwave_server.workers.console.login_forms import LoginForms
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import COOKIE, Page, changes, reads

PASSWORDS = Passwords()
NOBODY = "Nobody may use this console yet"
FIRST = "`slowwave admin users add NAME --role operator` adds the first person, on the host that Slowwave runs on"
FOREIGN = "This form belongs to another browser, or is too old"
OWN_SITES = frozenset({"same-origin", "none"})
"""Values of the header Sec-Fetch-Site for a form that no other site sent."""


def show(req: PageRequest) -> Response:
    """Show the form; redirect a user who is already logged in."""
    if req.login is not None:
        return req.go(_next(req.query.get("next", "")))
    return _form(req)


def _form(
    req: PageRequest, *, status: int = 200, name: str = "", problem: str | None = None, cure: str | None = None
) -> Response:
    """Return the form with a new token, which replaces the browser's cookie."""
    with req.reading() as connection:
        nobody = not anybody(connection)
    if nobody:
        problem, cure = NOBODY, FIRST
    token = LoginForms(req.state.redis).make()
    wanted = _next(req.field("next") or req.query.get("next", ""))
    response = req.page(
        "login.html",
        status_code=status,
        problem=problem,
        cure=cure,
        name=name,
        token=token,
        wanted=wanted,
        nobody=nobody,
    )
    _set_cookie(req, response, BEFORE, token)
    return response


def log_in(req: PageRequest) -> Response:
    """Check the password and create the login. The response never says whether the name or the password was wrong."""
    name = req.field("name")
    if not _is_own_form(req):
        return _form(req, status=HTTPStatus.FORBIDDEN, name=name, problem=FOREIGN, cure="send it once more")
    failures = LoginFailures(req.state.redis)
    attempt = failures.begin(name, _address(req))
    if attempt.wait_seconds > 0:
        told = {"problem": "Too many logins failed", "cure": f"try again in {round(attempt.wait_seconds)} s"}
        return _form(req, status=HTTPStatus.TOO_MANY_REQUESTS, name=name, **told)
    user = check_password(req.engine, name, str(req.form.get("password", "")), passwords=PASSWORDS)
    lasts = timedelta(hours=req.state.settings.console.session_hours)
    login = None if user is None else _open(req, user, lasts)
    if login is None:
        failures.failed(attempt)
        _note_failure(req, name, attempt.address)
        return _form(req, status=HTTPStatus.UNAUTHORIZED, name=name, problem="Name or password is wrong")
    failures.succeeded(attempt)
    response = req.go(_next(req.field("next")))
    _set_cookie(req, response, COOKIE, login.secret, max_age=int(lasts.total_seconds()))
    _delete_cookie(req, response, BEFORE)
    return response


def _is_own_form(req: PageRequest) -> bool:
    """Return True if a console made this form for this browser, against other sites and planted cookies."""
    kept = req.request.cookies.get(req.state.cookie(BEFORE), "")
    same = hmac.compare_digest(req.field("token").encode(), kept.encode())
    own_site = req.request.headers.get("sec-fetch-site", "none") in OWN_SITES
    return same and own_site and LoginForms(req.state.redis).made(kept)


def _open(req: PageRequest, user: User, lasts: timedelta) -> Login | None:
    """Create a login with a new secret; None if this user may see no tenant. The browser's previous login ends."""
    with req.writing() as connection:
        tenant = _first_tenant(req, tenants_of(connection, user), user)
        if tenant is None:
            return None
        if before := req.request.cookies.get(req.state.cookie(COOKIE)):
            close_session(connection, before)
        what = f"as {user.role}, from {_address(req)}"
        note_act(connection, "login", user.name, what, tenant=tenant, via="console", now=req.now)
        return open_session(connection, user, tenant, now=req.now, lasts=lasts)


def _note_failure(req: PageRequest, name: str, address: str) -> None:
    """Record the failed login. An unknown name is not stored: it may be a password typed into the wrong field."""
    with req.writing() as connection:
        user = find_user(connection, name)
        own = req.state.settings.tenant
        tenant = None if user is None else own if user.sees(own) else user.tenants[0]
        actor = None if user is None else user.name
        note_act(connection, "failed login", actor, f"from {address}", tenant=tenant, via="console", now=req.now)


def _address(req: PageRequest) -> str:
    return req.request.client.host if req.request.client else "an unknown address"


def _set_cookie(req: PageRequest, response: Response, name: str, value: str, *, max_age: int | None = None) -> None:
    secure = req.state.secure
    response.set_cookie(
        req.state.cookie(name), value, max_age=max_age, path="/", httponly=True, samesite="strict", secure=secure
    )


def _delete_cookie(req: PageRequest, response: Response, name: str) -> None:
    secure = req.state.secure
    response.delete_cookie(req.state.cookie(name), path="/", httponly=True, samesite="strict", secure=secure)


def account(req: PageRequest) -> Response:
    """Show the user's name, the tenants to choose from, and the logout button."""
    return req.page("account.html", tenants=req.tenants())


def choose(req: PageRequest) -> Response:
    """Switch to another tenant."""
    wanted = req.field("tenant")
    with req.writing() as connection:
        if req.login is None or not choose_tenant(connection, req.login, wanted):
            raise PageError(HTTPStatus.NOT_FOUND, f"there is no tenant {wanted!r:.80} for you")
    return req.go("/")


def log_out(req: PageRequest) -> Response:
    """End this login."""
    with req.writing() as connection:
        if req.login is not None:
            close_session(connection, req.login.secret)
    response = req.go("/login")
    _delete_cookie(req, response, COOKIE)
    return response


def _first_tenant(req: PageRequest, tenants: list[str], user: User) -> str | None:
    """Return the settings' own tenant if the user may see it; otherwise the first tenant that the user may see."""
    own = req.state.settings.tenant
    return own if user.sees(own) else next(iter(tenants), None)


def _next(path: str) -> str:
    """Return `path` if it is a page of this console; otherwise the start page."""
    parts = urlsplit(path)
    if parts.scheme or parts.netloc or not path.startswith("/") or path.startswith(("//", "/\\", "/login")):
        return "/"
    return path if path.isprintable() and path.isascii() else "/"


ROUTES: list[Page] = [
    Page("/login", "GET", None, show),
    Page("/login", "POST", None, log_in),
    reads("/account", account),
    changes("/account/tenant", choose, role="viewer"),
    changes("/logout", log_out, role="viewer"),
]
