"""The baseline for recording over HTTP: a FastAPI route that only inserts two rows and commits.

Run by bench.gateway as `python -m bench.bare_gateway PORT`; the URL of Postgres comes from BARE_DATABASE_URL.
"""

import os
import sys
import threading
from typing import Any

import psycopg
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

from bench.capture import BARE

app = FastAPI()
_local = threading.local()


class Message(BaseModel):
    """One message."""

    role: str
    content: str


class Turn(BaseModel):
    """A turn of two messages."""

    messages: list[Message]
    seq: int


@app.post("/turns/{session}")
def insert(session: str, turn: Turn) -> dict[str, Any]:
    """Insert two rows over a connection that each thread opens once."""
    if not hasattr(_local, "connection"):
        _local.connection = psycopg.connect(os.environ["BARE_DATABASE_URL"], autocommit=True)
    asked, answered = turn.messages
    row = (session, turn.seq, asked.role, asked.content, session, turn.seq + 1, answered.role, answered.content)
    _local.connection.execute(BARE, row, prepare=True)
    return {"added": 2}


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False, log_level="warning")
