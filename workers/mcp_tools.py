"""The MCP tools over the memory of one agent and of the named rooms and teams, and over no other memory (I8).

The server's start fixes agent, tenant and scopes: no tool takes an agent or a tenant, and a tool accepts only these
scopes. Each text fences recorded speech as data and names its source; the JSON data has the same content.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from slowwave import Memory
from slowwave.errors import InvalidName, shown
from slowwave.memory_types import MemoryType
from slowwave.recall import Hit, asks_order
from slowwave.recall.lines import period, short_id
from slowwave.recall.rendering import Block, fenced, label, one_line, one_name, shorten
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.lookup import UnknownName
from slowwave_server.services.reports.explain import ChangeMade, Explanation, SourceEvent
from slowwave_server.workers.shared.json_document import document

SAID_CHARACTERS = 500
SOURCES_TOLD = 20
CHANGES_TOLD = 20
_TOLD = (
    "id scope type status content confidence importance use trust valid_from valid_to signals sources changes"
    " superseded_by merged_into"
).split()


class ToolAnswer(NamedTuple):
    """A result: text for a model, and the same as JSON data."""

    text: str
    data: dict[str, Any]


class Tools(Protocol):
    """The interface of a server's tools; see `AgentTools`. scopes: the scopes that a tool accepts."""

    @property
    def scopes(self) -> tuple[str, ...]: ...

    def search(self, query: str, limit: int) -> ToolAnswer: ...

    def context(self, query: str | None, session: str | None, max_tokens: int) -> ToolAnswer: ...

    def remember(self, content: str, importance: float, kind: MemoryType, scope: str | None) -> ToolAnswer: ...

    def consolidate_now(self) -> ToolAnswer: ...

    def explain(self, memory_id: str) -> ToolAnswer: ...


@dataclass(frozen=True, slots=True)
class AgentTools:
    """The tools of one agent. scopes: "room:NAME" or "team:NAME".

    explain_memory: explains a memory of the tenant; raises UnknownName if it does not exist. flush_sessions: enqueues
    flushes of the agent's dirty sessions and returns their number.
    """

    memory: Memory
    agent: str
    scopes: tuple[str, ...]
    explain_memory: Callable[[str], Explanation]
    flush_sessions: Callable[[], int]

    def search(self, query: str, limit: int) -> ToolAnswer:
        """Search memories and events, best first; oldest first for a question about order or duration."""
        hits = self.memory.search(self.agent, query, limit, scopes=self.scopes)
        heading = "Found, the oldest first" if asks_order(query) else "Found, the best first"
        text = fenced([Block(heading, [_hit_line(hit) for hit in hits])])
        return ToolAnswer(text or "Nothing known.", {"hits": [hit.to_json() for hit in hits]})

    def context(self, query: str | None, session: str | None, max_tokens: int) -> ToolAnswer:
        """Read the context for the agent's next prompt."""
        found = self.memory.context(self.agent, session, query, scopes=self.scopes, max_tokens=max_tokens)
        return ToolAnswer(found.to_text() or "Nothing is known yet.", found.to_json() | {"left_out": found.left_out})

    def remember(self, content: str, importance: float, kind: MemoryType, scope: str | None) -> ToolAnswer:
        """Store a note in working memory."""
        noted = self.memory.remember(self.agent, content, importance, type=kind, scope=self._allowed(scope), key=None)
        where = scope or "the agent's own memory"
        text = f"Noted in {where} as {noted.id}; the next cycle keeps it if it is important enough."
        return ToolAnswer(text, {"id": str(noted.id), "expires_at": noted.expires_at.isoformat(), "scope": scope})

    def consolidate_now(self) -> ToolAnswer:
        """Ask the workers to flush dirty sessions and to run a cycle over each working memory."""
        sessions = self.flush_sessions()
        asked = {scope or "own": self.memory.consolidate_now(self.agent, scope) for scope in (None, *self.scopes)}
        new = sum(asked.values())
        text = (
            f"Asked for: {pluralize(sessions, 'flush', 'flushes')}, and {pluralize(new, 'cycle')} over working"
            f" memory ({len(asked) - new} on the way already)."
        )
        return ToolAnswer(text, {"flushes": sessions, "cycles": asked})

    def explain(self, memory_id: str) -> ToolAnswer:
        """Explain a memory by its sources and its changes. Raises InvalidQuery, UnknownName."""
        nothing = UnknownName(f"there is no memory {shown(memory_id)} that this agent may read")
        try:
            found = self.explain_memory(memory_id)
        except UnknownName:
            raise nothing from None
        # A memory of another scope gets the same answer as one that does not exist.
        if found.scope not in {f"agent:{self.agent}", *self.scopes}:
            raise nothing
        return ToolAnswer(_explained(found), _explanation(found))

    def _allowed(self, scope: str | None) -> str | None:
        if scope is None or scope in self.scopes:
            return scope
        allowed = ", ".join(self.scopes) or "none beside the agent's own"
        raise InvalidName(f"scope: this server may write to these: {allowed}")


