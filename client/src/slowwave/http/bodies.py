"""Request bodies as JSON, with the same checks as the client without a gateway."""

import json
from collections.abc import Mapping
from typing import Any

from slowwave.errors import InvalidMessage
from slowwave.messages import Message, moment_of

_FIELDS = ("role", "content", "name", "metadata", "key", "tool_calls", "function_call", "tool_call_id", "is_error")


def message_json(message: Message | Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a message that Slowwave reads. Raises InvalidMessage if they are not JSON."""
    fields: Mapping[str, Any] = message.__dict__ if isinstance(message, Message) else message
    body = {name: fields[name] for name in _FIELDS if fields.get(name) is not None}
    if fields.get("at") is not None:
        body["at"] = moment_of(fields["at"])
    try:
        json.dumps(body)
    except (TypeError, ValueError, RecursionError):
        raise InvalidMessage("a message over HTTP must be JSON: text, numbers, lists and mappings") from None
    return body


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
