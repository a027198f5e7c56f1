"""Slowwave's client: record what agents say, read what they know. Needs no worker code.

Must not know: Celery, the service.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_PLACES = {
    "AsyncMemory": "slowwave.async_memory",
    "InvalidMessage": "slowwave.errors",
    "InvalidName": "slowwave.errors",
    "InvalidQuery": "slowwave.errors",
    "InvalidSettings": "slowwave.errors",
    "Memory": "slowwave.memory",
    "Message": "slowwave.messages",
    "Noted": "slowwave.working",
    "Receipt": "slowwave.memory",
    "Refused": "slowwave.errors",
    "ScopeConflict": "slowwave.errors",
    "Settings": "slowwave.settings",
    "SlowwaveError": "slowwave.errors",
    "SpoolFull": "slowwave.errors",
    "Status": "slowwave.memory",
    "StoreUnavailable": "slowwave.errors",
    "TooLarge": "slowwave.errors",
    "WorkingStats": "slowwave.working",
    "load_settings": "slowwave.settings",
}
"""The module of each exported name."""


def __getattr__(name: str) -> Any:
    """Import a name on first use: a command that needs one small module must not load all of the client."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    """The exported names, for `dir` and completion."""
    return sorted(__all__)
