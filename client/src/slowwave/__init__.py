"""Slowwave's client: it records conversations and reads an agent's memory. It needs no code of the workers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slowwave.async_memory import AsyncMemory
    from slowwave.changes import Change, ChangedMemory, CursorExpired
    from slowwave.errors import (
        CannotChange,
        InvalidMessage,
        InvalidName,
        InvalidQuery,
        InvalidSettings,
        NotAllowed,
        NotAnswered,
        NotFound,
        RateLimited,
        Refused,
        ScopeConflict,
        SlowwaveError,
        SpoolFull,
        StoreUnavailable,
        TooLarge,
        WasForgotten,
    )
    from slowwave.memory import Memory
    from slowwave.memory_records import (
        Correction,
        ForgetPreview,
        ForgetReceipt,
        MemoryChange,
        MemoryEvent,
        MemoryExplanation,
        MemoryPage,
        MemoryRecord,
        MemorySource,
    )
    from slowwave.memory_types import MemoryStatus, MemoryType
    from slowwave.messages import Message, TaskEvent
    from slowwave.recall import Context, Contradiction, Day, DayLine, Format, Hit, Order, Utterance
    from slowwave.recall.instructions import Instruction, Trait
    from slowwave.recall.ranking import Why
    from slowwave.receipts import Receipt, Status
    from slowwave.settings import Settings, load_settings
    from slowwave.store import Mode
    from slowwave.working import Noted, WorkingStats

__all__ = [
    "AsyncMemory",
    "CannotChange",
    "Change",
    "ChangedMemory",
    "Context",
    "Contradiction",
    "Correction",
    "CursorExpired",
    "Day",
    "DayLine",
    "ForgetPreview",
    "ForgetReceipt",
    "Format",
    "Hit",
    "Instruction",
    "InvalidMessage",
    "InvalidName",
    "InvalidQuery",
    "InvalidSettings",
    "Memory",
    "MemoryChange",
    "MemoryEvent",
    "MemoryExplanation",
    "MemoryPage",
    "MemoryRecord",
    "MemorySource",
    "MemoryStatus",
    "MemoryType",
    "Message",
    "Mode",
    "NotAllowed",
    "NotAnswered",
    "NotFound",
    "Noted",
    "Order",
    "RateLimited",
    "Receipt",
    "Refused",
    "ScopeConflict",
    "Settings",
    "SlowwaveError",
    "SpoolFull",
    "Status",
    "StoreUnavailable",
    "TaskEvent",
    "TooLarge",
    "Trait",
    "Utterance",
    "WasForgotten",
    "Why",
    "WorkingStats",
    "load_settings",
]

_NAMES = {
    "async_memory": "AsyncMemory",
    "changes": "Change ChangedMemory CursorExpired",
    "errors": "CannotChange InvalidMessage InvalidName InvalidQuery InvalidSettings NotAllowed NotAnswered NotFound "
    "RateLimited Refused ScopeConflict SlowwaveError SpoolFull StoreUnavailable TooLarge WasForgotten",
    "memory": "Memory",
    "memory_records": "Correction ForgetPreview ForgetReceipt MemoryChange MemoryEvent "
    "MemoryExplanation MemoryPage MemoryRecord MemorySource",
    "memory_types": "MemoryStatus MemoryType",
    "messages": "Message TaskEvent",
    "recall": "Context Contradiction Day DayLine Format Hit Order Utterance",
    "recall.instructions": "Instruction Trait",
    "recall.ranking": "Why",
    "receipts": "Receipt Status",
    "settings": "Settings load_settings",
    "store": "Mode",
    "working": "Noted WorkingStats",
}
"""The exported names of each module."""
_PLACES = {name: f"slowwave.{module}" for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import an exported name on first use: a command that needs one small module does not load the whole client."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the exported names for `dir` and completion."""
    return sorted(__all__)