def _hit_line(hit: Hit) -> str:
    where = "" if hit.scope is None else f"({label(hit.scope)}) "
    speaker = "" if hit.speaker is None else f"{one_name(hit.speaker)}: "
    said = ", ".join(f"{label(session)}#{seq}" for session, seq in hit.sources[:3])
    source = f"memory {short_id(hit.id)}, {hit.status}" + (f", said in {said}" if said else "")
    origin = source if hit.kind == "memory" else f"said in {said}, {hit.status}"
    disputed = " (contradicted, undecided)" if hit.contradicts else ""
    return f"- {where}{period(hit)}{disputed} {speaker}{_short(hit.content)} [{origin}]"


def _short(text: str) -> str:
    return shorten(one_line(text), SAID_CHARACTERS)


def _explained(found: Explanation) -> str:
    standing = (
        f"- {found.type}, {found.status}, confidence {found.confidence:.2f}, importance {found.importance:.2f},"
        f" on the word of: {found.trust}, holds from {found.valid_from:%Y-%m-%d}"
        + (f" to {found.valid_to:%Y-%m-%d}" if found.valid_to else "")
    )
    use = [f"- {found.use}"] if found.use else []
    return fenced(
        [
            Block(f"Memory {found.id}", [f"- {_short(found.content)}", standing, *use]),
            Block("Said in", [_source_line(source) for source in found.sources[:SOURCES_TOLD]]),
            Block("Noted as", [f"- {_short(note.content)}" for note in found.notes[:SOURCES_TOLD]]),
            Block("Changes", [_change_line(change) for change in found.changes[-CHANGES_TOLD:]]),
        ]
    )


def _source_line(source: SourceEvent) -> str:
    who = one_name(source.name or source.role)
    return f"- {label(source.session)}#{source.seq}, {source.happened_at:%Y-%m-%d}: {who}: {_short(source.content)}"


def _change_line(change: ChangeMade) -> str:
    by = f"flush {change.flush}" if change.flush is not None else f"run {change.run}"
    return f"- {change.made_at:%Y-%m-%d %H:%M} UTC {change.action} by {by}: {_short(change.reason)}"


def _explanation(found: Explanation) -> dict[str, Any]:
    told: dict[str, Any] = document({name: getattr(found, name) for name in _TOLD})
    sources, changes = told["sources"][:SOURCES_TOLD], told["changes"][-CHANGES_TOLD:]
    told["sources"] = [
        {name: said for name, said in source.items() if name != "via"} | {"content": _short(source["content"])}
        for source in sources
    ]
    told["changes"] = [
        {name: change[name] for name in ("action", "made_at", "flush", "run")} | {"reason": _short(change["reason"])}
        for change in changes
    ]
    return told
