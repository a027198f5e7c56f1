"""Read the windows of an agent's sessions from the ledger of flushes, with their events, if these still exist."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, text

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.windows import LOOK_BACK, PRECEDING_EVENTS, PRECEDING_TURNS
from slowwave_server.services.flush.rows import event_of

_PAGE = 50

# A quarantined event has no memory, and a person retries events that killed an extractor.
_OF_AGENT = (
    " FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " WHERE s.agent_id = :agent AND f.outcome <> 'quarantined' AND (NOT :only_fallback OR f.fallback IS NOT NULL)"
)
_COUNT = text(f"SELECT count(*){_OF_AGENT}")
_PAGE_OF = text(
    f"SELECT f.session_id, f.from_seq, f.to_seq{_OF_AGENT}"
    " AND (f.session_id, f.from_seq) > (:session, :seq)"
    " AND NOT EXISTS (SELECT FROM slowwave.rebuild_windows w"
    "  WHERE w.rebuild_id = :rebuild AND w.session_id = f.session_id AND w.from_seq = f.from_seq)"
    " ORDER BY f.session_id, f.from_seq LIMIT :page"
)
_EVENTS = text(
    "SELECT jsonb_build_object('seq', e.seq, 'kind', e.kind, 'role', e.role, 'name', e.name, 'content', e.content,"
    " 'happened_at', e.happened_at, 'metadata', e.metadata) AS event FROM slowwave.events e"
    " WHERE e.session_id = :session AND (e.seq BETWEEN :before AND :to OR e.seq = ANY(ARRAY("
    "  SELECT t.seq FROM slowwave.events t WHERE t.session_id = :session AND t.seq BETWEEN :earliest AND :until"
    "   AND t.kind IN ('user', 'assistant') ORDER BY t.seq DESC LIMIT :turns)))"
    " AND e.seq BETWEEN :earliest AND :to ORDER BY e.seq"
)
_AGENT = text("SELECT a.id, a.time_zone, a.epoch FROM slowwave.agents a WHERE a.id = :agent")


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of the events. agent: the agent's id."""

    tenant: str
    name: str
    agent: int
    time_zone: str

    @classmethod
    def of(cls, connection: Connection, tenant: str, name: str, agent: int) -> "Owner":
        row = connection.execute(_AGENT, {"agent": agent}).one()
        return cls(tenant, name, agent, row.time_zone)


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a window in the ledger."""

    session: int
    from_seq: int
    to_seq: int


def count_windows(connection: Connection, owner: Owner, *, only_fallback: bool) -> int:
    """Count the windows, including the windows already read."""
    count: int = connection.execute(_COUNT, {"agent": owner.agent, "only_fallback": only_fallback}).scalar_one()
    return count


def places(engine: Engine, owner: Owner, rebuild: int, *, only_fallback: bool) -> Iterator[Place]:
    """Yield windows that this rebuild has not read yet. No transaction is open while the caller works."""
    values: dict[str, Any] = {"agent": owner.agent, "only_fallback": only_fallback, "rebuild": rebuild, "page": _PAGE}
    last = Place(0, 0, 0)
    while True:
        with engine.connect() as connection:
            rows = connection.execute(_PAGE_OF, values | {"session": last.session, "seq": last.from_seq}).all()
        page = [Place(*row) for row in rows]
        yield from page
        if len(page) < _PAGE:
            return
        last = page[-1]


def read_window(engine: Engine, owner: Owner, place: Place) -> tuple[Window, ExtractionContext] | None:
    """Return a window as its flush read it, and the events before it. None: some of its events no longer exist."""
    values = {
        "session": place.session,
        "before": place.from_seq - PRECEDING_EVENTS,
        "earliest": place.from_seq - LOOK_BACK,
        "until": place.from_seq - 1,
        "turns": PRECEDING_TURNS,
        "to": place.to_seq,
    }
    with engine.connect() as connection:
        events = [event_of(event) for event in connection.execute(_EVENTS, values).scalars()]
    preceding = tuple(event for event in events if event.seq < place.from_seq)
    inside = tuple(event for event in events if event.seq >= place.from_seq)
    if len(inside) != place.to_seq - place.from_seq + 1:
        return None
    context = ExtractionContext(owner.name, owner.time_zone, preceding, owner.tenant, session_id=place.session)
    return Window(inside), context
