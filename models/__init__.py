"""Tables, engine and migrations. A table's module is imported when its class is first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowwave_server.models.aliases import AliasChange, AliasPair, AliasSource
    from slowwave_server.models.answers import WindowAnswer
    from slowwave_server.models.api_keys import ApiKey
    from slowwave_server.models.audit import AuditEntry
    from slowwave_server.models.base import SCHEMA, Base
    from slowwave_server.models.changes import ChangeListener, MemoryTombstone
    from slowwave_server.models.console import ConsoleSession, ConsoleUser
    from slowwave_server.models.consolidation import (
        MemoryBlock,
        MemoryChange,
        MemoryConflict,
        MemoryLink,
        MemoryNote,
        ReviewItem,
        Triple,
        WorkingItem,
    )
    from slowwave_server.models.conversations import Event, Session, SessionDay
    from slowwave_server.models.days import Day, DaySegment, DaySummary
    from slowwave_server.models.erasures import ErasedName, Erasure
    from slowwave_server.models.files import FileLine, FileState, MemoryBackend, MemoryImport, OutboxItem
    from slowwave_server.models.flushes import DeadLetter, Flush
    from slowwave_server.models.identity import Agent, Scope
    from slowwave_server.models.logins import Login
    from slowwave_server.models.maintenance import MaintenanceJob, MaintenanceRun
    from slowwave_server.models.memories import Memory, MemorySource, MemoryUse
    from slowwave_server.models.rebuilds import Rebuild, RebuildEvidence, RebuildWindow
    from slowwave_server.models.requests import WorkRequest
    from slowwave_server.models.samples import StatusSample
    from slowwave_server.models.search import CommonTerm, Passage
    from slowwave_server.models.sources import SourceRun
    from slowwave_server.models.undone import UndoneRow
    from slowwave_server.models.usage import LlmCall, LlmUsage
    from slowwave_server.models.vectors import MemoryVector, PassageVector, VectorProgress, VectorSpace
    from slowwave_server.models.webhooks import WebhookDelivery, WebhookEndpoint, WebhookSecret

__all__ = [
    "SCHEMA",
    "Agent",
    "AliasChange",
    "AliasPair",
    "AliasSource",
    "ApiKey",
    "AuditEntry",
    "Base",
    "ChangeListener",
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
    "MemoryTombstone",
    "MemoryUse",
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
    "StatusSample",
    "Triple",
    "UndoneRow",
    "VectorProgress",
    "VectorSpace",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookSecret",
    "WindowAnswer",
    "WorkRequest",
    "WorkingItem",
]

_CLASSES = {
    "aliases": "AliasChange AliasPair AliasSource",
    "answers": "WindowAnswer",
    "api_keys": "ApiKey",
    "audit": "AuditEntry",
    "changes": "ChangeListener MemoryTombstone",
    "console": "ConsoleSession ConsoleUser",
    "consolidation": "MemoryBlock MemoryChange MemoryConflict MemoryLink MemoryNote ReviewItem Triple WorkingItem",
    "conversations": "Event Session SessionDay",
    "days": "Day DaySegment DaySummary",
    "erasures": "ErasedName Erasure",
    "files": "FileLine FileState MemoryBackend MemoryImport OutboxItem",
    "flushes": "DeadLetter Flush",
    "identity": "Agent Scope",
    "logins": "Login",
    "maintenance": "MaintenanceJob MaintenanceRun",
    "memories": "Memory MemorySource MemoryUse",
    "rebuilds": "Rebuild RebuildEvidence RebuildWindow",
    "requests": "WorkRequest",
    "samples": "StatusSample",
    "search": "CommonTerm Passage",
    "sources": "SourceRun",
    "undone": "UndoneRow",
    "usage": "LlmCall LlmUsage",
    "vectors": "MemoryVector PassageVector VectorProgress VectorSpace",
    "webhooks": "WebhookDelivery WebhookEndpoint WebhookSecret",
}
"""The classes of each module."""
_MODULES = {"SCHEMA": "base"} | {name: module for module, names in _CLASSES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import the module of one table on first use, so that a command that reads two tables need not define all of them.

    `Base` imports every table, so that its metadata is complete.
    """
    if name == "Base":
        for module in _CLASSES:
            import_module(f"{__name__}.{module}")
    elif name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'base')}"), name)
    return value
