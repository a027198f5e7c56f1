"""The inbox: all items that wait for a person, one after the other, with the evidence side by side."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from sqlalchemy import Connection
from starlette.responses import Response

from slowwave.errors import InvalidMessage, InvalidQuery
from slowwave_server.domain.change_words import name_memories
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.inbox import (
    ITEM_KINDS,
    KEYS_READ,
    InboxItem,
    ItemKind,
    OpenItem,
    case_of,
    count_kinds,
    decision_for,
    key_number,
    open_keys,
    read_item,
    read_items,
)
from slowwave_server.services.reports.transcript import Utterance, read_surroundings
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import Contested, DecisionReport, decide_cases
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.deciding import read_seen, told, written
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, changes, reads
from slowwave_server.workers.console.scope_params import read_scope

SHOWN = 25
KIND_WORDS: Mapping[ItemKind, str] = {"contradiction": "Contradictions", "claim": "Claims to confirm"}
ANSWERED: Mapping[str, str] = {
    "later": "the later statement holds",
    "earlier": "the earlier statement holds",
    "both": "both hold",
    "same": "both say the same",
    "neither": "neither holds",
    "keep": "answers may use the memory",
    "archive": "the memory is archived",
}
Queue = tuple[list[str], str | None]
"""The keys of open items that the address asks for, and the key of the item that comes after this one."""


def listing(req: PageRequest) -> Response:
    """List open items, the most important first."""
    return _listing(req)


def show(req: PageRequest) -> Response:
    """Show one item: both statements, the turns around each, and the answers."""
    return _show(req)


def answer(req: PageRequest) -> Response:
    """Answer one item in the person's name, and open the next one."""
    chosen, key = req.field("answer"), _key(req)
    with req.reading() as connection:
        found = read_item(connection, req.tenant, key)
        _, following = _queue(req, connection, key)
    try:
        report = _decide(req, found.item, chosen, read_seen([req.field("seen")]), _into(req))
    except (InvalidMessage, Contested) as refused:
        return _show(req, problem=f"Nothing was changed: {refused}.")
    if not report.decided:
        return _show(req, problem=told(report, "item"))
    say = f"Answered: {ANSWERED[chosen]}."
    if following is None:
        return req.go("/inbox", say=say, undo=report.run, **_filters(req))
    place, of = _progress(req)
    return req.go(
        f"/inbox/{following}", say=say, undo=report.run, **_filters(req), place=place and place + 1, of=of or None
    )


def decide_many(req: PageRequest) -> Response:
    """Give all selected claims the same answer, in one run. A claim that has changed in the meantime stays open."""
    keys = _values_of(req, "item")
    try:
        numbers = _claims(req, keys)
        decision = _claim_decision(req.field("answer"), read_seen(_values_of(req, "seen")))
        report = decide_cases(req.engine, req.tenant, "item", numbers, decision, by=req.user.name, now=req.now)
    except (InvalidMessage, Contested) as refused:
        return _listing(req, chosen=keys, problem=f"Nothing was changed: {refused}.")
    if report.decided < len(report.results):
        return _listing(req, chosen=keys, problem=told(report, "question"))
    say = f"Answered {len(numbers)}: {ANSWERED[req.field('answer')]}."
    return req.go("/inbox", say=say, undo=report.run, **_filters(req))


def _listing(req: PageRequest, *, chosen: Sequence[str] = (), problem: str | None = None) -> Response:
    kind = _kind(req.word("kind"))
    with req.reading() as connection:
        scope = read_scope(req, connection)
        counts = count_kinds(connection, req.tenant, scope=scope)
        keys = open_keys(connection, req.tenant, scope=scope, kind=kind)
        begin = _begin(keys, req.word("after"))
        shown = keys[begin : begin + SHOWN]
        items = read_items(connection, req.tenant, shown)
    return req.page(
        "inbox.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        items=items,
        first=keys[0] if keys else None,
        seen={item.key: written({side.id: side.revision for side in item.sides}) for item in items},
        chosen=chosen,
        kind=kind,
        kind_tabs=_kind_tabs(req, counts),
        filters=_filters(req),
        asked={name: req.word(name) or "" for name in ("agent", "scope")},
        newer=req.link(after=None) if begin else None,
        older=req.link(after=shown[-1]) if begin + SHOWN < len(keys) else None,
    )


def _show(req: PageRequest, *, problem: str | None = None) -> Response:
    key = _key(req)
    with req.reading() as connection:
        found = read_item(connection, req.tenant, key)
        keys, following = _queue(req, connection, key)
        around = read_surroundings(connection, req.tenant, _places(found.item))
    place, of = _progress(req)
    if not of:
        place, of = (keys.index(key) + 1 if key in keys else 0), len(keys)
    return req.page(
        "inbox_item.html",
        status_code=HTTPStatus.OK if problem is None else HTTPStatus.CONFLICT,
        problem=problem,
        **_values(found, around),
        place=min(place, of),
        of=of,
        following=following,
        filters=_filters(req),
    )


