"""Contexts for a host: a whole context when a conversation begins, later only memories that fit the prompt."""

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from slowwave.errors import SlowwaveError
from slowwave.memory import Memory
from slowwave.recall import Context, Hit
from slowwave.recall_requests import ContextRequest

MAX_BYTES = 9000
"""Claude Code shows 10,000 characters of a hook's context, and Codex 2,500 tokens of about four bytes each."""

TOKENS = (1800, 900, 400)
"""Allowances for a whole context; the next one is tried if the text has more bytes than the host shows."""

PROMPT_MEMORIES = 6
PROMPT_PASSAGES = 4
MIN_RELEVANCE = 0.5
MAX_SESSIONS = 1000


class Contexts:
    """Answers requests of the kinds "start" and "prompt". It remembers which memories each conversation received."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._told: OrderedDict[tuple[str, str], set[str]] = OrderedDict()

    def answer(self, request: Mapping[str, Any]) -> tuple[str, set[str]]:
        """Return the text for the host, and the ids of the memories in the text. Raises StoreUnavailable."""
        agent, session, query = request["agent"], request["session"], request.get("query")
        told = self._told.get((agent, session))
        if request["kind"] == "prompt":
            self._memory.prompt_arrived(agent, session)
            if told is not None:
                return self._relevant(agent, session, str(query), told)
        return self._whole(agent, session, query)

    def delivered(self, request: Mapping[str, Any], ids: set[str]) -> None:
        """Note that the host has received an answer. Without this note the next prompt gets a whole context."""
        key = (request["agent"], request["session"])
        if request.get("again"):
            self._told.pop(key, None)
        self._told[key] = self._told.get(key, set()) | ids
        self._told.move_to_end(key)
        if len(self._told) > MAX_SESSIONS:
            self._told.popitem(last=False)
        if memories := [one for one in ids if "#" not in one]:  # passages have names of events
            with suppress(SlowwaveError):
                self._memory.backend.show(*key, memories)

    def _whole(self, agent: str, session: str, query: str | None) -> tuple[str, set[str]]:
        for tokens in TOKENS:
            found = self._read(agent, session, query, max_tokens=tokens)
            text = found.to_text()
            if len(text.encode()) <= MAX_BYTES:
                return text, {hit.id for hit in (*found.memories, *found.recent, *found.passages)}
        return "", set()

    def _relevant(self, agent: str, session: str, query: str, told: set[str]) -> tuple[str, set[str]]:
        found = self._read(agent, session, query, days=0)
        memories = [hit for hit in found.memories if _is_news(hit, told)][:PROMPT_MEMORIES]
        passages = [hit for hit in found.passages if _is_news(hit, told)][:PROMPT_PASSAGES]
        while memories or passages:
            text = replace(Context(), memories=tuple(memories), passages=tuple(passages)).to_text()
            if len(text.encode()) <= MAX_BYTES:
                return text, {hit.id for hit in (*memories, *passages)}
            (passages or memories).pop()
        return "", set()

    def _read(self, agent: str, session: str, query: str | None, **limits: Any) -> Context:
        request = ContextRequest(agent=agent, session=session, query=query, noted=False, **limits)
        return self._memory.backend.context(request)


def _is_news(hit: Hit, told: set[str]) -> bool:
    return hit.id not in told and hit.relevance is not None and hit.relevance >= MIN_RELEVANCE
