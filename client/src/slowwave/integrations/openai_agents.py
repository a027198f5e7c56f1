"""OpenAI Agents SDK: a `Session` that records the messages of runs, and a filter that adds the context.

Example:
    session = SlowwaveSession(memory, "atlas", SQLiteSession("monday", "chats.db"))
    run_config = RunConfig(call_model_input_filter=session.add_context)
    await Runner.run(agent, "Hello", session=session, run_config=run_config)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from slowwave.async_memory import AsyncMemory
from slowwave.identity import check_name
from slowwave.integrations.media import Described, described
from slowwave.integrations.safe import MAX_TOKENS, PromptContext, SafeMemory, TurnPart
from slowwave.memory import Memory
from slowwave.message_parts import mark_of

try:
    from agents import OpenAIConversationsSession, SQLiteSession
    from agents.handoffs import get_conversation_history_wrappers
    from agents.memory import Session, SessionABC, SessionSettings
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:  # pragma: no cover (the extra is installed where tests run)
    raise ImportError(
        "The OpenAI Agents SDK is missing or too old: install the extra `openai-agents` of slowwave (docs/install.md)"
    ) from error

Item = Any  # a TypedDict of the SDK: an item that it stores


class Words(NamedTuple):
    """The text of a user or an agent. left_out: the kinds of its parts without text."""

    role: Literal["user", "assistant"]
    content: str
    left_out: tuple[str, ...] = ()


class ToolItem(NamedTuple):
    """A tool call (role `call`; content: its arguments) or a tool's result (role `tool`)."""

    role: Literal["call", "tool"]
    content: str
    name: str | None
    call_id: str | None


Heard = Words | ToolItem

REPEATED_WITHIN = 100
"""Of how many of the last items a list of input may bring some back without their being recorded again."""

MAX_CALLS = 1_000
"""Of so many calls the names are known when their results come."""

_TEXTS = ("input_text", "output_text", "text")
# Tools that OpenAI itself runs (web search, MCP servers) have call and answer in one item; they are not recorded.
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


