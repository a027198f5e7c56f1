"""One memory: what was said, what became of it, what it touches; and what a person may do to it.

Must not know: SQL, what a correction does.
"""

from http import HTTPStatus
from itertools import pairwise
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidMessage
from slowwave_server.services.access.audit_log import note_act
from slowwave_server.services.corrections import CannotCorrect, Correction, correct, withdraw
from slowwave_server.services.reports.evidence import RevealRefused, check_reveal
from slowwave_server.services.reports.explain import ChangeMade, Explanation, explain_memory
from slowwave_server.workers.cli.diff import difference
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.spans import Held, Spans, draw_spans
from slowwave_server.workers.console.visit import Trouble, Visit


def show(visit: Visit) -> Response:
    """The whole life of a memory."""
    return _show(visit)


def reveal(visit: Visit) -> Response:
    """The same with the secrets in what was said, this once, and noted in the person's name."""
    memory = _memory(visit)
    what = f"what was said for memory {memory}"
    with visit.writing() as connection:
        try:
            check_reveal(connection, what, visit.user.name)
        except RevealRefused:
            raise Trouble(
                HTTPStatus.FORBIDDEN,
                "The login of this console may not reveal secrets",
                "ask whoever runs this installation: `slowwave explain MEMORY --reveal` shows them to the owner",
            ) from None
        found = explain_memory(connection, visit.tenant, memory, reveal=True)
        note_act(connection, "reveal", visit.user.name, what, **visit.noted)
    return _page(visit, found, revealed=True)


def say_otherwise(visit: Visit) -> Response:
    """Say it in other words, in the person's name."""
    words = visit.field("words")
    try:
        done = correct(
            visit.engine, visit.tenant, _memory(visit), words, revision=_seen(visit), by=visit.user.name, now=visit.now
        )
    except (CannotCorrect, InvalidMessage) as refused:
        return _show(visit, typed=words, refused=refused)
    return _told(visit, done, "It says so from here on")


def archive(visit: Visit) -> Response:
    """Take it out of answers, in the person's name."""
    try:
        done = withdraw(
            visit.engine, visit.tenant, _memory(visit), revision=_seen(visit), by=visit.user.name, now=visit.now
        )
    except CannotCorrect as refused:
        return _show(visit, refused=refused)
    return _told(visit, done, "It is archived")


def _told(visit: Visit, done: Correction, what: str) -> Response:
    return visit.go(f"/memories/{done.memory}", say=f"{what}; run {done.run} did it, and can be undone.")


def _memory(visit: Visit) -> UUID:
    memory: UUID = visit.request.path_params["memory"]
    return memory


def _seen(visit: Visit) -> int:
    """The revision that the form was made of. Raises InvalidMessage."""
    given = visit.field("revision")
    if not (given.isascii() and given.isdigit() and len(given) < 10):  # noqa: PLR2004 (digits of any revision)
        raise InvalidMessage("the form names no revision of the memory; load the page again")
    return int(given)


def _show(visit: Visit, *, typed: str | None = None, refused: Exception | None = None) -> Response:
    with visit.reading() as connection:
        memory = explain_memory(connection, visit.tenant, _memory(visit))
    return _page(visit, memory, typed=typed, refused=refused)


def _page(
    visit: Visit,
    memory: Explanation,
    *,
    typed: str | None = None,
    refused: Exception | None = None,
    revealed: bool = False,
) -> Response:
    return visit.page(
        "life.html",
        status_code=HTTPStatus.OK if refused is None else HTTPStatus.CONFLICT,
        problem=None if refused is None else f"Nothing was changed: {refused}",
        memory=memory,
        revealed=revealed,
        typed=memory.content if typed is None else typed,
        changeable=memory.status != "archived" and memory.valid_to is None,
        changes=[(change, _lines(change)) for change in memory.changes],
        flushes={flush.id: flush for flush in memory.flushes},
        undone={run.id for run in memory.runs if run.undone_by is not None},
        chain=_chain(memory, visit),
        wrong_words=isinstance(refused, InvalidMessage),
    )


def _lines(change: ChangeMade) -> list[str]:
    """What differs by a change, as the shell says it."""
    after = dict(change.after or {})
    sources = after.pop("sources", None)
    lines = list(difference(change.before, after if change.after is not None else None))
    if sources:
        lines.append(f"sources + {', '.join(str(seq) for seq in sources)}")
    return lines


def _chain(memory: Explanation, visit: Visit) -> Spans | None:
    """The values that followed each other, this one among them; None where it stands alone."""
    parts = memory.chain
    if not parts:
        return None
    following = {part.id: after.id for part, after in pairwise(parts)}
    return draw_spans(
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
        visit.now,
    )


ROUTES: list[Page] = [
    reads("/memories/{memory:uuid}", show),
    changes("/memories/{memory:uuid}/reveal", reveal, role="operator"),
    changes("/memories/{memory:uuid}/correct", say_otherwise, role="curator"),
    changes("/memories/{memory:uuid}/archive", archive, role="curator"),
]
