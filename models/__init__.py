"""Tables, engine and migrations: what Postgres holds.

Must not know: Celery, Redis, and what the rows are used for.
"""

from models.base import SCHEMA, Base
from models.conversations import Event, Session, SessionDay
from models.flushes import DeadLetter, Flush
from models.identity import Agent, Scope
from models.memories import Memory, MemoryChange, MemorySource
from models.search import CommonTerm, Passage

__all__ = [
    "SCHEMA",
    "Agent",
    "Base",
    "CommonTerm",
    "DeadLetter",
    "Event",
    "Flush",
    "Memory",
    "MemoryChange",
    "MemorySource",
    "Passage",
    "Scope",
    "Session",
    "SessionDay",
]
