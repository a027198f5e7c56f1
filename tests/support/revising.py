"""A memory as consolidation reads it, with everything that a test does not name."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.statements import content_hash


def revision(content: str, at: datetime, *, trust: str = "user", **more: Any) -> MemoryRevision:
    """A live memory of its own event at this time; more: other fields."""
    fields: dict[str, Any] = {
        "id": uuid4(),
        "scope_id": 1,
        "type": "fact",
        "content": content,
        "content_hash": content_hash(content),
        "status": "inbox",
        "confidence": 0.7,
        "importance": 0.6,
        "trust": trust,
        "entities": (),
        "valid_from": at,
        "reaffirmed_at": at,
        "valid_to": None,
        "superseded_by": None,
        "merged_into": None,
        "archive_reason": None,
        "revision": 0,
        "recorded_at": at,
        "own_from": at,
        "own_trust": trust,
    }
    return MemoryRevision(**fields | more)
