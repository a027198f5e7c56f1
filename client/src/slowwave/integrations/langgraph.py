"""LangGraph: a node that records the messages of a thread, and the context for the next model call.

    turns = SlowwaveTurns(memory, "atlas")

    async def answer(state: MessagesState, config: RunnableConfig):
        known = await turns.acontext(state["messages"], config)
        return {"messages": [await model.ainvoke([*known, *state["messages"]])]}

    graph.add_node("answer", answer)
    graph.add_node("record", turns.node())  # after the last message of a turn

`slowwave.integrations.langgraph_store` has a store for notes and lookups of an agent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slowwave.async_memory import AsyncMemory
from slowwave.integrations.media import Described, described
from slowwave.integrations.safe import MAX_TOKENS, PromptContext, SafeMemory, TurnPart, digest, log
from slowwave.memory import Memory
from slowwave.message_parts import kind_of
from slowwave.messages import MAX_MESSAGES

try:
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.runnables import RunnableConfig, RunnableLambda
except ImportError as error:  # pragma: no cover (the extra is installed where tests run)
    raise ImportError("LangGraph is missing: install the extra `langgraph` of slowwave (docs/install.md)") from error

MAX_THREADS = 1_000
"""Of so many threads a process knows how far it has recorded them; of others it hands over the newest messages again,
which changes nothing."""


class SlowwaveTurns:
    """Records the threads of one agent and gives them context. A thread (`configurable.thread_id`) is a session.

    Messages are identified by LangGraph's ids, so a repeated node, a resumed thread and a repeated history record
    nothing twice. scope, scopes, user, max_tokens: see `SafeMemory`. messages: the key of the graph's state that holds
    the messages. Raises InvalidName.
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        agent: str,
        *,
        scope: str | None = None,
        scopes: Sequence[str] = (),
        user: str | None = None,
        max_tokens: int = MAX_TOKENS,
        messages: str = "messages",
    ) -> None:
        self._safe = SafeMemory(memory, agent, scope=scope, scopes=scopes, user=user, max_tokens=max_tokens)
        self._messages = messages
        self._recorded: dict[str, str] = {}  # thread -> the key of the message that was recorded last

    def context(self, messages: Sequence[AnyMessage], config: RunnableConfig) -> list[AnyMessage]:
        """Return the context as messages for the model's input. Put them before `messages`, and do not store them in
        the state.

        A reply waits at most a few seconds for the context, and then continues without it.
        """
        session = _thread(config)
        return [] if session is None else _as_messages(self._safe.boost_and_read(session, _question(messages)))

    async def acontext(self, messages: Sequence[AnyMessage], config: RunnableConfig) -> list[AnyMessage]:
        """As `context`, for an event loop."""
        session = _thread(config)
        return [] if session is None else _as_messages(await self._safe.aboost_and_read(session, _question(messages)))

    def node(self) -> RunnableLambda[Any, dict[str, Any]]:
        """Return a node that records the state's messages and changes nothing, for `invoke` and `ainvoke`."""
        return RunnableLambda(self.record, afunc=self.arecord, name="slowwave_record")

    def record(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Record the new messages of a state (a mapping or an object with messages). The state does not change."""
        session, said = self._new(state, config)
        if session is not None and said and self._safe.record(session, said):
            self._remember(session, said[-1].key)
        return {}

    async def arecord(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Record the new messages as `record` does, in a thread."""
        session, said = self._new(state, config)
        if session is not None and said and await self._safe.arecord(session, said):
            self._remember(session, said[-1].key)
        return {}

    def _new(self, state: Any, config: RunnableConfig) -> tuple[str | None, list[TurnPart]]:
        session = _thread(config)
        messages = state.get(self._messages) if isinstance(state, Mapping) else getattr(state, self._messages, None)
        if session is None or not messages:
            return None, []
        said = list(_said(messages))
        last = self._recorded.get(session)
        # Start at the last recorded message, so that a reply belongs to the turn of its question.
        start = next((place for place, one in enumerate(said) if one.key == last), None)
        if start == len(said) - 1:
            return session, []
        return session, said[-MAX_MESSAGES:] if start is None else said[start:]

    def _remember(self, session: str, key: str) -> None:
        self._recorded.pop(session, None)
        self._recorded[session] = key
        if len(self._recorded) > MAX_THREADS:
            self._recorded.pop(next(iter(self._recorded)), None)


def _thread(config: RunnableConfig) -> str | None:
    """Return the session's name; None, with a log line, if the graph runs without a thread."""
    thread = (config.get("configurable") or {}).get("thread_id")
    if thread is None:
        log.warning("a graph ran without a thread_id in its config: it has no memory")
        return None
    return str(thread)


def _said(messages: Sequence[AnyMessage]) -> Iterator[TurnPart]:
    """Return messages of user, agent and tools, without instructions, summaries and repeated unanswered questions."""
    unanswered: set[str] = set()
    for place, message in enumerate(messages):
        media, calls = _media(message), _calls(message)
        text = media.after(str(message.text))
        if not (text.strip() or calls) or _is_summary(message):
            continue
        if not isinstance(message, HumanMessage | AIMessage | ToolMessage):
            continue
        key = message.id or f"{place}:{digest(message.type, text, *(str(call) for call in calls))}"
        if isinstance(message, ToolMessage):
            failed = message.status == "error"
            yield TurnPart("tool", text, key, message.name, (), message.tool_call_id, failed, media.left_out)
        elif isinstance(message, AIMessage):
            unanswered.clear()
            yield TurnPart("assistant", text, key, message.name, calls, left_out=media.left_out)
        elif text not in unanswered:
            unanswered.add(text)
            yield TurnPart("user", text, key, message.name, left_out=media.left_out)


def _media(message: AnyMessage) -> Described:
    """Describe the parts of a message that are neither text nor a tool call or result."""
    parts = message.content if isinstance(message.content, list) else []
    return described(
        part
        for part in parts
        if isinstance(part, Mapping) and not isinstance(part.get("text"), str) and not _is_of_tool(kind_of(part))
    )


def _is_of_tool(kind: str) -> bool:
    """Return True if a part belongs to a tool call or result; LangChain gives both also outside the content."""
    return "tool_" in kind or kind in {"function_call", "input_json_delta"}


def _calls(message: AnyMessage) -> tuple[Mapping[str, Any], ...]:
    """Return the tool calls of a model, including those with unreadable arguments."""
    if not isinstance(message, AIMessage):
        return ()
    given = (*message.tool_calls, *message.invalid_tool_calls)
    return tuple({"name": call["name"] or "tool", "args": call["args"], "id": call["id"]} for call in given)


def _is_summary(message: AnyMessage) -> bool:
    """Return True if LangChain's summarization marked a message as a summary of older ones."""
    return bool(message.additional_kwargs.get("lc_source") == "summarization")


def _question(messages: Sequence[AnyMessage]) -> str | None:
    asked = (str(message.text) for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(asked, None)


def _as_messages(known: PromptContext) -> list[AnyMessage]:
    return [SystemMessage(known.introduction), HumanMessage(known.text)] if known else []
