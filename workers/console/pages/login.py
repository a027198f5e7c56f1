"""Logging in and out, and whose memories to look at.

Must not know: how passwords are kept, other pages.
"""

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
from slowwave_server.workers.console.routing import COOKIE, Page, changes, reads
from slowwave_server.workers.console.visit import Trouble, Visit

PASSWORDS = Passwords()
NOBODY = "Nobody may use this console yet"
FIRST = "`slowwave console-users add NAME --role operator` adds the first person, on the host that Slowwave runs on"
FOREIGN = "This form was not made for this browser, or is too old"
OWN_SITES = frozenset({"same-origin", "none"})
"""What browsers say of a form that no other site sent."""


def show(visit: Visit) -> Response:
    """The form; who is logged in is sent on."""
    if visit.login is not None:
        return visit.go(_next(visit.query.get("next", "")))
    return _form(visit)


def _form(
    visit: Visit, *, status: int = 200, name: str = "", problem: str | None = None, cure: str | None = None
) -> Response:
    """The form with a new token: whatever cookie the browser sent is replaced."""
    with visit.reading() as connection:
        nobody = not anybody(connection)
    if nobody:
        problem, cure = NOBODY, FIRST
    token = LoginForms(visit.desk.redis).make()
    wanted = _next(visit.field("next") or visit.query.get("next", ""))
    response = visit.page(
        "login.html",
        status_code=status,
        problem=problem,
        cure=cure,
        name=name,
        token=token,
        wanted=wanted,
        nobody=nobody,
    )
    _set_cookie(visit, response, BEFORE, token)
    return response


def log_in(visit: Visit) -> Response:
    """Compare the password, and remember the login. Nobody is told which of name and password was wrong."""
    name = visit.field("name")
    if not _is_own_form(visit):
        return _form(visit, status=HTTPStatus.FORBIDDEN, name=name, problem=FOREIGN, cure="send it once more")
    failures = LoginFailures(visit.desk.redis)
    attempt = failures.begin(name, _address(visit))
    if attempt.wait_seconds > 0:
        told = {"problem": "Too many logins failed", "cure": f"try again in {round(attempt.wait_seconds)} s"}
        return _form(visit, status=HTTPStatus.TOO_MANY_REQUESTS, name=name, **told)
    user = check_password(visit.engine, name, str(visit.form.get("password", "")), passwords=PASSWORDS)
    lasts = timedelta(hours=visit.desk.settings.console.session_hours)
    login = None if user is None else _open(visit, user, lasts)
    if login is None:
        failures.failed(attempt)
        _note_failure(visit, name, attempt.address)
        return _form(visit, status=HTTPStatus.UNAUTHORIZED, name=name, problem="Name or password is wrong")
    failures.succeeded(attempt)
    response = visit.go(_next(visit.field("next")))
    _set_cookie(visit, response, COOKIE, login.secret, max_age=int(lasts.total_seconds()))
    _delete_cookie(visit, response, BEFORE)
    return response


def _is_own_form(visit: Visit) -> bool:
    """Whether this browser sent a form that a console made for it: not one of another site, nor with a cookie that
    somebody planted.
    """
    kept = visit.request.cookies.get(visit.desk.cookie(BEFORE), "")
    same = hmac.compare_digest(visit.field("token").encode(), kept.encode())
    own_site = visit.request.headers.get("sec-fetch-site", "none") in OWN_SITES
    return same and own_site and LoginForms(visit.desk.redis).made(kept)


def _open(visit: Visit, user: User, lasts: timedelta) -> Login | None:
    """A login with a secret of its own; None where there is no tenant that this person may look at. The login that the
    browser had before ends.
    """
    with visit.writing() as connection:
        tenant = _first_tenant(visit, tenants_of(connection, user), user)
        if tenant is None:
            return None
        if before := visit.request.cookies.get(visit.desk.cookie(COOKIE)):
            close_session(connection, before)
        what = f"as {user.role}, from {_address(visit)}"
        note_act(connection, "login", user.name, what, tenant=tenant, via="console", now=visit.now)
        return open_session(connection, user, tenant, now=visit.now, lasts=lasts)


def _note_failure(visit: Visit, name: str, address: str) -> None:
    """Leave a row. A name that nobody has is not kept: it may be a password that was typed into the wrong field."""
    with visit.writing() as connection:
        user = find_user(connection, name)
        own = visit.desk.settings.tenant
        tenant = None if user is None else own if user.sees(own) else user.tenants[0]
        actor = None if user is None else user.name
        note_act(connection, "failed login", actor, f"from {address}", tenant=tenant, via="console", now=visit.now)


def _address(visit: Visit) -> str:
    return visit.request.client.host if visit.request.client else "an unknown address"


def _set_cookie(visit: Visit, response: Response, name: str, value: str, *, max_age: int | None = None) -> None:
    secure = visit.desk.secure
    response.set_cookie(
        visit.desk.cookie(name), value, max_age=max_age, path="/", httponly=True, samesite="strict", secure=secure
    )


def _delete_cookie(visit: Visit, response: Response, name: str) -> None:
    secure = visit.desk.secure
    response.delete_cookie(visit.desk.cookie(name), path="/", httponly=True, samesite="strict", secure=secure)


def account(visit: Visit) -> Response:
    """Who is logged in, whose memories they look at, and the way out."""
    return visit.page("account.html", tenants=visit.tenants())


def choose(visit: Visit) -> Response:
    """Look at another tenant."""
    wanted = visit.field("tenant")
    with visit.writing() as connection:
        if visit.login is None or not choose_tenant(connection, visit.login, wanted):
            raise Trouble(HTTPStatus.NOT_FOUND, f"there is no tenant {wanted!r:.80} for you")
    return visit.go("/")


def log_out(visit: Visit) -> Response:
    """End this login."""
    with visit.writing() as connection:
        if visit.login is not None:
            close_session(connection, visit.login.secret)
    response = visit.go("/login")
    _delete_cookie(visit, response, COOKIE)
    return response


def _first_tenant(visit: Visit, tenants: list[str], user: User) -> str | None:
    """The settings' own, where the person may look at it; else the first that they may."""
    own = visit.desk.settings.tenant
    return own if user.sees(own) else next(iter(tenants), None)


def _next(path: str) -> str:
    """A page of this console, whatever the address says."""
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
