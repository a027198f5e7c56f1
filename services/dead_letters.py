"""Dead letters: payloads that could not be taken, kept with their error until someone decides.

Must not know: which task refused them or how they are sent again.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

MAX_PAYLOAD_CHARACTERS = 1_000_000
MAX_ERROR_CHARACTERS = 4000


def bury(
    connection: Connection, *, task: str, tenant: str | None, payload: Mapping[str, Any], error: str, now: datetime
) -> int:
    """Keep a payload that can't be taken; answers the letter's id. Larger payloads are kept as cut text, and say so."""
    text = json.dumps(payload, default=repr).replace("\\u0000", "\\ufffd")
    if len(text) > MAX_PAYLOAD_CHARACTERS:
        text = json.dumps({"cut": text[:MAX_PAYLOAD_CHARACTERS], "characters": len(text)})
    letter: int = connection.exec_driver_sql(
        "INSERT INTO slowwave.dead_letters (tenant, task, payload, error, created_at)"
        " VALUES (%s, %s, %s, %s, %s) RETURNING id",
        (tenant, task, text, error.replace("\0", "\ufffd")[:MAX_ERROR_CHARACTERS], now),
    ).scalar_one()
    return letter
