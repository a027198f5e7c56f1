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
        MemoryStatus,
    )
    from slowwave.memory_types import MemoryType
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

_PLACES = {
    "AsyncMemory": "slowwave.async_memory",
    "CannotChange": "slowwave.errors",
    "Change": "slowwave.changes",
    "ChangedMemory": "slowwave.changes",
    "Context": "slowwave.recall",
    "Contradiction": "slowwave.recall",
    "Correction": "slowwave.memory_records",
    "CursorExpired": "slowwave.changes",
    "Day": "slowwave.recall",
    "DayLine": "slowwave.recall",
    "ForgetPreview": "slowwave.memory_records",
    "ForgetReceipt": "slowwave.memory_records",
    "Format": "slowwave.recall",
    "Hit": "slowwave.recall",
    "Instruction": "slowwave.recall.instructions",
    "InvalidMessage": "slowwave.errors",
    "InvalidName": "slowwave.errors",
    "InvalidQuery": "slowwave.errors",
    "InvalidSettings": "slowwave.errors",
    "Memory": "slowwave.memory",
    "MemoryChange": "slowwave.memory_records",
    "MemoryEvent": "slowwave.memory_records",
    "MemoryExplanation": "slowwave.memory_records",
    "MemoryPage": "slowwave.memory_records",
    "MemoryRecord": "slowwave.memory_records",
    "MemorySource": "slowwave.memory_records",
    "MemoryStatus": "slowwave.memory_records",
    "MemoryType": "slowwave.memory_types",
    "Message": "slowwave.messages",
    "Mode": "slowwave.store",
    "NotAllowed": "slowwave.errors",
    "NotAnswered": "slowwave.errors",
    "NotFound": "slowwave.errors",
    "Noted": "slowwave.working",
    "Order": "slowwave.recall",
    "RateLimited": "slowwave.errors",
    "Receipt": "slowwave.receipts",
    "Refused": "slowwave.errors",
    "ScopeConflict": "slowwave.errors",
    "Settings": "slowwave.settings",
    "SlowwaveError": "slowwave.errors",
    "SpoolFull": "slowwave.errors",
    "Status": "slowwave.receipts",
    "StoreUnavailable": "slowwave.errors",
    "TaskEvent": "slowwave.messages",
    "TooLarge": "slowwave.errors",
    "Trait": "slowwave.recall.instructions",
    "Utterance": "slowwave.recall",
    "WasForgotten": "slowwave.errors",
    "Why": "slowwave.recall.ranking",
    "WorkingStats": "slowwave.working",
    "load_settings": "slowwave.settings",
}
"""The module of each exported name."""


def __getattr__(name: str) -> Any:
    """Import an exported name on first use, so that a command that needs one small module does not load the whole
    client.
    """
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the exported names for `dir` and completion."""
    return sorted(__all__)
