"""One memory: its evidence, its history, its relations; and the actions edit, archive and forget."""

from collections.abc import Mapping
from http import HTTPStatus
from itertools import pairwise
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidMessage
from slowwave_server.domain.change_words import change_sentences, name_memories
from slowwave_server.services.access.audit_log import note_act
from slowwave_server.services.corrections import CannotCorrect, Correction, correct, withdraw
from slowwave_server.services.memories.masking import RevealRefused, check_reveal
from slowwave_server.services.reports.explain import Explanation, explain_memory
from slowwave_server.services.reports.mentioned import contents_named
from slowwave_server.services.reports.relations import Conflict
from slowwave_server.workers.console.request import PageError, PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.timeline import Held, Timeline, draw_timeline


def show(req: PageRequest) -> Response:
    """Show the memory."""
    return _show(req)


def reveal(req: PageRequest) -> Response:
    """Show the memory once with the secrets in its evidence, and record this in the audit log."""
    memory = _memory(req)
    what = f"what was said for memory {memory}"
    with req.writing() as connection:
        try:
            check_reveal(connection, what, req.user.name)
        except RevealRefused:
            raise PageError(
                HTTPStatus.FORBIDDEN,
                "The login of this console may not reveal secrets",
                "ask whoever runs this installation: `slowwave memory show MEMORY --reveal` shows them to the owner",
            ) from None
        found = explain_memory(connection, req.tenant, memory, reveal=True)
        named = contents_named(connection, req.tenant, found.changes)
        note_act(connection, "reveal", req.user.name, what, **req.noted)
    return _page(req, found, named, revealed=True)


def edit(req: PageRequest) -> Response:
    """Replace the memory's text, in the person's name."""
    words = req.field("words")
    try:
        done = correct(req.engine, req.tenant, _memory(req), words, revision=_seen(req), by=req.user.name, now=req.now)
    except (CannotCorrect, InvalidMessage) as refused:
        return _show(req, typed=words, refused=refused)
    return _told(req, done, "The new text replaced the old one")


def archive(req: PageRequest) -> Response:
    """Archive the memory, in the person's name: answers no longer use it."""
    try:
        done = withdraw(req.engine, req.tenant, _memory(req), revision=_seen(req), by=req.user.name, now=req.now)
    except CannotCorrect as refused:
        return _show(req, refused=refused)
    return _told(req, done, "The memory is archived")


def _told(req: PageRequest, done: Correction, what: str) -> Response:
    return req.go(f"/memories/{done.memory}", say=f"{what} in run {done.run}.", undo=done.run)


def _memory(req: PageRequest) -> UUID:
    memory: UUID = req.request.path_params["memory"]
    return memory


def _seen(req: PageRequest) -> int:
    """Return the revision that the form shows. Raises InvalidMessage."""
    given = req.field("revision")
    if not (given.isascii() and given.isdigit() and len(given) < 10):  # noqa: PLR2004 (digits of any revision)
        raise InvalidMessage("the form names no revision of the memory; load the page again")
    return int(given)


def _show(req: PageRequest, *, typed: str | None = None, refused: Exception | None = None) -> Response:
    with req.reading() as connection:
        memory = explain_memory(connection, req.tenant, _memory(req))
        named = contents_named(connection, req.tenant, memory.changes)
    return _page(req, memory, named, typed=typed, refused=refused)


def _page(
    req: PageRequest,
    memory: Explanation,
    named: Mapping[UUID, str],
    *,
    typed: str | None = None,
    refused: Exception | None = None,
    revealed: bool = False,
) -> Response:
    return req.page(
        "memory.html",
        status_code=HTTPStatus.OK if refused is None else HTTPStatus.CONFLICT,
        problem=None if refused is None else f"Nothing was changed: {refused}.",
        memory=memory,
        revealed=revealed,
        typed=memory.content if typed is None else typed,
        changeable=memory.status != "archived" and memory.valid_to is None,
        changes=[
            (change, change_sentences(change.before, change.after, memory.content, named)) for change in memory.changes
        ],
        resolutions={one.id: _resolution(one, memory) for one in memory.conflicts},
        flushes={flush.id: flush for flush in memory.flushes},
        undone={run.id for run in memory.runs if run.undone_by is not None},
        chain=_chain(memory, req),
        wrong_words=isinstance(refused, InvalidMessage),
    )


def _resolution(conflict: Conflict, memory: Explanation) -> str | None:
    contents = {conflict.memory: conflict.content, memory.id: memory.content}
    return conflict.resolution and name_memories(conflict.resolution, contents, "another memory")


def _chain(memory: Explanation, req: PageRequest) -> Timeline | None:
    """Return the successive values of one attribute, including this memory; None if this is the only one."""
    parts = memory.chain
    if not parts:
        return None
    following = {part.id: after.id for part, after in pairwise(parts)}
    return draw_timeline(
        [
            Held(
                str(part.id),
                part.content,
                part.valid_from,
                part.valid_to,
                str(following[part.id]) if part.id in following and part.valid_to is not None else None,
            )
            for part in parts
        ],
        req.now,
    )


ROUTES: list[Page] = [
    reads("/memories/{memory:uuid}", show),
    changes("/memories/{memory:uuid}/reveal", reveal, role="operator"),
    changes("/memories/{memory:uuid}/edit", edit, role="curator"),
    changes("/memories/{memory:uuid}/archive", archive, role="curator"),
]
