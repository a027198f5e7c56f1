"""Convert events, candidates and passages to and from the forms that Postgres uses."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from slowwave_server.domain.aliases import key_of, learn
from slowwave_server.domain.candidates import Candidate, Window, first_status
from slowwave_server.domain.events import Event
from slowwave_server.domain.languages import DEFAULT, detect, detect_each, main_language
from slowwave_server.domain.passages import parts_of
from slowwave_server.domain.profile import profile_of
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.statements import content_hash

MAX_ERROR_CHARACTERS = 2000
MAX_BEFORE = 400
"""Characters of an event before the window that are the context of its first events: its end."""


def event_of(row: dict[str, Any]) -> Event:
    """Return an event from its JSON form in the database."""
    return Event(
        seq=row["seq"],
        kind=row["kind"],
        role=row["role"],
        content=row["content"],
        happened_at=datetime.fromisoformat(row["happened_at"]),
        name=row["name"],
        metadata=row["metadata"] or {},
    )


def candidate_row(candidate: Candidate, language: str) -> dict[str, Any]:
    """Return a candidate as `store_memory` takes it. language: the conversation's, for statements too short to tell."""
    return {
        "content": candidate.content,
        "hash": content_hash(candidate.content).hex(),
        "type": candidate.type,
        "status": first_status(candidate.type),
        "confidence": candidate.confidence,
        "importance": candidate.importance,
        "trust": candidate.trust,
        "entities": list(candidate.entities),
        "valid_from": candidate.valid_from.isoformat(),
        "sources": list(candidate.sources),
        "reason": ", ".join(candidate.signals),
        "language": detect(candidate.content, language),
        "profile": [trait.to_json() for trait in profile_of(candidate.content, candidate.type)],
        "repeats": None if candidate.repeats is None else str(candidate.repeats),
        "corrects": None if candidate.corrects is None else str(candidate.corrects),
    }


def candidates_json(candidates: tuple[Candidate, ...], events: Iterable[Event] = ()) -> str:
    """Return candidates as the database takes them, in the order of its locks. events: their source events."""
    if not candidates:
        return "[]"
    language = main_language(event.content for event in events if event.kind != "tool")
    rows = sorted((candidate_row(c, language) for c in candidates), key=lambda row: (row["type"], row["hash"]))
    return json.dumps(rows)


def aliases_json(events: Iterable[Event]) -> str | None:
    """Return the aliases that events teach as the database takes them, in the order of its locks."""
    rows = [
        {"name": one.name, "alias": one.alias, "name_key": key_of(one.name), "alias_key": key_of(one.alias)}
        | {"sources": list(one.sources)}
        for one in learn(events)
    ]
    return json.dumps(sorted(rows, key=lambda row: (row["name_key"], row["alias_key"]))) if rows else None


def passages_json(window: Window, preceding: tuple[Event, ...]) -> str:
    """Return the window as search reads it: redacted, in passages, with the two spoken events before it as context."""
    before = [event for event in preceding if event.kind != "tool"]
    said = [event for event in (*before[-2:], *window.events) if event.kind != "tool"]
    # Tool output is text of no language; the English configuration leaves its words nearly unchanged.
    languages = detect_each([event.content for event in said], [event.content for event in before[:-2]])
    spoken = {event.seq: language for event, language in zip(said, languages, strict=True)}
    earlier = [_searched(event, spoken[event.seq]) for event in before[-2:]]
    inside = [_searched(event, spoken.get(event.seq, DEFAULT)) for event in window.events]
    cut = [event | {"text": event["text"][-MAX_BEFORE:]} for event in earlier]
    return json.dumps([*cut, *(event | parts_of(event["text"]) for event in inside)])


def _searched(event: Event, language: str) -> dict[str, Any]:
    redacted = redact(event.content)
    row: dict[str, Any] = {
        "seq": event.seq,
        "text": redacted.text,
        "speaker": event.name or event.kind,
        "at": event.happened_at.isoformat(),
        "language": language,
    }
    if event.kind == "tool":
        # Every tool event would contain the word "tool".
        row |= {"tool": True, "speaker": event.metadata.get("tool") or ""}
    return row | {"redacted": True} if redacted.kinds else row


def clean_error(error: str) -> str:
    """Return an error's text in a form that may be stored: without NUL, without secrets, limited in length."""
    return redact(error.replace("\0", "\ufffd")[:MAX_ERROR_CHARACTERS]).text
