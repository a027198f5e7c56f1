"""Whose work is being done here: names of agent and session, and the run's number, for logs.

A task says it when it has read its payload, a run when it begins; what writes logs asks. Each thread has its own, and
a task begins with none, so that no line names what an earlier one worked on.

Must not know: logs, tasks, what the work is.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

_NONE: Mapping[str, str] = MappingProxyType({})
_bound: ContextVar[Mapping[str, str]] = ContextVar("slowwave_log_context", default=_NONE)


def bind(**ids: str | int | None) -> None:
    """Say it, beside what was said before; None says nothing."""
    _bound.set({**_bound.get(), **{name: str(value) for name, value in ids.items() if value is not None}})


def clear() -> None:
    """Forget what was said: other work begins."""
    _bound.set(_NONE)


def current() -> Mapping[str, str]:
    """What was said here: `tenant`, `agent`, `session`, `run`, as far as they are known."""
    return _bound.get()
