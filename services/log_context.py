"""The log context of a thread: names of agent and session, and the run's number.

A task sets the context after it has read its payload, a run when it starts; log formatters read it. Each thread has its
own context, and a task starts with an empty one, so no log line names the work of an earlier task.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})
_bound: ContextVar[Mapping[str, str]] = ContextVar("slowwave_log_context", default=_NONE)


def bind(**ids: str | int | None) -> None:
    """Add values to the context; None is skipped."""
    _bound.set({**_bound.get(), **{name: str(value) for name, value in ids.items() if value is not None}})


def clear() -> None:
    """Clear the context of the previous task."""
    _bound.set(_NONE)


def current() -> Mapping[str, str]:
    """Return the context: `tenant`, `agent`, `session`, `run`, if set."""
    return _bound.get()
