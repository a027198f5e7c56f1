"""Runs: what jobs and people changed, each change in sentences, and the undo of a run."""

from http import HTTPStatus
from typing import get_args

from starlette.responses import Response

from slowwave.identity import shared_scope
from slowwave_server.domain.change_words import change_sentences
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.forget.forget import Forgetter
from slowwave_server.services.forget.target import CannotForget
from slowwave_server.services.lookup import UnknownName, find_agent
from slowwave_server.services.moving_in.undoing import undo_any
from slowwave_server.services.reports.inbox import keys_of_run
from slowwave_server.services.reports.mentioned import contents_named
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import RunStory, read_run
from slowwave_server.services.runs.store import RunKind
from slowwave_server.services.undo.checks import CannotUndo
from slowwave_server.services.undo.report import UndoReport
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads

SHOWN = 50
KINDS: tuple[RunKind, ...] = get_args(RunKind)


def listing(req: PageRequest) -> Response:
    """List the runs of this tenant, the newest first."""
    agent, scope, kind = req.word("agent"), req.word("scope"), _kind(req)
    if agent is not None and scope is not None:
        raise PageError(HTTPStatus.BAD_REQUEST, "Choose an agent or a scope, one of the two")
    place = None if scope is None else shared_scope(scope)
    before = req.number("before", 0, most=2**63 - 1)
    with req.reading() as connection:
        if agent is not None:
            find_agent(connection, req.tenant, agent)
            place = ("agent", agent)
        found = list_runs(connection, req.tenant, scope=place, kind=kind, before=before or None, limit=SHOWN + 1)
    runs = found[:SHOWN]
    return req.page(
        "runs.html",
        runs=runs,
        agent=agent,
        scope=scope,
        kind=kind,
        kinds=[("", "all"), *((name, name) for name in KINDS)],
        newer=req.link(before=None) if before else None,
        older=req.link(before=runs[-1].id) if len(found) > SHOWN else None,
    )


def show(req: PageRequest) -> Response:
    """Show one run with its changes."""
    return _show(req)


def take_back(req: PageRequest) -> Response:
    """Undo a run on behalf of the person, or show why it can't be undone; in this case, nothing changes."""
    run = req.request.path_params["run"]
    _check_own(req, run)
    try:
        report = undo_any(
            req.engine,
            req.tenant,
            run,
            by=req.user.name,
            now=req.now,
            forgetting=lambda: Forgetter(req.engine, req.state.redis, req.settings, req.state.clock),
            no_repeat=bool(req.field("no_repeat")),
        )
    except (CannotForget, CannotUndo) as refused:
        return _show(req, problem=str(refused))
    return req.go(_place_after(req, run, report), say=_undone(report))


def _check_own(req: PageRequest, run: int) -> None:
    """Raise PageError unless the person may undo this run: a curator their own edits, an operator all."""
    if req.may("operator"):
        return
    with req.reading() as connection:
        made = read_run(connection, req.tenant, run, limit=0).run
    if made.kind != "review" or made.by != req.user.name:
        raise PageError(
            HTTPStatus.FORBIDDEN,
            f"A curator may undo only their own answers and edits, and {req.user.name} did not start run {run} as one",
            "ask an operator",
        )


def _place_after(req: PageRequest, run: int, report: UndoReport) -> str:
    """Return the next page: the item that is open again, if the run answered only one item; else the undo's page."""
    with req.reading() as connection:
        keys = keys_of_run(connection, req.tenant, run)
    return f"/inbox/{keys[0]}" if len(keys) == 1 else f"/runs/{report.run}"


def _show(req: PageRequest, *, problem: str | None = None) -> Response:
    run, after = req.request.path_params["run"], req.number("after", 0, most=2**63 - 1)
    with req.reading() as connection:
        story = read_run(connection, req.tenant, run, after=after, limit=SHOWN)
        named = contents_named(connection, req.tenant, story.changes)
    return req.page(
        "run.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        cure=None if problem is None else "nothing was changed",
        story=story,
        figures={name: value for name, value in story.run.stats.items() if not isinstance(value, (dict, list))},
        changed=[
            (change, change_sentences(change.before, change.after, change.content, named)) for change in story.changes
        ],
        can_be_undone=_can_be_undone(story),
        newer=f"/runs/{run}" if after else None,
        older=f"/runs/{run}?after={story.more_after}" if story.more_after else None,
    )


def _can_be_undone(story: RunStory) -> bool:
    """Return True if the page offers the undo. The undo itself checks whether later runs depend on this one."""
    run = story.run
    if run.undone_by is not None or run.status == "running":
        return False
    return run.kind == "rebuild" or bool(story.changed or story.added or story.parts)


def _kind(req: PageRequest) -> RunKind | None:
    given = req.word("kind")
    for kind in KINDS:
        if given == kind:
            return kind
    if given is not None:
        raise UnknownName(f"there is no kind of run {given!r:.40}; there are {', '.join(KINDS)}")
    return None


def _undone(report: UndoReport) -> str:
    """Return the sentence after an undo."""
    said = f"R{report.summary[1:]}."
    if report.gone:
        said += f" {'Written back' if report.again else 'Removed with it'}: {report.gone}."
    if report.decisions:
        said += f" {pluralize(report.decisions, 'decision')} reversed."
    if report.refused:
        said += f" Not undone: {' '.join(f'{reason}.' for reason in report.refused)}"
    return said


LINK = Link(
    title="Runs",
    group="History",
    place=2,
    icon="M5 12a7 7 0 1 0 2-5M5 4v4h4M12 8v5l3 2",
    shows="what each run changed, in sentences, and its undo",
    key="r",
    also=("/runs/N",),
)
ROUTES: list[Page] = [
    reads("/runs", listing, link=LINK),
    reads("/runs/{run:int}", show),
    changes("/runs/{run:int}/undo", take_back, role="curator"),
]
