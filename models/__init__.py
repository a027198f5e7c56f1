"""Tables, engine and migrations: what Postgres holds.

Must not know: Celery, Redis, and what the rows are used for.
"""

from models.base import SCHEMA, Base
from models.consolidation import (
    MemoryBlock,
    MemoryChange,
    MemoryConflict,
    MemoryLink,
    MemoryNote,
    ReviewItem,
    Triple,
    WorkingItem,
)
from models.conversations import Event, Session, SessionDay
from models.flushes import DeadLetter, Flush
from models.identity import Agent, Scope
from models.maintenance import MaintenanceJob, MaintenanceRun
from models.memories import Memory, MemorySource
from models.search import CommonTerm, Passage

__all__ = [
    "SCHEMA",
    "Agent",
    "Base",
    "CommonTerm",
    "DeadLetter",
    "Event",
    "Flush",
    "MaintenanceJob",
    "MaintenanceRun",
    "Memory",
    "MemoryBlock",
    "MemoryChange",
    "MemoryConflict",
    "MemoryLink",
    "MemoryNote",
    "MemorySource",
    "Passage",
    "ReviewItem",
    "Scope",
    "Session",
    "SessionDay",
    "Triple",
    "WorkingItem",
]
