"""Tables, engine and migrations: what Postgres holds.

Must not know: Celery, Redis, and what the rows are used for.
"""

from models.base import SCHEMA, Base
from models.console import ConsoleSession, ConsoleUser
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
from models.days import Day, DaySegment, DaySummary
from models.erasures import ErasedName, Erasure
from models.files import FileLine, FileState, MemoryBackend, MemoryImport, OutboxItem
from models.flushes import DeadLetter, Flush
from models.identity import Agent, Scope
from models.logins import Login
from models.maintenance import MaintenanceJob, MaintenanceRun
from models.memories import Memory, MemorySource
from models.rebuilds import Rebuild, RebuildEvidence, RebuildWindow
from models.search import CommonTerm, Passage
from models.sources import SourceRun
from models.usage import LlmCall, LlmUsage
from models.vectors import MemoryVector, PassageVector, VectorProgress, VectorSpace

__all__ = [
    "SCHEMA",
    "Agent",
    "Base",
    "CommonTerm",
    "ConsoleSession",
    "ConsoleUser",
    "Day",
    "DaySegment",
    "DaySummary",
    "DeadLetter",
    "ErasedName",
    "Erasure",
    "Event",
    "FileLine",
    "FileState",
    "Flush",
    "LlmCall",
    "LlmUsage",
    "Login",
    "MaintenanceJob",
    "MaintenanceRun",
    "Memory",
    "MemoryBackend",
    "MemoryBlock",
    "MemoryChange",
    "MemoryConflict",
    "MemoryImport",
    "MemoryLink",
    "MemoryNote",
    "MemorySource",
    "MemoryVector",
    "OutboxItem",
    "Passage",
    "PassageVector",
    "Rebuild",
    "RebuildEvidence",
    "RebuildWindow",
    "ReviewItem",
    "Scope",
    "Session",
    "SessionDay",
    "SourceRun",
    "Triple",
    "VectorProgress",
    "VectorSpace",
    "WorkingItem",
]
