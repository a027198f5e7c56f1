"""Request that workers flush sessions now."""

from collections.abc import Sequence

from slowwave.coordination.outcomes import Priority
from slowwave.identity import SessionRef
from slowwave_server.services.flush.sweep import request_flush
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.dirty import dirty_sessions
from slowwave_server.workers.shared.shell import Shell


def ask_for_flush(shell: Shell, refs: Sequence[SessionRef], *, priority: Priority) -> list[SessionRef]:
    """Request a flush of each dirty session, and return these. RedisError: they are recorded in Postgres."""
    if not refs:
        return []
    dirty = request_flush(shell.writer, shell.queue, refs, by="operator", priority=priority, now=shell.now())
    return [ref for ref, is_dirty in zip(refs, dirty, strict=True) if is_dirty]


def flush_sessions(shell: Shell, agent: str) -> int:
    """Request a flush of the agent's sessions with unprocessed events. Return their number, 0 for an unknown agent."""
    with shell.connection() as connection:
        try:
            names = dirty_sessions(connection, shell.tenant, agent)
        except UnknownName:
            return 0
    return len(ask_for_flush(shell, [SessionRef(shell.tenant, agent, name) for name in names], priority="normal"))
