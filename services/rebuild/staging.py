"""Store the results of the new extractor beside the live memories until the rebuild switches or is cancelled."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, text

from slowwave_server.domain.candidates import Extraction, Extractor, first_status
from slowwave_server.domain.rebuilding import RebuiltStatement, Witness
from slowwave_server.services.flush.rows import candidates_json
from slowwave_server.services.rebuild.ledger import Owner, Place

_OPEN = text(
    "SELECT r.id, r.extractor = :extractor AND r.extractor_version = :version AND r.only_fallback = :only_fallback"
    " AS goes_on FROM slowwave.rebuilds r WHERE r.agent_id = :agent AND r.state = 'staging' FOR UPDATE"
)
_GIVE_UP = text("DELETE FROM slowwave.rebuilds WHERE id = :rebuild AND state = 'staging'")
_BEGIN = text(
    "INSERT INTO slowwave.rebuilds (agent_id, extractor, extractor_version, only_fallback, started_at, started_by)"
    " VALUES (:agent, :extractor, :version, :only_fallback, :now, :by) RETURNING id"
)
# For a session that was forgotten in the meantime nothing is stored, because its row is deleted.
_KEEP = text(
    "INSERT INTO slowwave.rebuild_windows (rebuild_id, session_id, from_seq, to_seq, candidates, extractor,"
    " extractor_version, tokens, dropped, made_at)"
    " SELECT r.id, s.id, :from_seq, :to_seq, CAST(:candidates AS jsonb), :extractor, :version, :tokens,"
    "  CAST(:dropped AS jsonb), :now"
    " FROM slowwave.rebuilds r, slowwave.sessions s WHERE r.id = :rebuild AND r.state = 'staging' AND s.id = :session"
    " FOR KEY SHARE OF s ON CONFLICT DO NOTHING"
)
_STAGED = text(
    "SELECT s.scope_id, w.session_id, w.candidates FROM slowwave.rebuild_windows w"
    " JOIN slowwave.sessions s ON s.id = w.session_id WHERE w.rebuild_id = :rebuild ORDER BY w.session_id, w.from_seq"
)
_TOTALS = text(
    "SELECT count(*) AS windows, coalesce(sum(w.tokens), 0) AS tokens FROM slowwave.rebuild_windows w"
    " WHERE w.rebuild_id = :rebuild"
)


@dataclass(frozen=True, slots=True)
class Staged:
    """The progress of a rebuild. tokens: the number of tokens that the model spent on stored windows."""

    windows: int
    tokens: int


def open_staging(
    engine: Engine, owner: Owner, extractor: Extractor, *, only_fallback: bool, by: str, now: datetime
) -> int:
    """Return the number of this rebuild, which may continue; one with another extractor is cancelled."""
    values: dict[str, Any] = {
        "agent": owner.agent,
        "extractor": extractor.name,
        "version": extractor.version,
        "only_fallback": only_fallback,
    }
    with engine.begin() as connection:
        begun = connection.execute(_OPEN, values).first()
        if begun is not None and begun.goes_on:
            return int(begun.id)
        if begun is not None:
            connection.execute(_GIVE_UP, {"rebuild": begun.id})
        rebuild: int = connection.execute(_BEGIN, values | {"now": now, "by": by}).scalar_one()
        return rebuild


def keep(
    engine: Engine, rebuild: int, place: Place, extraction: Extraction, extractor: Extractor, now: datetime
) -> None:
    """Store the extraction of one window."""
    made = extraction.made
    values = {
        "rebuild": rebuild,
        "session": place.session,
        "from_seq": place.from_seq,
        "to_seq": place.to_seq,
        "candidates": candidates_json(extraction.candidates),
        "extractor": extractor.name if made is None else made.extractor,
        "version": extractor.version if made is None else made.version,
        "tokens": 0 if made is None else made.tokens,
        "dropped": json.dumps(dict(made.dropped)) if made is not None and made.dropped else None,
        "now": now,
    }
    with engine.begin() as connection:
        connection.execute(_KEEP, values)


def totals(connection: Connection, rebuild: int) -> Staged:
    """Return the totals of the stored windows."""
    row = connection.execute(_TOTALS, {"rebuild": rebuild}).one()
    return Staged(row.windows, int(row.tokens))


def statements(connection: Connection, rebuild: int) -> list[RebuiltStatement]:
    """Yield all statements of the extractor, window by window."""
    found: list[RebuiltStatement] = []
    for row in connection.execute(_STAGED, {"rebuild": rebuild}):
        found.extend(_statement(row.scope_id, row.session_id, said) for said in row.candidates)
    return found


def _statement(scope: int, session: int, said: dict[str, Any]) -> RebuiltStatement:
    holds_from = datetime.fromisoformat(said["valid_from"])
    worth = (said["confidence"], said["importance"], said["trust"], holds_from)
    return RebuiltStatement(
        key=(scope, said["type"], bytes.fromhex(said["hash"])),
        content=said["content"],
        status=first_status(said["type"]),
        confidence=said["confidence"],
        importance=said["importance"],
        trust=said["trust"],
        entities=tuple(said["entities"]),
        reason=said["reason"],
        witnesses=frozenset(Witness(session, seq, *worth) for seq in said["sources"]),
    )
