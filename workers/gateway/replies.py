"""Responses that are JSON already, so that FastAPI does not validate them: its models serve the document."""

import json
from http import HTTPStatus
from typing import Any

from fastapi import Response


def reply(value: Any, status: int = HTTPStatus.OK) -> Response:
    """Return a response with JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return Response(body.encode("utf-8", "replace"), status, media_type="application/json")
