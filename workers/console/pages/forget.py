"""Forgetting (hard deletion) in three steps: a form, a preview of what would be deleted, and the deletion.

The deletion runs only after the user has typed the name again.
"""

from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidName
from slowwave.identity import shared_scope
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.receipts import receipts
from slowwave_server.services.forget.target import Target
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.background import run_in_background
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads

KINDS = {"agent": "An agent", "session": "A conversation", "scope": "A scope", "memory": "A memory"}
FIELDS = ("kind", "agent", "session", "scope", "memory")
RECEIPTS = 20


def form(req: PageRequest) -> Response:
    """Show the form and earlier receipts. Links from other pages may fill the form by query parameters."""
    return _form(req, {name: req.word(name) or "" for name in FIELDS})


def preview(req: PageRequest) -> Response:
    """Show what would be deleted; change nothing."""
    return _preview(req, _target(req))


def forget(req: PageRequest) -> Response:
    """Delete the target if the typed name matches."""
    target = _target(req)
    if req.field("confirm") != confirmation(target):
        problem = "Nothing was forgotten: the typed name does not match"
        return _preview(req, target, status=HTTPStatus.BAD_REQUEST, problem=problem)
    done = run_in_background("forget", lambda: _forgetter(req).forget(target, by=req.user.name))
    if done is None:
        return req.go("/forget", say=f"{_said(target)} is being forgotten: its receipt comes when it is done.")
    report = done.value
    if report.problems:
        problem, cure = "; ".join(report.problems), "repeat the forget when this is fixed"
        return _form(req, {}, problem=f"Some of it was not deleted: {problem}", cure=cure)
    counted = ", ".join(f"{label}: {number:,}" for label, number in sorted(report.counts.items()))
    say = f"{_said(target)} is forgotten, receipt {report.receipt}. {counted or 'Nothing was left of it'}."
    return req.go("/forget", say=" ".join([say, *report.hints]))


def confirmation(target: Target) -> str:
    """Return the text that the user must type: the target's name, or the first eight characters of a memory's id."""
    if target.kind == "memory":
        return str(target.memory)[:8]
    return (target.scope_label or target.session or target.agent) or ""


def _form(req: PageRequest, given: dict[str, str], *, problem: str | None = None, cure: str | None = None) -> Response:
    with req.reading() as connection:
        known = receipts(connection, req.tenant, limit=RECEIPTS)
    chosen = {name: given.get(name, "") for name in FIELDS}
    return req.page("forget.html", given=chosen, kinds=list(KINDS.items()), receipts=known, problem=problem, cure=cure)


def _preview(req: PageRequest, target: Target, *, status: int = HTTPStatus.OK, problem: str | None = None) -> Response:
    would = _forgetter(req).preview(target)
    fields = {name: req.field(name) for name in FIELDS}
    return req.page(
        "forget_preview.html",
        status_code=status,
        problem=problem,
        would=would,
        fields=fields,
        confirm=confirmation(target),
        said=_said(target),
    )


def _forgetter(req: PageRequest) -> Forgetter:
    return Forgetter(req.engine, req.state.redis, req.settings, req.state.clock)


def _target(req: PageRequest) -> Target:
    """Return the target that the form names. Raises PageError and InvalidName."""
    kind, tenant = req.field("kind"), req.tenant
    if kind == "agent":
        return Target.of_agent(tenant, req.field("agent"))
    if kind == "session":
        return Target.of_session(tenant, req.field("agent"), req.field("session"))
    if kind == "scope":
        return _scope(tenant, req.field("scope"))
    if kind == "memory":
        try:
            return Target.of_memory(tenant, UUID(req.field("memory")))
        except ValueError:
            raise InvalidName(f"memory: {req.field('memory')!r:.60} is not the id of a memory") from None
    raise PageError(HTTPStatus.BAD_REQUEST, "Choose what is to be forgotten")


def _scope(tenant: str, scope: str) -> Target:
    kind, _, name = scope.partition(":")
    if kind == "agent" and name:
        return Target.of_scope(tenant, kind, name)
    try:
        return Target.of_scope(tenant, *shared_scope(scope))
    except InvalidName:
        raise InvalidName(f"scope: {scope!r:.80} is not room:NAME, team:NAME or agent:NAME") from None


def _said(target: Target) -> str:
    name = str(target)
    return f"{name[0].upper()}{name[1:]}"


LINK = Link(
    title="Forget",
    group="System",
    place=5,
    icon="M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
    shows="a forget with a typed confirmation, for operators",
)
ROUTES: list[Page] = [
    reads("/forget", form, role="operator", link=LINK),
    changes("/forget/preview", preview, role="operator"),
    changes("/forget", forget, role="operator"),
]
