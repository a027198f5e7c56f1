"""Letta: an agent file with its memory blocks and messages (both schemas), or a MemFS folder of Markdown.

A block and a Markdown file contain many statements; each line with a statement becomes one memory. Ids in an agent file
count from 0 in every file, so the id of an imported entry includes a digest of the entry's text.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from slowwave_server.domain.moving_in.json_stream import parse
from slowwave_server.domain.moving_in.records import (
    Broken,
    Entries,
    LeftOut,
    Moved,
    Piece,
    clean_name,
    digest_of,
    id_of,
    memory_or_broken,
    moment,
    said,
    text_of,
)

TEXT_FILE = "text"
"""The key of a piece that is a whole text file."""
_FRONT = re.compile(r"\A---[ \t]*\r?\n.*?\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_BULLET = re.compile(r"\A(?:[-*+]|\d{1,3}[.)])[ \t]+")
_NO_STATEMENT = re.compile(r"\A(?:#{1,6}[ \t]|```|~~~|<!--|[-*_=]{3,}$|\|[-: |]+\|$)")
_BLOCKS = frozenset(("blocks", "core_memory"))
_PASSAGES = frozenset(("passages", "archival_memory", "archival_passages"))


def read(piece: Piece) -> Entries:
    """Yield the entries of a block, a passage, an agent with its messages, a message, or a Markdown file."""
    value = piece.value
    if piece.key == TEXT_FILE and isinstance(value, str):
        yield from _lines(piece, piece.path, _FRONT.sub("", value, count=1), piece.at)
    elif piece.number == 0 or piece.key not in {"agents", "messages", *_BLOCKS, *_PASSAGES}:
        yield LeftOut(f"field {piece.key}" if piece.number == 0 else f"entry of {piece.key}")
    elif not isinstance(value, Mapping):
        yield Broken(piece.where, "it is not an object")
    elif piece.key in _BLOCKS:
        yield from _block(piece, value)
    elif piece.key in _PASSAGES:
        yield _passage(piece, value)
    elif piece.key == "messages":
        yield from _message(piece.where, "agent", value)
    else:
        yield from _agent(piece, value)


def _block(piece: Piece, value: Mapping[str, Any]) -> Entries:
    label, text = clean_name(id_of(value.get("label"))) or "block", value.get("value")
    if not isinstance(text, str):
        yield Broken(piece.where, "value holds no text")
        return
    yield from _lines(piece, label, text, moment(value.get("updated_at")) or moment(value.get("created_at")))


def _lines(piece: Piece, place: str, text: str, at: Any) -> Iterator[Moved | Broken | LeftOut]:
    """Yield a memory for each line with a statement; headings, rules and fences are not statements."""
    seen: set[str] = set()
    for number, raw in enumerate(text.splitlines(), 1):
        line = text_of(_BULLET.sub("", raw.strip()))
        if line is None:
            continue
        if _NO_STATEMENT.match(line) or not any(one.isalnum() for one in line):
            yield LeftOut("heading or rule")
            continue
        origin = f"{place[:100]}#{digest_of(line)}"
        if origin in seen:
            yield LeftOut("line that stands there twice")
            continue
        seen.add(origin)
        found = memory_or_broken(piece._replace(number=number, key=f"{place} line"), Moved(origin, line, at))
        if isinstance(found, (Moved, Broken)):
            yield found


def _passage(piece: Piece, value: Mapping[str, Any]) -> Any:
    text = text_of(value.get("text"))
    if text is None:
        return Broken(piece.where, "text is missing")
    origin = id_of(value.get("id"))
    # "passage-7" counts from 0 in every file; an id with a UUID is unique.
    own = origin if origin is not None and len(origin) > 36 else f"passage#{digest_of(text)}"  # noqa: PLR2004 - a UUID
    return memory_or_broken(piece, Moved(own, text, moment(value.get("created_at"))))


def _agent(piece: Piece, value: Mapping[str, Any]) -> Entries:
    name = clean_name(id_of(value.get("name"))) or "agent"
    for key in ("messages", "memory_blocks"):
        inner = value.get(key)
        for number, one in enumerate(inner if isinstance(inner, list) else [], 1):
            where = f"{piece.where}, {key} {number}"
            if not isinstance(one, Mapping):
                yield Broken(where, "it is not an object")
            elif key == "messages":
                yield from _message(where, name, one)
            else:
                yield from _block(piece, one)


def _message(where: str, agent: str, value: Mapping[str, Any]) -> Entries:
    role = value.get("role")
    if role not in ("user", "assistant"):
        yield LeftOut("system or tool message")
        return
    at = moment(value.get("created_at"))
    text = _text(value.get("content"), value.get("text"))
    text = _unpacked(text or "") if role == "user" else _sent(value.get("tool_calls")) or text
    if text is None:
        yield LeftOut("message without a text, or a note of Letta's own")
        return
    identity = id_of(value.get("id")) or where.rsplit(" ", 1)[-1]
    key = f"{agent}/{identity[:60]}/{digest_of(str(value.get('created_at')), text)}"[:180]
    yield said("letta", agent, key, role, text, at=at)


def _text(content: Any, older: Any) -> str | None:
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return text_of("\n".join(text for text in texts if isinstance(text, str)))
    return text_of(content) or text_of(older)


def _unpacked(text: str) -> str | None:
    """Return a user's text and time from Letta's JSON. Logins and heartbeats have the same form."""
    if not text.startswith("{"):
        return text or None
    try:
        packed = parse(text)
    except ValueError:
        return text
    if not isinstance(packed, dict) or "type" not in packed:
        return text
    return text_of(packed.get("message")) if packed["type"] == "user_message" else None


def _sent(calls: Any) -> str | None:
    """Return what an older assistant sent by the tool send_message; its `content` then holds only thoughts."""
    texts: list[str] = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping) or function.get("name") != "send_message":
            continue
        arguments = function.get("arguments")
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            continue
        text = text_of(given.get("message")) if isinstance(given, dict) else None
        texts += [text] if text else []
    return "\n".join(texts) or None
