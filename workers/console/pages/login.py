"""Logging in and out, and whose memories to look at.

Must not know: how passwords are kept, other pages.
"""

import secrets
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.responses import Response

from slowwave_server.services.access.console_sessions import choose_tenant, close_session, open_session
from slowwave_server.services.access.console_users import Passwords, User, anybody, check_password, tenants_of
from slowwave_server.services.access.login_failures import LoginFailures
from slowwave_server.workers.console.routing import COOKIE, Page, changes, check_token, reads
from slowwave_server.workers.console.visit import Trouble, Visit

BEFORE = "slowwave_before_login"
PASSWORDS = Passwords()
NOBODY = "Nobody may use this console yet"
FIRST = "`slowwave console-users add NAME --role operator` adds the first person, on the host that Slowwave runs on"


def show(visit: Visit) -> Response:
    """The form; who is logged in is sent on."""
    if visit.login is not None:
        return visit.go(_next(visit.query.get("next", "")))
    return _form(visit)


def _form(
    visit: Visit, *, status: int = 200, name: str = "", problem: str | None = None, cure: str | None = None
) -> Response:
    with visit.reading() as connection:
        nobody = not anybody(connection)
    if nobody:
        problem, cure = NOBODY, FIRST
    token = visit.request.cookies.get(BEFORE) or secrets.token_urlsafe(24)
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
    response.set_cookie(BEFORE, token, path="/login", httponly=True, samesite="strict", secure=visit.desk.secure)
    return response


def log_in(visit: Visit) -> Response:
    """Compare the password, and remember the login. Nobody is told which of name and password was wrong."""
    check_token(visit.form, visit.request.cookies.get(BEFORE, ""))
    name, password = visit.field("name"), visit.form.get("password", "")
    failures = LoginFailures(visit.desk.redis)
    address = visit.request.client.host if visit.request.client else ""
    if (wait := failures.wait_seconds(name, address)) > 0:
        told = {"problem": "Too many logins failed", "cure": f"try again in {round(wait)} s"}
        return _form(visit, status=HTTPStatus.TOO_MANY_REQUESTS, name=name, **told)
    with visit.writing() as connection:
        user = check_password(connection, name, str(password), passwords=PASSWORDS)
        tenant = None if user is None else _first_tenant(visit, tenants_of(connection, user), user)
        if user is None or tenant is None:
            failures.note(name, address)
            return _form(visit, status=HTTPStatus.UNAUTHORIZED, name=name, problem="Name or password is wrong")
        lasts = timedelta(hours=visit.desk.settings.console.session_hours)
        login = open_session(connection, user, tenant, now=visit.now, lasts=lasts)
    response = visit.go(_next(visit.field("next")))
    secure, age = visit.desk.secure, int(lasts.total_seconds())
    response.set_cookie(COOKIE, login.secret, max_age=age, httponly=True, samesite="strict", secure=secure)
    response.delete_cookie(BEFORE, path="/login", httponly=True, samesite="strict", secure=secure)
    return response


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
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=visit.desk.secure)
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
