"""Retry a quarantined event on request. An event is quarantined when every extraction of it fails.

No lease is needed: the watermark is past the event, so no flush can touch the event.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import Engine

from slowwave.identity import SessionRef
from slowwave_server.domain.bare_secrets import without_bare_secrets
from slowwave_server.domain.candidates import Extraction, ExtractionContext, ExtractionOrigin, Extractor, Window
from slowwave_server.services.flush.rows import candidates_json, event_of

_READ = """
SELECT s.id AS session_id, s.scope_id, a.time_zone,
       (SELECT jsonb_agg(jsonb_build_object(
            'seq', e.seq, 'kind', e.kind, 'role', e.role, 'name', e.name, 'content', e.content,
            'happened_at', e.happened_at, 'metadata', e.metadata) ORDER BY e.seq)
        FROM slowwave.events e
        WHERE e.session_id = s.id AND e.seq BETWEEN f.from_seq - %s AND f.from_seq) AS events
FROM slowwave.flushes f
JOIN slowwave.sessions s ON s.id = f.session_id
JOIN slowwave.agents a ON a.id = s.agent_id
WHERE a.tenant = %s AND a.name = %s AND s.name = %s AND f.from_seq = %s AND f.outcome = 'quarantined'
"""
_COMMIT = "SELECT * FROM slowwave.commit_retry(%s, %s, %s, %s, %s, %s, %s, %s, %s)"
PRECEDING = 2


@dataclass(frozen=True, slots=True)
class RetryResult:
    """The result of a retry: processed (stored, no_reply), failed with an error, or gone from quarantine."""

    outcome: Literal["stored", "no_reply", "failed", "gone"]
    stored: int = 0
    error: str | None = None


def retry_quarantined(engine: Engine, extractor: Extractor, ref: SessionRef, seq: int, now: datetime) -> RetryResult:
    """Extract a quarantined event again and commit the result. After a failure it stays in quarantine."""
    with engine.connect() as connection:
        row = connection.exec_driver_sql(_READ, (PRECEDING, ref.tenant, ref.agent, ref.session, seq)).mappings().first()
    if row is None:
        return RetryResult("gone")
    *preceding, event = (event_of(e) for e in row["events"])
    window = Window((event,))
    context = ExtractionContext(ref.agent, row["time_zone"], tuple(preceding), ref.tenant, row["scope_id"])
    try:
        found: Extraction = extractor.extract(window, context, now)
    except Exception as error:  # noqa: BLE001 - whatever an extractor raises is what the caller asked to see
        return RetryResult("failed", error=f"{type(error).__name__}: {error}")
    extraction = without_bare_secrets(found, window, context)
    outcome: Literal["stored", "no_reply"] = "stored" if extraction.candidates else "no_reply"
    made = extraction.made or ExtractionOrigin(extractor.name, extractor.version)
    values = (
        *(row["session_id"], seq, outcome, made.extractor, made.version),
        *(candidates_json(extraction.candidates, (*preceding, event)), extraction.noise, extraction.redactions, now),
    )
    with engine.begin() as connection:
        committed = connection.exec_driver_sql(_COMMIT, values).mappings().one()
    return RetryResult(outcome, committed["stored"]) if committed["committed"] else RetryResult("gone")
