"""Conversations that another program keeps: a hook names a run, and workers read it there (`memory.source`).

A name waits for Postgres in the spool as events do, and is dropped like them where its session was forgotten meanwhile.

Must not know: which program that is, how it is read.
"""

from slowwave.capture import Entry, about_of
from slowwave.errors import ScopeConflict
from slowwave.event_json import EventJson
from slowwave.identity import check_name
from slowwave.memory import Memory
from slowwave.messages import PromptArrived, check_key
from slowwave.store import Stored

READ_SESSION = "slowwave.read_session"
READ_SESSIONS = "slowwave.read_sessions"


class ReadSession(PromptArrived):
    """What `slowwave.read_session` takes: whose session is read where it is kept, if a run of it was named."""


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
    """Have workers read a run of a session that `source` keeps, after `wait_seconds`; no text passes through here.

    Named again, it is looked at again, and no later than it would have been. scope: as in `Memory.turn_completed`.
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
