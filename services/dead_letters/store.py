"""Store dead letters: refused payloads with their error, until a person decides."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, or_

from slowwave_server.models import DeadLetter

MAX_PAYLOAD_CHARACTERS = 1_000_000
MAX_ERROR_CHARACTERS = 4000
NAMES = ("agent", "session", "scope")
MAX_NAME = 1000


def store_dead_letter(
    connection: Connection, *, task: str, tenant: str | None, payload: Mapping[str, Any], error: str, now: datetime
) -> int:
    """Store a refused payload; return the dead letter's id.

    A payload that is too large, or that Postgres can't store as JSON, is stored as shortened text with a mark. The
    names in it are stored beside the text, so that a forget of these names finds it.
    """
    text, whole = _written(payload)
    if not whole or len(text) > MAX_PAYLOAD_CHARACTERS:
        named = {name: payload[name][:MAX_NAME] for name in NAMES if isinstance(payload.get(name), str)}
        cut = {"cut": text[:MAX_PAYLOAD_CHARACTERS], "characters": len(text), **named}
        text, _ = _written(cut)
    letter: int = connection.exec_driver_sql(
        "INSERT INTO slowwave.dead_letters (tenant, task, payload, error, created_at)"
        " VALUES (%s, %s, %s, %s, %s) RETURNING id",
        (None if tenant is None else _storable(tenant), task, text, _storable(error)[:MAX_ERROR_CHARACTERS], now),
    ).scalar_one()
    return letter


def _written(payload: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the payload as text, and True if Postgres takes it as JSON; "" and False if it is nested too deeply."""
    for strict in (True, False):
        try:
            # Python reads and writes NaN and Infinity, which are not JSON.
            text = json.dumps(payload, default=repr, ensure_ascii=False, allow_nan=not strict)
        except (ValueError, RecursionError):
            continue
        return _storable(text.replace("\\u0000", "\\ufffd")), strict
    return "", False


def _storable(text: str) -> str:
    """Remove characters that JSON allows and Postgres rejects: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def of_tenant(tenant: str, *, nobodys: bool = True) -> ColumnElement[bool]:
    """Return SQL for dead letters that an operator may see. nobodys: also those without a readable tenant."""
    if not nobodys:
        return DeadLetter.tenant == tenant
    return or_(DeadLetter.tenant == tenant, DeadLetter.tenant.is_(None))
