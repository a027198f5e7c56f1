"""Responses that are already JSON: FastAPI need not validate them again; its models only feed the OpenAPI document."""

import json
from http import HTTPStatus
from typing import Any

from fastapi import Response


def reply(value: Any, status: int = HTTPStatus.OK) -> Response:
    """An answer of JSON."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return Response(body.encode("utf-8", "replace"), status, media_type="application/json")
