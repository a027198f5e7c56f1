"""Read ChatGPT's export: a conversation is a tree of messages, read from the root to `current_node`."""

from collections.abc import Mapping
from typing import Any

from slowwave_server.domain.moving_in.records import Broken, Entries, LeftOut, Piece, id_of, moment, said, text_of

_ROLES = {"user": "user", "assistant": "assistant"}
_SPOKEN = frozenset(("text", "multimodal_text"))


def read(piece: Piece) -> Entries:
    """Yield a conversation's messages in order."""
    value = piece.value
    if piece.key or piece.number == 0:
        yield LeftOut(f"field {piece.key}")
        return
    if not isinstance(value, Mapping):
        yield Broken(piece.where, "it is not an object")
        return
    identity = id_of(value.get("conversation_id")) or id_of(value.get("id"))
    mapping = value.get("mapping")
    if identity is None or not isinstance(mapping, Mapping):
        yield Broken(piece.where, "id is missing" if identity is None else "mapping is missing")
        return
    began = moment(value.get("create_time"))
    path = _path(mapping, value.get("current_node"))
    for node in path:
        yield from _message(piece, identity, node, mapping[node], began)
    for node in mapping.keys() - set(path):
        inner = mapping[node]
        if isinstance(inner, Mapping) and isinstance(inner.get("message"), Mapping):
            yield LeftOut("message of a branch that was left")


def _path(mapping: Mapping[str, Any], current: Any) -> list[str]:
    """Return the nodes from the root to the current node, or to the newest node if the export names no current one."""
    at = current if isinstance(current, str) and current in mapping else _newest(mapping)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in mapping and at not in seen:
        seen.add(at)
        path.append(at)
        node = mapping[at]
        at = node.get("parent") if isinstance(node, Mapping) else None
    return path[::-1]


def _newest(mapping: Mapping[str, Any]) -> str | None:
    made: dict[str, float] = {}
    for name, node in mapping.items():
        message = node.get("message") if isinstance(node, Mapping) else None
        at = moment(message.get("create_time")) if isinstance(message, Mapping) else None
        if at is not None:
            made[name] = at.timestamp()
    return max(made, key=lambda name: made[name]) if made else None


def _message(piece: Piece, conversation: str, node: str, value: Any, began: Any) -> Entries:
    message = value.get("message") if isinstance(value, Mapping) else None
    if message is None:
        return  # the root of every tree
    author = message.get("author") if isinstance(message, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        yield Broken(f"{piece.where}, message {node[:60]}", "it has no author or no content")
        return
    role = _ROLES.get(str(author.get("role")))
    metadata = message.get("metadata")
    hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation")
    if role is None or hidden or message.get("weight") == 0:
        yield LeftOut("system, tool or hidden message")
        return
    if str(content.get("content_type", "text")) not in _SPOKEN:
        yield LeftOut(f"content of the kind {str(content.get('content_type'))[:40]}")
        return
    text = _text(content.get("parts"))
    if text is None:
        yield LeftOut("empty message")
        return
    at = moment(message.get("create_time")) or began
    yield said("chatgpt", conversation, id_of(message.get("id")) or node[:150], role, text, at=at)


def _text(parts: Any) -> str | None:
    """Return typed or spoken text. For a picture, the export contains only a reference."""
    if not isinstance(parts, list):
        return None
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, (str, Mapping))]
    return text_of("\n".join(text for text in texts if isinstance(text, str) and text.strip()))
