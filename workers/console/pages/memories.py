"""The list of memories of an agent, with filters and pages."""

from datetime import date, datetime
from typing import TypeVar, get_args
from uuid import UUID

from starlette.responses import Response

from slowwave.errors import InvalidQuery
from slowwave.memory_types import MEMORY_TYPES, MemoryStatus
from slowwave_server.services.reports.memories import ListedMemory, list_memories
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads
from slowwave_server.workers.console.scope_params import read_scope_params

Word = TypeVar("Word", bound=str)

SHOWN = 50
CHANGES_TAKEN_OFF = 1_000
"""The most later changes that a list as of an earlier time may have to reverse. Each takes about 0.1 ms."""
TYPES = MEMORY_TYPES
STATUSES: tuple[MemoryStatus, ...] = get_args(MemoryStatus)
_DAY = len("2026-03-05")


def listing(req: PageRequest) -> Response:
    """List the memories of an agent, newest first."""
    kind, status = _one_of("type", req.word("type"), TYPES), _one_of("status", req.word("status"), STATUSES)
    as_of, known_at = _moment(req, "as_of"), _moment(req, "known_at")
    before = _key(req.word("before"))
    found: list[ListedMemory] = []
    with req.reading() as connection:
        place, agents = read_scope_params(req, connection)
        if place is not None:
            found = list_memories(
                connection,
                req.tenant,
                place.agent,
                scope=place.shared,
                session=req.word("session"),
                kind=kind,
                status=status,
                as_of=as_of,
                known_at=known_at,
                words=req.word("words"),
                before=before,
                limit=SHOWN + 1,
                most_changes=CHANGES_TAKEN_OFF,
            )
    memories = found[:SHOWN]
    older = f"{memories[-1].valid_from.isoformat()},{memories[-1].id}" if len(found) > SHOWN else None
    return req.page(
        "memories.html",
        place=place,
        agents=agents,
        memories=memories,
        asked={name: req.word(name) or "" for name in ("type", "status", "session", "as_of", "known_at", "words")},
        types=[("", "any"), *((name, name) for name in TYPES)],
        statuses=[("", "all but archived"), *((name, name) for name in STATUSES)],
        newer=req.link(before=None) if before else None,
        older=req.link(before=older) if older else None,
    )


def _one_of(name: str, given: str | None, words: tuple[Word, ...]) -> Word | None:
    for word in words:
        if given == word:
            return word
    if given is not None:
        raise InvalidQuery(f"{name} is one of {', '.join(str(word) for word in words)}, not {given!r:.60}")
    return None


def _moment(req: PageRequest, name: str) -> date | datetime | None:
    """Parse a day, which means its end, or a time, without a zone in the agent's own. Raises InvalidQuery."""
    given = req.word(name)
    if given is None:
        return None
    try:
        return date.fromisoformat(given) if len(given) <= _DAY else datetime.fromisoformat(given)
    except ValueError:
        raise InvalidQuery(f"{name} is a day (2026-03-05) or a time (2026-03-05T14:30), not {given!r:.60}") from None


def _key(given: str | None) -> tuple[datetime, UUID] | None:
    """Parse the key at which the previous page ended, from the link to this page. Raises InvalidQuery."""
    if given is None:
        return None
    moment, _, memory = given.partition(",")
    try:
        key = datetime.fromisoformat(moment), UUID(memory)
    except ValueError:
        key = None
    if key is None or key[0].tzinfo is None:
        raise InvalidQuery("before is where a page of this list ended, as its link to older ones has it")
    return key


LINK = Link(
    title="Memories",
    group="Knowledge",
    place=2,
    icon="M5 4h11l3 3v13H5zM8 10h8M8 14h8M8 17h5",
    shows="a list with filters; one memory with its evidence, history and relations (as `slowwave memory show`)",
    key="m",
    also=("/memories/ID",),
)
ROUTES: list[Page] = [reads("/memories", listing, link=LINK)]
