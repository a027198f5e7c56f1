"""Record imported conversations as any client does, in sessions that belong only to the run.

A message is identified by its key in the sessions of its conversation: NAME, "NAME (2)" … If a session of the
conversation exists already, from an earlier run or live recording, new messages go to the next of these names. So each
session was made by a single run, and an undo of a run removes exactly its own messages.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, text

from slowwave.errors import InvalidMessage, InvalidName, TooLarge
from slowwave.hosts.repository import repository_of
from slowwave.ingest import IngestReport, Reject, ingest
from slowwave.messages import MAX_CONTENT_CHARACTERS, message_events
from slowwave.settings import Tools
from slowwave.store import Store
from slowwave_server.domain.moving_in.records import Broken, ImportedMessage, LeftOut, System
from slowwave_server.services.moving_in.reading import Tally
from slowwave_server.services.moving_in.runs import Context, Runs, transaction

_CHUNK = 500
_LOGS = frozenset(("claude-code", "codex"))
_SESSIONS = text(
    "SELECT s.id, s.name, s.import_run FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id"
    " WHERE a.tenant = :tenant AND a.name = :agent AND (s.name = :name OR s.name LIKE :further)"
)
_KEYS = text("SELECT e.key FROM slowwave.events e WHERE e.session_id = ANY(:sessions) AND e.key = ANY(:keys)")
_OPEN = text("SELECT slowwave.open_session(:tenant, :agent, :name, NULL, :zone, :cutoff, :now)")
_OWN = text(
    "UPDATE slowwave.sessions s SET import_run = :run FROM slowwave.agents a"
    " WHERE a.id = s.agent_id AND a.tenant = :tenant AND a.name = :agent AND s.name = :name"
    " AND s.import_run IS NULL AND s.last_seq = 0"
)
_CLOSE = text("UPDATE slowwave.sessions SET import_seq = last_seq WHERE import_run = :run")


def checked(said: ImportedMessage, tools: Tools) -> ImportedMessage | LeftOut | Broken:
    """Return the message if it can be recorded, or LeftOut if it has no content to record."""
    content = said.message.get("content")
    if isinstance(content, str) and len(content) > MAX_CONTENT_CHARACTERS:
        told = f"the message has {len(content):,} characters, one has at most {MAX_CONTENT_CHARACTERS:,}"
        return Broken(f"{said.origin}: {said.message.get('key')}", told)
    try:
        events = message_events(said.message, str(said.message["key"]), tools, {})
    except (InvalidMessage, InvalidName, TooLarge) as error:
        return Broken(f"{said.origin}: {said.message.get('key')}", str(error)[:300])
    return said if events else LeftOut("message that the settings leave out")


@dataclass
class Recorder:
    """Records messages. agent: the agent of the messages; None: the agent of each log's folder, as the hooks name it.

    counts: the number of messages by result.
    """

    context: Context
    runs: Runs
    system: System
    agent: str | None
    tally: Tally
    counts: Counter[str] = field(default_factory=Counter)
    sessions: set[tuple[str, str]] = field(default_factory=set)
    _folders: dict[str | None, str] = field(default_factory=dict)

    def preview(self, messages: Iterable[ImportedMessage]) -> None:
        """Count the results of a recording without doing it."""
        for agent, name, group in self._groups(messages):
            _, new = self._new(agent, name, group)
            self._note(agent, name, len(group), len(new))

    def record(self, messages: Iterable[ImportedMessage], store: Store) -> IngestReport:
        """Record new messages; return the report of the client's ingest. Raises StoreUnavailable."""
        try:
            return ingest(self._lines(messages), store, tenant=self.context.tenant, on_reject=self._rejected)
        finally:
            with transaction(self.context.engine) as connection:
                for run in self.runs.under_way.values():
                    connection.execute(_CLOSE, {"run": run.id})

    def _lines(self, messages: Iterable[ImportedMessage]) -> Iterator[str]:
        for agent, name, group in self._groups(messages):
            found, new = self._new(agent, name, group)
            self._note(agent, name, len(group), len(new))
            if not new:
                continue
            session = self._open(agent, name, found)
            self.runs.add(agent, {"messages recorded": len(new)})
            for said in new:
                yield json.dumps({"agent": agent, "session": session, **said.message}, ensure_ascii=False, default=str)

    def _groups(self, messages: Iterable[ImportedMessage]) -> Iterator[tuple[str, str, list[ImportedMessage]]]:
        """Yield consecutive messages of one conversation, at most _CHUNK together."""
        group: list[ImportedMessage] = []
        place: tuple[str, str] = ("", "")
        for said in messages:
            at = (self._agent_of(said), said.origin if self.system in _LOGS else f"{self.system}:{said.origin}")
            if group and (at != place or len(group) >= _CHUNK):
                yield (*place, group)
                group = []
            place = at
            group.append(said)
        if group:
            yield (*place, group)

    def _agent_of(self, said: ImportedMessage) -> str:
        if self.agent is not None:
            return self.agent
        if said.folder not in self._folders:
            self._folders[said.folder] = repository_of(said.folder).agent(apart=False) if said.folder else "home"
        return self._folders[said.folder]

    def _new(self, agent: str, name: str, group: list[ImportedMessage]) -> tuple[list[Row[Any]], list[ImportedMessage]]:
        """Return the sessions of a conversation, and its messages that are in none of them."""
        further = name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + " (%)"
        with transaction(self.context.engine) as connection:
            names = {"tenant": self.context.tenant, "agent": agent, "name": name, "further": further}
            found = list(connection.execute(_SESSIONS, names))
            values = {"sessions": [row.id for row in found], "keys": [str(said.message["key"]) for said in group]}
            known = set(connection.execute(_KEYS, values).scalars()) if found else set()
        return found, [said for said in group if said.message["key"] not in known]

    def _open(self, agent: str, name: str, found: list[Row[Any]]) -> str:
        """Return this run's session for a conversation; it is created if needed."""
        run = self.runs.of(agent).id
        for row in found:
            if row.import_run == run:
                return str(row.name)
        taken = {row.name for row in found}
        numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))
        session = next(one for one in (name, *numbered) if one not in taken)
        context = self.context
        values = {"tenant": context.tenant, "agent": agent, "name": session, "run": run, "now": context.clock()}
        with transaction(context.engine) as connection:
            connection.execute(_OPEN, values | {"zone": context.days.timezone, "cutoff": context.days.cutoff_hour})
            connection.execute(_OWN, values)
        self.runs.add(agent, {"conversations": 1})
        return session

    def _note(self, agent: str, name: str, together: int, new: int) -> None:
        self.sessions.add((agent, name))
        self.counts["messages recorded"] += new
        self.counts["messages known"] += together - new

    def _rejected(self, reject: Reject) -> None:
        self.counts["messages recorded"] -= 1
        self.tally.name_broken(Broken(f"message {reject.number}", reject.reason))
