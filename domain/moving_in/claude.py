"""Claude's export: conversations with their messages in order, each with its text and its text attachments."""

from collections.abc import Mapping
from typing import Any

from slowwave_server.domain.moving_in.records import Broken, Entries, LeftOut, Piece, id_of, moment, said, text_of

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_ATTACHED_CHARACTERS = 20_000


def read(piece: Piece) -> Entries:
    """Yield a conversation's messages in order."""
    value = piece.value
    if piece.key not in {"", "conversations"} or piece.number == 0:
        yield LeftOut(f"field {piece.key}")
        return
    if not isinstance(value, Mapping):
        yield Broken(piece.where, "it is not an object")
        return
    identity, messages = id_of(value.get("uuid")), value.get("chat_messages")
    if identity is None or not isinstance(messages, list):
        yield Broken(piece.where, "uuid is missing" if identity is None else "chat_messages is missing")
        return
    began = moment(value.get("created_at"))
    for place, message in enumerate(messages, 1):
        where = f"{piece.where}, message {place}"
        if not isinstance(message, Mapping):
            yield Broken(where, "it is not an object")
            continue
        role = _ROLES.get(str(message.get("sender")))
        key = id_of(message.get("uuid"))
        if role is None or key is None:
            yield Broken(where, "uuid is missing" if key is None else "sender is neither human nor assistant")
            continue
        text = _text(message)
        if text is None:
            yield LeftOut("empty message")
            continue
        at = moment(message.get("created_at")) or began
        yield said("claude", identity, key, role, text, at=at)


def _text(message: Mapping[str, Any]) -> str | None:
    """Return a message's text, followed by its text attachments, each cut at its limit."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    spoken = "\n".join(text for text in texts if isinstance(text, str)) or message.get("text")
    attached = message.get("attachments")
    files = [one for one in attached if isinstance(one, Mapping)] if isinstance(attached, list) else []
    further = [
        f"{one.get('file_name') or 'attachment'}:\n{one['extracted_content'][:_ATTACHED_CHARACTERS]}"
        for one in files
        if isinstance(one.get("extracted_content"), str) and one["extracted_content"].strip()
    ]
    return text_of("\n\n".join([spoken if isinstance(spoken, str) else "", *further]))