class SlowwaveSession(SessionABC):  # the protocol's own base class, so that isinstance checks succeed
    """A session of the SDK that wraps another one, and records the messages of user, agent and tools.

    session: another session of the SDK, or an id; with an id, this process alone keeps the items. Recorded messages
    stay recorded: `pop_item` removes none of them, and `clear_session` only ends the conversation. scope, scopes, user,
    max_tokens: see `SafeMemory`. Errors of `session` are raised unchanged; Slowwave's own errors are logged, not
    raised. Raises InvalidName, and TypeError for a session that OpenAI stores (it can't be wrapped).
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        agent: str,
        session: Session | str,
        *,
        scope: str | None = None,
        scopes: Sequence[str] = (),
        user: str | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        if isinstance(session, OpenAIConversationsSession):
            raise TypeError("an OpenAIConversationsSession can't be wrapped: the SDK must see it to send its ids")
        self._inner: Session = SQLiteSession(session) if isinstance(session, str) else session
        self.session_id: str = check_name("session", self._inner.session_id)
        self.session_settings: SessionSettings | None = getattr(self._inner, "session_settings", None)
        self._safe = SafeMemory(memory, agent, scope=scope, scopes=scopes, user=user, max_tokens=max_tokens)
        # The messages since the user's latest question.
        self._turn: list[tuple[Heard, TurnPart]] = []
        self._names: dict[str, str] = {}  # tool names by the ids of their calls
        # The item that was removed last, and its keys: the SDK removes the items of a failed attempt and adds them
        # again with the next attempt.
        self._popped: dict[Heard, str] = {}
        # The items that were cleared last: a compaction that fails adds them again.
        self._cleared: list[Heard | None] = []
        self._known: tuple[str | None, PromptContext] | None = None

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """Return the items of the wrapped session. A run begins with this call, so it also reads the context again."""
        self._known = None
        return list(await self._inner.get_items(limit))

    async def add_items(self, items: list[Item]) -> None:
        """Add items to the wrapped session, and record the messages in the new ones."""
        words = [heard_in(item) for item in items]
        before: list[Item] = []
        if any(one is not None and one[0] == "user" for one in words):
            before = await self._inner.get_items(REPEATED_WITHIN)
        await self._inner.add_items(items)
        cleared, self._cleared = self._cleared, []
        put_back = len(words) > 1 and words == cleared
        if not put_back and not any(_is_compaction(item) for item in items):
            await self._record(_new([heard_in(item) for item in before], words))

    async def pop_item(self) -> Item | None:
        """Remove the last item from the wrapped session. The recorded message stays."""
        item = await self._inner.pop_item()
        if self._turn and item is not None and heard_in(item) == self._turn[-1][0]:
            heard, taken = self._turn.pop()
            self._popped[heard] = taken.key
        return item

    async def clear_session(self) -> None:
        """Empty the wrapped session and end the conversation. Recorded messages stay, and are flushed now."""
        cleared = [heard_in(item) for item in await self._inner.get_items()]
        await self._inner.clear_session()
        self._turn, self._popped, self._cleared, self._known = [], {}, cleared, None
        await self._safe.areset(self.session_id)

    async def add_context(self, data: CallModelData[Any]) -> ModelInputData:
        """A `call_model_input_filter` that puts the context before the conversation; no session stores it."""
        given = data.model_data
        question = next(
            (words[1] for words in map(words_of, reversed(given.input)) if words and words[0] == "user"), None
        )
        if self._known is None or self._known[0] != question:
            self._known = question, await self._safe.aboost_and_read(self.session_id, question)
        known = self._known[1]
        if not known:
            return given
        instructions = "\n\n".join(filter(None, [given.instructions, known.introduction]))
        return ModelInputData(input=[{"role": "user", "content": known.text}, *given.input], instructions=instructions)

    async def _record(self, new: Sequence[Heard]) -> None:
        if not new:
            return
        popped, self._popped = self._popped, {}
        if new[0][0] == "user" and self._turn and self._turn[-1][0][0] != "user":
            self._turn = []
        said = [(heard, self._said(heard, popped.get(heard) or uuid4().hex)) for heard in new]
        # Include the last recorded message before it, so that a reply belongs to the turn of its question.
        await self._safe.arecord(self.session_id, [one for _, one in (*self._turn[-1:], *said)])
        self._turn += said

    def _said(self, heard: Heard, key: str) -> TurnPart:
        if not isinstance(heard, ToolItem):
            return TurnPart(heard.role, heard.content, key, left_out=heard.left_out)
        if heard.role == "tool":
            return TurnPart("tool", heard.content, key, self._names.get(heard.call_id or ""), call_id=heard.call_id)
        name = heard.name or "tool"
        if heard.call_id is not None:
            self._names[heard.call_id] = name
            if len(self._names) > MAX_CALLS:
                self._names.pop(next(iter(self._names)))
        return TurnPart("assistant", "", key, calls=({"name": name, "args": heard.content, "id": heard.call_id},))


def words_of(item: Item) -> Words | None:
    """Return speaker and text of an item; None if it is not a message of user or agent, or has no text."""
    if not isinstance(item, Mapping) or item.get("type", "message") != "message":
        return None
    role, content = item.get("role"), item.get("content")
    media = Described()
    if isinstance(content, Sequence) and not isinstance(content, str):
        parts = [part for part in content if isinstance(part, Mapping)]
        texts = [part.get("text") for part in parts if part.get("type") in _TEXTS]
        media = described(part for part in parts if part.get("type") not in _TEXTS)
        content = media.after("\n".join(text for text in texts if isinstance(text, str)))
    if role not in {"user", "assistant"} or not isinstance(content, str) or not content.strip():
        return None
    # A handoff may fold the conversation into one message for the next agent; nobody said this message.
    if all(mark in content for mark in get_conversation_history_wrappers()):
        return None
    return Words(role, content, media.left_out)


def heard_in(item: Item) -> Heard | None:
    """Return the message, tool call or tool result in an item; None for other items."""
    return words_of(item) or _tool_item(item)


def _tool_item(item: Item) -> ToolItem | None:
    if not isinstance(item, Mapping):
        return None
    kind, call_id, name = item.get("type"), item.get("call_id") or item.get("id"), item.get("name")
    call_id = call_id if isinstance(call_id, str) else None
    if kind in _CALLS:
        arguments = item.get("arguments", item.get("input"))
        name = name if isinstance(name, str) else None
        return ToolItem("call", arguments if isinstance(arguments, str) else "", name, call_id)
    if kind in _RESULTS:
        return ToolItem("tool", _output(item.get("output")), None, call_id)
    return None


def _output(output: Any) -> str:
    """Return the text of a tool's output; for an image or a file its description, or its type without a description."""
    if not isinstance(output, Sequence) or isinstance(output, str):
        return output if isinstance(output, str) else ""
    parts = [part for part in output if isinstance(part, Mapping)]
    return "\n".join(
        part["text"] if isinstance(part.get("text"), str) else mark_of(part) or f"[{part.get('type')}]"
        for part in parts
    )


def _is_compaction(item: Item) -> bool:
    """Return True if an item replaces older ones; the items beside it are then old items that were kept."""
    return isinstance(item, Mapping) and str(item.get("type", "")).startswith("compaction")


def _new(before: Sequence[Heard | None], items: Sequence[Heard | None]) -> list[Heard]:
    """Return the added items behind `before` that are not recorded yet.

    If the last recorded item is the same unanswered question, the question repeats after a failure. Messages before a
    question, with an answer among them, are history that the host passed again.
    """
    unanswered: set[Heard] = set()
    for words in reversed(before):
        if words is None or words[0] != "user":
            break
        unanswered.add(words)
    question = max((place for place, words in enumerate(items) if words and words[0] == "user"), default=0)
    replayed = any(words and words[0] != "user" for words in items[:question])
    known = unanswered | {words for words in before if words and replayed}
    return [
        words for place, words in enumerate(items) if words and words not in (known if place < question else unanswered)
    ]
