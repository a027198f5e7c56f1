"""Conversations that another program stores: a hook names a run, and workers read the run there (`memory.source`).

While Postgres is unavailable, a named run waits in the spool like an event. It is discarded if its session is
forgotten.
"""

from slowwave.capture import Entry, about_of
from slowwave.errors import ScopeConflict
from slowwave.event_json import EventJson
from slowwave.identity import check_name
from slowwave.memory import Memory
from slowwave.messages import PromptArrived, check_key
from slowwave.store import Stored

READ_SESSION = "slowwave.read_session"


class ReadSession(PromptArrived):
    """The payload of `slowwave.read_session`: the task reads the session's named runs from their store."""


def name_run(
    memory: Memory,
    agent: str,
    session: str,
    run: str,
    *,
    source: str,
    wait_seconds: float = 0.0,
    scope: str | None = None,
) -> Stored:
    """Let workers read a run of a session from `source` after `wait_seconds`. No text passes through this process.

    Naming a run again lets workers read it again, at the same time or earlier. scope: see `Memory.turn_completed`.
    Raises `InvalidMessage`, `InvalidName`, `ScopeConflict`, `SpoolFull`, and with `raise_errors` StoreUnavailable.
    """
    event: EventJson = {"key": check_key(run), "kind": "task", "step": 0, "content": ""}
    if wait_seconds > 0:
        event["metadata"] = {"wait_seconds": wait_seconds}
    about = (about_of(scope, None, None) or {}) | {"source": source}
    names = check_name("agent", agent), check_name("session", session)
    captured, stored = memory.store.record(Entry(memory.tenant, *names, [event], about, "unread"))
    if captured is not None and captured.problem:
        raise ScopeConflict(f"{agent}/{session}: {captured.problem}")
    return stored
