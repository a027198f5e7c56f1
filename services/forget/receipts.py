"""Receipts of forgets, and the fences that keep forgotten data from coming back (I10)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, text, update

from slowwave_server.models import Erasure
from slowwave_server.services.forget.target import Target

_FENCE = (
    " ON CONFLICT (tenant, agent, session) DO UPDATE SET erased_at = greatest(n.erased_at, excluded.erased_at),"
    " erasure_id = excluded.erasure_id"
)
_NAMED = (
    "INSERT INTO slowwave.erased_names AS n (tenant, agent, session, erased_at, erasure_id)"
    " VALUES (:tenant, :agent, :session, :at, :erasure)" + _FENCE
)
_SESSIONS = (
    "INSERT INTO slowwave.erased_names AS n (tenant, agent, session, erased_at, erasure_id)"
    " SELECT a.tenant, a.name, g.name, :at, :erasure FROM gone_sessions g"
    " JOIN slowwave.agents a ON a.id = g.agent_id" + _FENCE
)

_SAME = (
    "e.tenant = :tenant AND e.kind = :kind AND e.agent IS NOT DISTINCT FROM CAST(:agent AS text)"
    " AND e.session IS NOT DISTINCT FROM CAST(:session AS text) AND e.scope IS NOT DISTINCT FROM CAST(:scope AS text)"
    " AND e.memory_id IS NOT DISTINCT FROM CAST(:memory AS uuid)"
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """One forget: its target, its time, the person, and the number of deleted rows, messages and files by kind."""

    id: int
    what: str
    target: str
    at: datetime
    by: str | None
    counts: dict[str, int]


def write_receipt(connection: Connection, target: Target, *, at: datetime, by: str, counts: Mapping[str, int]) -> int:
    """Write the receipt and the fence in the transaction of the forget. Return the receipt's number.

    at: the time of the fence. Queued data that was recorded before this time is discarded when it arrives.
    """
    named = _named(target)
    named["memory_id"] = named.pop("memory")
    values = {**named, "erased_at": at, "erased_by": by, "counts": dict(counts)}
    erasure: int = connection.execute(insert(Erasure).values(**values).returning(Erasure.id)).scalar_one()
    fence: dict[str, Any] = {"tenant": target.tenant, "at": at, "erasure": erasure}
    if target.kind in {"agent", "session"}:
        connection.execute(text(_NAMED), fence | {"agent": target.agent, "session": target.session or ""})
    elif target.kind in {"scope", "import"}:
        if target.kind == "scope":
            connection.execute(text(_NAMED), fence | {"agent": "", "session": target.scope_label})
        connection.execute(text(_SESSIONS), fence)
    return erasure


def add_counts(connection: Connection, erasure: int, counts: Mapping[str, int]) -> None:
    """Add to a receipt the counts of data that was deleted outside Postgres."""
    known = connection.execute(select(Erasure.counts).where(Erasure.id == erasure)).scalar_one()
    connection.execute(update(Erasure).where(Erasure.id == erasure).values(counts={**known, **counts}))


def was_forgotten(connection: Connection, target: Target) -> bool:
    """Return True if exactly this target has a receipt."""
    query = text(f"SELECT EXISTS (SELECT FROM slowwave.erasures e WHERE {_SAME})")
    return bool(connection.execute(query, _named(target)).scalar_one())


def _named(target: Target) -> dict[str, Any]:
    return {
        "tenant": target.tenant,
        "kind": target.kind,
        "agent": target.agent,
        "session": target.session,
        "scope": target.scope_label,
        "memory": target.memory,
    }


def receipts(connection: Connection, tenant: str, *, limit: int) -> Sequence[Receipt]:
    """List the receipts of a tenant, newest first."""
    query = select(Erasure).where(Erasure.tenant == tenant).order_by(Erasure.id.desc()).limit(limit)
    return [_receipt(row) for row in connection.execute(query).mappings()]


def _receipt(row: Any) -> Receipt:
    kind, _, name = (row["scope"] or "").partition(":")
    target = Target(
        row["kind"], row["tenant"], row["agent"], row["session"], (kind, name) if kind else None, row["memory_id"]
    )
    return Receipt(row["id"], row["kind"], str(target), row["erased_at"], row["erased_by"], row["counts"])
