"""Slowwave's client: record what agents say, read what they know. Needs no worker code.

Must not know: Celery, the service.
"""

from slowwave.async_memory import AsyncMemory
from slowwave.errors import (
    InvalidMessage,
    InvalidName,
    InvalidQuery,
    InvalidSettings,
    Refused,
    ScopeConflict,
    SlowwaveError,
    SpoolFull,
    StoreUnavailable,
    TooLarge,
)
from slowwave.memory import Memory, Receipt, Status
from slowwave.messages import Message
from slowwave.settings import Settings, load_settings
from slowwave.working import Noted, WorkingStats

__all__ = [
    "AsyncMemory",
    "InvalidMessage",
    "InvalidName",
    "InvalidQuery",
    "InvalidSettings",
    "Memory",
    "Message",
    "Noted",
    "Receipt",
    "Refused",
    "ScopeConflict",
    "Settings",
    "SlowwaveError",
    "SpoolFull",
    "Status",
    "StoreUnavailable",
    "TooLarge",
    "WorkingStats",
    "load_settings",
]
