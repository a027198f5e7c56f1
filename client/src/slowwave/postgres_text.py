"""Convert text and metadata to a form that Postgres can store."""

import json
from collections.abc import Mapping
from typing import Any

from slowwave.errors import InvalidMessage, TooLarge

MAX_METADATA_BYTES = 16_384

_REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """Replace characters that Postgres can't store (NUL, halves of surrogate pairs) by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def check_metadata(metadata: Any) -> dict[str, Any]:
    """Return the metadata if it is a JSON object of at most 16 KB. Raises InvalidMessage or TooLarge."""
    if not isinstance(metadata, Mapping):
        raise InvalidMessage(f"metadata must be a mapping, got {type(metadata).__name__}")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        cleaned = _clean_json(json.loads(text))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(f"metadata can't be written as JSON: {error}") from None
    size = len(clean_text(text).encode())
    if size > MAX_METADATA_BYTES:
        raise TooLarge(f"metadata has at most {MAX_METADATA_BYTES:,} bytes as JSON, this one has {size:,}")
    return dict(cleaned)


def _clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _clean_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean_json(item) for item in value]
    return value
