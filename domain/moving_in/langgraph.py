"""LangGraph's store, which LangMem uses: items with a namespace, a key and a value of any shape."""

import json
from collections.abc import Mapping
from typing import Any

from slowwave_server.domain.moving_in.json_stream import parse
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

_TEXTS = ("content", "text", "memory", "data", "fact", "value")
_DEPTH = 3


def read(piece: Piece) -> Entries:
    """Yield the memory of a store item, as returned by `search` or as a row of the store's table."""
    item = piece.value
    if piece.number == 0:
        yield LeftOut(f"field {piece.key}")
        return
    if not isinstance(item, Mapping):
        yield Broken(piece.where, "it is not an object")
        return
    namespace = item["namespace"] if "namespace" in item else item.get("prefix")
    key = id_of(item.get("key"))
    if key is None or not isinstance(namespace, (list, tuple, str)):
        yield Broken(piece.where, "key is missing" if key is None else "namespace is missing")
        return
    names = namespace.split(".") if isinstance(namespace, str) else [str(name) for name in namespace]
    try:
        value = parse(item["value"]) if isinstance(item.get("value"), (str, bytes)) else item.get("value")
    except ValueError as error:
        yield Broken(piece.where, f"value is not JSON: {error}"[:200])
        return
    text = _text(value, 0)
    if text is None:
        yield LeftOut("item without a text")
        return
    at = moment(item.get("created_at")) or moment(item.get("updated_at"))
    origin = "/".join((*names, key))
    yield memory_or_broken(piece, Moved(id_of(origin) or key, text, at, None, id_of(".".join(names))))


def _text(value: Any, depth: int) -> str | None:
    """Return an item's text: its one text field, else all fields with their names."""
    if isinstance(value, str):
        return text_of(value)
    if not isinstance(value, Mapping) or depth > _DEPTH:
        return None
    telling = [name for name in _TEXTS if name in value]
    rest = value.keys() - {"kind", "metadata", "id", *telling[:1]}
    if telling and not rest:
        return _text(value[telling[0]], depth + 1)
    if "kind" in value and "content" in value:
        return _text(value["content"], depth + 1)
    told = [f"{name}: {_short(inner)}" for name, inner in value.items() if inner not in (None, "", [], {})]
    return text_of("; ".join(told))


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, default=str)
