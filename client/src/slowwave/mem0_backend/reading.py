"""Search in mem0 for a reader: one query for each of its scopes, one ranked list of hits.

    scopes ──▶ mem0, each by its own names ──▶ copies, best first
                                                  │  only copies of memories that Postgres has in these scopes ▼ hits

A memory that was just forgotten, archived or moved may still have a copy. Postgres decides whether a memory exists,
mem0 decides its text and its rank. A copy that a forget wants to rewrite still contains forgotten text (I10), so it is
hidden until it is rewritten.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg import Connection

from slowwave.call_timeout import CallTimedOut
from slowwave.embedding import EmbeddingFailed
from slowwave.mem0_backend.connecting import Mem0Connection
from slowwave.mem0_backend.copies import Found, Owner
from slowwave.mem0_backend.copy_store import CopyStore, Mem0Failed
from slowwave.recall.hits import Hit, choose, hit_of
from slowwave.recall.pairing import pairing_steps
from slowwave.recall.query_plan import clean_question
from slowwave.recall.query_steps import Row, run
from slowwave.recall.scopes import Reader, scope_label
from slowwave.recall.search import check_question

log = logging.getLogger(__name__)

MARGIN = 10
MOST = 400
"""So many copies of a scope are asked for at most, however many of them turn out to be hidden."""

_THERE = (
    "SELECT m.id::text, k.kind, k.name, k.id FROM slowwave.memories m JOIN slowwave.scopes k ON k.id = m.scope_id"
    " JOIN unnest(%(kinds)s::text[], %(names)s::text[]) AS r (kind, name) ON (r.kind, r.name) = (k.kind, k.name)"
    " WHERE k.tenant = %(tenant)s AND m.id = ANY (%(ids)s::uuid[]) AND m.status <> 'archived'"
    " AND (m.status <> 'review' OR %(review)s)"
    " AND NOT EXISTS (SELECT FROM slowwave.outbox o WHERE o.memory_id = m.id AND o.backend = 'mem0' AND o.forgotten"
    "  AND o.delivered < o.changes)"
)

Read = Callable[[Callable[[Connection[Any]], list[Any]]], list[Any]]
"""Runs something on a connection to Postgres."""


def find(
    connection: Mem0Connection, read: Read, reader: Reader, question: str, *, limit: int, include_review: bool = False
) -> list[Hit] | None:
    """Return memories that answer a query, best first; None, with a log line, if mem0 does not answer in time.

    Raises InvalidQuery, InvalidSettings, and the exceptions of `read`.
    """
    check_question(question, limit)
    asked = clean_question(question).strip()
    if not asked:
        return []
    try:
        return connection.call_timeout.run(
            lambda: _find(connection.store(), read, reader, asked, limit, include_review=include_review)
        )
    except (Mem0Failed, EmbeddingFailed, CallTimedOut) as error:
        log.warning("mem0 did not answer, Postgres does: %s", error)
        return None


def _find(
    store: CopyStore, read: Read, reader: Reader, question: str, limit: int, *, include_review: bool
) -> list[Hit]:
    wanted = limit + MARGIN
    while True:
        found = {scope: store.search(Owner(reader.tenant, *scope), question, wanted) for scope in reader.scopes}
        copies = [(scope, copy) for scope, copies in found.items() for copy in copies]
        there = _there(read, reader, [copy.id for _, copy in copies], include_review=include_review)
        seen = [(place, copy) for scope, copy in copies if (place := there.get((copy.id, *scope))) is not None]
        more = any(len(copies) == wanted for copies in found.values())
        if len(seen) >= limit or not more or wanted >= MOST:
            labels = {place: scope_label(*key[1:]) for key, place in there.items()}
            return _paired(read, _hits(seen, labels, limit), labels, limit)
        wanted = min(2 * wanted, MOST)


def _paired(read: Read, hits: list[Hit], labels: Mapping[int, str | None], limit: int) -> list[Hit]:
    return _falling(read(lambda connection: run(connection, pairing_steps(hits, labels, limit))))


def _falling(hits: list[Hit]) -> list[Hit]:
    """Return the hits in order, with scores that never rise.

    A current value comes before the value that it replaced, and the two sides of a contradiction stand next to each
    other, whatever their scores in mem0 are.
    """
    most, fallen = float("-inf"), []
    for hit in reversed(hits):
        most = max(most, hit.score)
        fallen.append(hit if hit.score == most else replace(hit, score=most))
    return fallen[::-1]


def _there(read: Read, reader: Reader, ids: Sequence[str], *, include_review: bool) -> dict[tuple[str, str, str], int]:
    """Return the copies whose memory exists, as (id, kind, name), and the ids of their scopes."""
    if not ids:
        return {}
    kinds, names = zip(*reader.scopes, strict=True)
    whose = {"tenant": reader.tenant, "kinds": list(kinds), "names": list(names)}
    values = {**whose, "ids": list(ids), "review": include_review}
    rows = read(lambda connection: connection.execute(_THERE, values).fetchall())
    return {(memory, kind, name): place for memory, kind, name, place in rows}


def _hits(seen: Sequence[tuple[int, Found]], labels: Mapping[int, str | None], limit: int) -> list[Hit]:
    rows: list[Row] = [
        {
            "id": copy.id,
            "seq": None,
            "content": copy.content,
            "score": copy.score,
            "status": copy.status,
            "valid_from": copy.valid_from,
            "scope_id": place,
            "type": copy.type,
            "speaker": None,
            "superseded_by": copy.superseded_by,
            "sources": [(name, name, seq) for name, seq in copy.sources],
        }
        for place, copy in seen
    ]
    rows.sort(key=lambda row: (-row["score"], row["id"]))
    return [hit_of(row, row["score"], labels) for row in choose(rows, limit)]
