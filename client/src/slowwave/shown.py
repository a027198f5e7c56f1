"""The memories that contexts showed to conversations, until a thread writes them to Postgres.

The memories wait for the next event of their conversation, because this event creates the session, and so no reply
waits.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from slowwave.capture import Entry
from slowwave.event_json import EventJson
from slowwave.identity import SessionRef

MAX_SESSIONS = 1000


@dataclass(slots=True)
class _Session:
    noted: set[str] = field(default_factory=set)
    new: dict[str, None] = field(default_factory=dict)
    at: str = ""


class Shown:
    """Collects ids of memories by session, for the last thousand sessions. Threads may share one object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[SessionRef, _Session] = OrderedDict()

    def add(self, ref: SessionRef, memories: Iterable[str]) -> None:
        """Add memories that a context shows now."""
        with self._lock:
            session = self._sessions.setdefault(ref, _Session())
            session.new.update(dict.fromkeys(one for one in memories if one not in session.noted))
            session.at = datetime.now(UTC).isoformat()
            self._sessions.move_to_end(ref)
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)

    def take(self, entry: Entry) -> Entry | None:
        """Return the new memories of the entry's session, as an entry for the writer; None if there are none."""
        if not self._sessions:
            return None
        ref = entry.ref
        with self._lock:
            session = self._sessions.get(ref)
            if session is None or not session.new:
                return None
            memories, session.new = list(session.new), {}
            session.noted.update(memories)
        event: EventJson = {"key": "shown", "kind": "task", "step": 0, "content": "", "at": session.at}
        event["metadata"] = {"memories": memories}
        return Entry(ref.tenant, ref.agent, ref.session, [event], None, "shown")
