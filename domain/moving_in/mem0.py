"""mem0: the result of `get_all` or an export, and rows of its vector stores, with the same fields in a payload."""

from collections.abc import Mapping
from typing import Any

from slowwave_server.domain.moving_in.records import (
    Broken,
    Entries,
    LeftOut,
    Moved,
    Piece,
    id_of,
    memory_or_broken,
    moment,
    text_of,
)

_LISTS = frozenset(("", "results", "memories", "points"))
_OWNERS = ("user_id", "agent_id", "run_id")


def read(piece: Piece) -> Entries:
    """Yield a memory of mem0. Relations of its graph are only counted: their memories contain the same facts."""
    value = piece.value
    if piece.key == "relations":
        yield LeftOut("relation of the graph")
    elif piece.key not in _LISTS or piece.number == 0:
        yield LeftOut(f"field {piece.key}")
    elif not isinstance(value, Mapping):
        yield Broken(piece.where, "it is not an object")
    else:
        yield from _memory(piece, value)


def _memory(piece: Piece, value: Mapping[str, Any]) -> Entries:
    payload = value.get("payload")
    fields: Mapping[str, Any] = payload if isinstance(payload, Mapping) else value
    origin = id_of(value.get("id"))
    text = text_of(fields.get("memory")) or text_of(fields.get("data"))
    if origin is None or text is None:
        yield Broken(piece.where, "id is missing" if origin is None else "neither memory nor data holds a text")
        return
    owner = next((name for key in _OWNERS if (name := id_of(fields.get(key))) is not None), None)
    yield memory_or_broken(piece, Moved(origin, text, moment(fields.get("created_at")), None, owner))
