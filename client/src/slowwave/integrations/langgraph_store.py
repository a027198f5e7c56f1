"""LangGraph: a `BaseStore` over an agent's memory. `search` finds memories, `put` writes notes.

Example:
    store = SlowwaveStore(memory, "atlas", namespaces={("memories",): None, ("office",): "room:office"})
    graph = builder.compile(store=store)
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast
from uuid import uuid4

from slowwave.async_memory import AsyncMemory
from slowwave.errors import StoreUnavailable
from slowwave.integrations.langgraph_items import Stored, read_item
from slowwave.integrations.langgraph_matching import check_filter, fits, matches
from slowwave.integrations.safe import SafeMemory, digest
from slowwave.memory import Memory
from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.recall.hits import Hit
from slowwave.recall.masking import mask
from slowwave.spooled_notes import entry_of
from slowwave.working import Remember

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:  # pragma: no cover (the extra is installed where tests run)
    raise ImportError("LangGraph is missing: install the extra `langgraph` of slowwave (docs/install.md)") from error

Namespace = tuple[str, ...]

MOST_HITS = 100
"""What one search of the memory answers at most: as far as filters and offsets reach."""


class SlowwaveStore(BaseStore):
    """Long-term memory of one agent for graphs.

    namespaces: a mapping from LangGraph's namespaces to scopes: None is the agent's own scope, "room:NAME" and
    "team:NAME" are shared. The default maps ("agent", NAME) to the agent's own scope. All other namespaces are empty
    and accept nothing. `put` writes a note. Workers turn the note into a memory in their next cycle; only then does
    `search` find it, while `get` finds it at once. The note's content is the text under "content" or "text" of the
    value, else the whole value as JSON. The store never overwrites or deletes: a second `put` of a key makes another
    note, and a delete raises NotImplementedError. While Postgres is unavailable, a `put` goes to the spool, and a
    search finds nothing. Other failures are logged. Raises InvalidName.
    """

    def __init__(
        self, memory: Memory | AsyncMemory, agent: str, *, namespaces: Mapping[Namespace, str | None] | None = None
    ) -> None:
        own: dict[Namespace, str | None] = {("agent", agent): None}
        self._scopes = own if namespaces is None else dict(namespaces)
        shared = [scope for scope in self._scopes.values() if scope is not None]
        self._safe = SafeMemory(memory, agent, scopes=shared)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations in order. If one of them is invalid, raise before the first is carried out."""
        asked = list(ops)
        for op in asked:
            if isinstance(op, PutOp):
                self._check_put(op)
            elif isinstance(op, SearchOp):
                check_filter(op.filter or {})
        return [self._carry_out(op) for op in asked]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations as `batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _carry_out(self, op: Op) -> Result:
        if isinstance(op, SearchOp):
            return self._quietly("nothing was searched", partial(self._search, op), [])
        if isinstance(op, GetOp):
            return self._quietly("nothing was looked up", partial(self._get, op.namespace, op.key), None)
        if isinstance(op, PutOp):
            self._quietly("a note was lost", partial(self._put, op), None)
            return None
        return self._list(op)

    def _quietly(self, complaint: str, call: Callable[[], Any], otherwise: Any) -> Any:
        return self._safe.safely(complaint, "store", call, otherwise)

    def _check_put(self, op: PutOp) -> None:
        if tuple(op.namespace) not in self._scopes:
            raise InvalidNamespaceError(
                f"this store has no namespace {tuple(op.namespace)}; name it in `namespaces` ({sorted(self._scopes)})"
            )
        if op.value is None:
            raise NotImplementedError("a graph can't delete memories; `slowwave memory forget` does, for good")

    def _put(self, op: PutOp) -> None:
        memory, value = self._safe.memory, dict(op.value or {})
        kind = value.get("type")
        asked = Remember(
            agent=self._safe.agent,
            content=_content(value)[:MAX_CONTENT_CHARACTERS],
            importance=_weight(value.get("importance")),
            type=cast("MemoryType", kind) if kind in MEMORY_TYPES else "fact",
            marked=True,
            scope=self._scopes[tuple(op.namespace)],
        )
        key = _note(op.namespace, op.key) + uuid4().hex
        try:
            stored = self._stored(op.namespace, op.key)
            if stored is None or stored.content != mask(asked.content):
                memory.remember(**asked.model_dump(exclude={"tenant", "key"}), key=key)
        except StoreUnavailable as error:
            # If the first attempt stored the note, the idempotency key makes the second attempt harmless.
            memory.store.set_aside(entry_of(memory.tenant, asked, key), error)

    def _get(self, namespace: Namespace, key: str) -> Item | None:
        stored = self._stored(namespace, key)
        if stored is None:
            return None
        value = {"content": stored.content, "type": stored.type}
        return Item(value=value, key=key, namespace=tuple(namespace), created_at=stored.at, updated_at=stored.at)

    def _stored(self, namespace: Namespace, key: str) -> Stored | None:
        if tuple(namespace) not in self._scopes:
            return None
        memory, scope = self._safe.memory, self._scopes[tuple(namespace)]
        read = partial(
            read_item, tenant=memory.tenant, agent=self._safe.agent, scope=scope, key=key, note=_note(namespace, key)
        )
        return memory.store.postgres.read(read)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        within = {scope: name for name, scope in self._scopes.items() if name[: len(prefix)] == prefix}
        if not within:
            return []
        shared = [scope for scope in within if scope is not None]
        found = (hit for hit in self._hits(op, shared, whole=len(within) == len(shared) + 1) if hit.scope in within)
        items = [_item(hit, within[hit.scope], scored=bool(op.query)) for hit in found]
        matching = [item for item in items if matches(item.value, op.filter or {})]
        return matching[op.offset : op.offset + op.limit]

    def _hits(self, op: SearchOp, shared: list[str], *, whole: bool) -> list[Hit]:
        """Return hits of the agent's own memory and the shared scopes. whole: the caller drops no hit by its scope."""
        memory, agent = self._safe.memory, self._safe.agent
        if not op.query:
            known = memory.context(agent, scopes=shared)
            return [*known.memories, *known.recent]
        wanted = op.offset + op.limit if whole and not op.filter else MOST_HITS
        return memory.search(agent, op.query, max(1, min(wanted, MOST_HITS)), scopes=shared)

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        named = [name for name in self._scopes if all(fits(name, rule) for rule in op.match_conditions or ())]
        cut = sorted({name[: op.max_depth] for name in named})
        return cut[op.offset : op.offset + op.limit]


def _content(value: Mapping[str, Any]) -> str:
    for name in ("content", "text"):
        if isinstance(value.get(name), str):
            return str(value[name])
    return json.dumps(value, ensure_ascii=False, default=str)


def _weight(importance: Any) -> float:
    """Return the importance in a value, if it is usable."""
    if isinstance(importance, bool) or not isinstance(importance, int | float):
        return 0.5
    return importance if 0 <= importance <= 1 else 0.5


def _note(namespace: Namespace, key: str) -> str:
    """Return the common prefix of the keys of all notes that were stored under `key`."""
    return f"langgraph:{digest(*namespace, key)}:"


def _item(hit: Hit, namespace: Namespace, *, scored: bool) -> SearchItem:
    told = hit.to_json()
    value = {name: told[name] for name in ("content", "type", "kind", "status", "scope", "speaker", "sources")}
    return SearchItem(namespace, hit.id, value, hit.valid_from, hit.valid_from, hit.score if scored else None)