def _values(found: OpenItem, around: Mapping[tuple[str, str, int], tuple[Utterance, ...]]) -> dict[str, Any]:
    item = found.item
    contents = {side.id: side.content for side in item.sides}
    labels = ["Later statement", "Earlier statement"] if item.conflict else ["This memory"]
    labels += ["Another memory"] * (len(item.sides) - len(labels))
    return {
        "item": item,
        "sides": list(zip(labels, item.sides, strict=False)),
        "answers": found.answers,
        "lapse": found.lapse,
        "seen": written(found.seen),
        "around": around,
        "closed": item.closed and name_memories(item.closed, contents, "a memory"),
        "verdict": item.conflict.evidence.get("asked") if item.conflict else None,
        "stays": [("", "the one with the better witness"), *((str(s.id), s.content[:80]) for s in item.sides)],
    }


def _decide(
    req: PageRequest, item: InboxItem, chosen: str, seen: Mapping[UUID, int], into: UUID | None
) -> DecisionReport:
    kind, number = case_of(item)
    decision = decision_for(item, chosen, seen, into=into)
    return decide_cases(req.engine, req.tenant, kind, [number], decision, by=req.user.name, now=req.now)


def _queue(req: PageRequest, connection: Connection, key: str) -> Queue:
    keys = open_keys(connection, req.tenant, scope=read_scope(req, connection), kind=_kind(req.word("kind")))
    begin = _begin(keys, key)
    ahead = [other for other in (*keys[begin:], *keys) if other != key]
    return keys, ahead[0] if ahead else None


def _kind_tabs(req: PageRequest, counts: Mapping[ItemKind, int]) -> list[tuple[str, str, str]]:
    """Return the tabs: all items, then each kind, with the numbers of open items."""

    def label(words: str, count: int) -> str:
        return f"{words} ({count:,}{'+' if count >= KEYS_READ else ''})"

    tabs = [("all", label("All", min(KEYS_READ, sum(counts.values()))), req.link(kind=None, after=None))]
    return tabs + [
        (kind, label(KIND_WORDS[kind], counts[kind]), req.link(kind=kind, after=None)) for kind in ITEM_KINDS
    ]


def _begin(keys: Sequence[str], after: str | None) -> int:
    """Return the position of the list after an item; 0 if the item is no longer open."""
    return keys.index(after) + 1 if after in keys else 0


def _places(item: InboxItem) -> list[tuple[str, str, int]]:
    return [(said.agent, said.session, said.seq) for side in item.sides for said in side.sources]


def _progress(req: PageRequest) -> tuple[int, int]:
    """Return the number of the present item and of all in this session, from the links; zeros at first."""
    return req.number("place", 0), req.number("of", 0)


def _filters(req: PageRequest) -> dict[str, str | int | None]:
    return {name: req.word(name) for name in ("kind", "agent", "scope") if req.word(name)}


def _kind(given: str | None) -> ItemKind | None:
    for kind in ITEM_KINDS:
        if given == kind:
            return kind
    if given is not None:
        raise InvalidQuery(f"kind must be one of {', '.join(ITEM_KINDS)}, got {given!r:.60}")
    return None


def _key(req: PageRequest) -> str:
    """Return the key in the path. Raises UnknownName."""
    key: str = req.request.path_params["item"]
    try:
        key_number(key)
    except InvalidMessage as wrong:
        raise UnknownName(str(wrong)) from None
    return key


def _into(req: PageRequest) -> UUID | None:
    """Return the memory that stays, for the answer "same". Raises InvalidMessage."""
    given = req.field("into")
    try:
        return UUID(given) if given else None
    except ValueError:
        raise InvalidMessage(f"into must be the id of a memory, got {given!r:.60}") from None


def _values_of(req: PageRequest, name: str) -> list[str]:
    return [value for value in req.form.getlist(name) if isinstance(value, str)]


def _claims(req: PageRequest, keys: Sequence[str]) -> list[int]:
    """Return the numbers of the selected claims. Raises InvalidMessage."""
    numbers = [key_number(key) for key in keys]
    if not numbers:
        raise InvalidMessage("choose at least one claim")
    with req.reading() as connection:
        items = read_items(connection, req.tenant, keys)
    if any(item.kind != "claim" for item in items):
        raise InvalidMessage("a contradiction is answered on its own page")
    return numbers


def _claim_decision(chosen: str, seen: Mapping[UUID, int]) -> Decision:
    """Return the decision about claims. Raises InvalidMessage."""
    if chosen == "keep":
        return Decision("accept", None, seen)
    if chosen == "archive":
        return Decision("reject", None, seen)
    raise InvalidMessage(f"the answer for several claims must be keep or archive, got {chosen!r:.40}")


LINK = Link(
    title="Inbox",
    group="Work",
    place=2,
    icon="M4 13l3-9h10l3 9v7H4zM4 13h5l1 3h4l1-3h5",
    shows="contradictions and claims that need a person, one item at a time with its evidence",
    key="i",
    badge="inbox",
    also=("/inbox/q12",),
)
ROUTES: list[Page] = [
    reads("/inbox", listing, link=LINK),
    changes("/inbox/answer", decide_many, role="curator"),
    reads("/inbox/{item}", show),
    changes("/inbox/{item}/answer", answer, role="curator"),
]
