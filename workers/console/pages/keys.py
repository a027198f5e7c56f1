"""API keys of the HTTP gateway: the list of keys, a form to make a key, and a button to revoke one."""

from datetime import timedelta
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidName
from slowwave_server.services.access.api_keys import (
    RIGHTS,
    InvalidKey,
    Key,
    NewKey,
    list_keys,
    make_key,
    revoke_key,
)
from slowwave_server.services.access.audit_log import note_act
from slowwave_server.services.lookup import UnknownName
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads

DAYS = ("", "30", "90", "365")


def listing(req: PageRequest) -> Response:
    """List this tenant's keys, newest first."""
    return _page(req)


def make(req: PageRequest) -> Response:
    """Make a key on behalf of the user; only this page shows the secret, once."""
    try:
        wanted = _wanted(req)
        with req.writing() as connection:
            key, secret = make_key(connection, req.tenant, wanted, by=req.user.name, now=req.now)
            told = f"key {key.name} ({key.prefix}) was made with the rights {', '.join(key.rights)}"
            note_act(connection, "key", req.user.name, told, **req.noted)
    except (InvalidKey, InvalidName) as refused:
        return _page(req, problem=f"No key was made: {refused}")
    return _page(req, made=key, secret=secret)


def revoke(req: PageRequest) -> Response:
    """Revoke a key on behalf of the user."""
    which = UUID(str(req.request.path_params["key"]))
    with req.writing() as connection:
        key = revoke_key(connection, req.tenant, which, now=req.now)
        if key is not None:
            told = f"key {key.name} ({key.prefix}) was revoked"
            note_act(connection, "key", req.user.name, told, **req.noted)
    if key is None:
        raise UnknownName(f"tenant {req.tenant!r} has no key {which}")
    return req.go("/keys", say=f"{key.name} ({key.prefix}) is revoked.")


def _wanted(req: PageRequest) -> NewKey:
    """Return the key that the form requests. Raises InvalidKey."""
    days = req.field("days")
    if days not in DAYS:
        raise InvalidKey(f"the form sent {days!r:.60} as its number of days; load the page again")
    return NewKey(
        req.field("name"),
        [right for right in RIGHTS if req.field(f"right-{right}")],
        _lines(req.field("agents")),
        _lines(req.field("scopes")),
        req.now + timedelta(days=int(days)) if days else None,
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _page(
    req: PageRequest, *, problem: str | None = None, made: Key | None = None, secret: str | None = None
) -> Response:
    with req.reading() as connection:
        found = list_keys(connection, req.tenant)
    typed = {name: "" if made else req.field(name) for name in ("name", "agents", "scopes", "days")}
    return req.page(
        "keys.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        keys=[(key, key.state(req.now)) for key in found],
        made=made,
        secret=secret,
        typed=typed,
        rights=[
            (right, bool(req.field(f"right-{right}")) if problem else right in {"record", "read"}) for right in RIGHTS
        ],
        lifetimes=[(days, f"{days} days" if days else "until it is revoked") for days in DAYS],
    )


LINK = Link(
    title="API keys",
    group="System",
    place=3,
    icon="M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h9M18 12v4",
    shows="[API keys](security.md#api-keys), for operators",
    key="k",
)
ROUTES: list[Page] = [
    reads("/keys", listing, role="operator", link=LINK),
    changes("/keys/make", make, role="operator"),
    changes("/keys/{key:uuid}/revoke", revoke, role="operator"),
]
