"""A memory in mem0's form, under its own id. Metadata are texts and numbers: some vector stores accept no others."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

ID = "slowwave_id"
EMBEDDER = "slowwave_embedder"


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a memory: a scope (kind: agent, room, team) of a tenant."""

    tenant: str
    kind: str
    name: str

    def entities(self) -> dict[str, str]:
        """The owner's ids in mem0; every call names all of them (I8).

        Names are encoded, because mem0 strips spaces at the ends of an id, rejects spaces within, and treats `*` as a
        wildcard.
        """
        return {"user_id": quote(self.tenant, safe=""), "agent_id": quote(f"{self.kind}:{self.name}", safe=":")}


@dataclass(frozen=True, slots=True)
class Copy:
    """A memory in mem0's form. Times are aware; sources: (session, seq) of its events."""

    id: UUID
    content: str
    type: str
    status: str
    confidence: float
    importance: float
    trust: str
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    superseded_by: UUID | None
    sources: tuple[tuple[str, int], ...]

    def metadata(self, embedder: str) -> dict[str, Any]:
        """Return metadata that depends on the memory only, so that a second delivery changes nothing."""
        optional = {
            "valid_to": None if self.valid_to is None else self.valid_to.isoformat(),
            "superseded_by": None if self.superseded_by is None else str(self.superseded_by),
        }
        return {
            ID: str(self.id),
            EMBEDDER: embedder,
            "type": self.type,
            "status": self.status,
            "confidence": self.confidence,
            "importance": self.importance,
            "trust": self.trust,
            "valid_from": self.valid_from.isoformat(),
            "sources": json.dumps([list(source) for source in self.sources]),
            "created_at": self.recorded_at.isoformat(),
        } | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Found:
    """A copy that a search found. score: a number, higher is better, comparable between scopes of one question."""

    id: str
    content: str
    score: float
    type: str
    status: str
    valid_from: datetime
    superseded_by: str | None
    sources: tuple[tuple[str, int], ...]


def found_of(result: Mapping[str, Any]) -> Found | None:
    """Parse one of mem0's results; None if it is not a copy that Slowwave made."""
    told: Mapping[str, Any] = result.get("metadata") or {}
    details: Mapping[str, Any] = result.get("score_details") or {}
    try:
        return Found(
            id=str(UUID(told[ID])),
            content=str(result["memory"]),
            # mem0 divides the score by the maximum of its signals, which differs between scopes.
            score=float(details.get("raw_score", result.get("score") or 0.0)),
            type=str(told["type"]),
            status=str(told["status"]),
            valid_from=datetime.fromisoformat(told["valid_from"]),
            superseded_by=told.get("superseded_by"),
            sources=tuple((str(name), int(seq)) for name, seq in json.loads(told["sources"])),
        )
    except (KeyError, TypeError, ValueError):
        return None
