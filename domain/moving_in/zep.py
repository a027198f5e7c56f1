"""Zep and Graphiti: edges are facts with start and end of validity, episodes are messages.

The fields of an entry show its type, so one file with three lists is read like one file per list.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from slowwave_server.domain.moving_in.records import (
    Broken,
    Entries,
    Entry,
    LeftOut,
    Moved,
    Piece,
    id_of,
    memory_or_broken,
    moment,
    said,
    text_of,
)

_GROUPS = ("group_id", "graph_id", "user_id")
_CONVERSATIONS = ("thread_id", "session_id", "group_id", "graph_id", "user_id")
_ROLES = {"assistant": "assistant", "ai": "assistant", "user": "user", "human": "user", "system": "system"}
_SPEAKER = re.compile(r"(?P<name>\w[\w .'-]{0,60}?) ?(?:\((?P<role>user|human|assistant|ai|system)\))?: +(?=\S)")


def read(piece: Piece) -> Entries:
    """Yield the entries of an edge, an episode or a node."""
    value = piece.value
    if piece.number == 0:
        yield LeftOut(f"field {piece.key}")
    elif not isinstance(value, Mapping):
        yield Broken(piece.where, "it is not an object")
    elif (origin := id_of(value.get("uuid"))) is None:
        yield Broken(piece.where, "uuid is missing")
    elif "fact" in value:
        yield _edge(piece, origin, value)
    elif "content" in value:
        yield from _episode(origin, value)
    elif "summary" in value or "labels" in value:
        yield LeftOut("entity (its edges are taken over)")
    else:
        yield LeftOut("link between an episode and an entity")


def _edge(piece: Piece, origin: str, value: Mapping[str, Any]) -> Entry:
    text = text_of(value["fact"])
    if text is None:
        return Broken(piece.where, "fact holds no text")
    at = moment(value.get("valid_at")) or moment(value.get("created_at"))
    until = moment(value.get("invalid_at")) or moment(value.get("expired_at"))
    if at is not None and until is not None and until < at:
        return Broken(piece.where, "it ends before it begins")
    return memory_or_broken(piece, Moved(origin, text, at, until, _first(value, _GROUPS)))


def _episode(origin: str, value: Mapping[str, Any]) -> Entries:
    text = text_of(value["content"])
    if text is None:
        yield LeftOut("empty episode")
        return
    at = moment(value.get("valid_at")) or moment(value.get("created_at"))
    conversation = _first(value, _CONVERSATIONS) or "episodes"
    role = _ROLES.get(str(value.get("role_type") or value.get("role") or "user").lower(), "user")
    is_talk = value.get("source") in ("message", None) and "role_type" not in value
    parts = list(_speakers(text)) if is_talk else [(None, None, text)]
    for place, (name, own_role, content) in enumerate(parts):
        key = origin if place == 0 else f"{origin}/{place + 1}"
        spoken = _ROLES.get(own_role or "", role)
        if spoken == "system":
            yield LeftOut("system message")
            continue
        more = {} if name is None else {"name": name}
        yield said("zep", conversation, key, spoken, content, at=at, owner=_first(value, _GROUPS), **more)


def _speakers(text: str) -> Iterator[tuple[str | None, str | None, str]]:
    """Yield the turns of a text with speaker prefixes: (name, role, text)."""
    parts: list[tuple[str | None, str | None, list[str]]] = []
    for raw in text.split("\n"):
        line, found = raw, _SPEAKER.match(raw)
        if found is not None and found["role"] is None and parts and parts[0][0] is None:
            found = None
        if found is not None:
            name = found["name"].strip()
            parts.append((None if name.lower() in _ROLES else name, found["role"] or name.lower(), []))
            line = raw[found.end() :]
        elif not parts:
            parts.append((None, None, []))
        parts[-1][2].append(line)
    for name, role, lines in parts:
        yield name, role if role in _ROLES else None, "\n".join(lines).strip()


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := id_of(value.get(name))) is not None), None)
