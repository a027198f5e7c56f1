"""Pydantic AI: a capability that gives an agent's runs their context, and records their messages.

Example:
    agent = Agent(model, capabilities=[SlowwaveMemory(memory, "atlas")])
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from slowwave.async_memory import AsyncMemory
from slowwave.identity import check_name
from slowwave.integrations.media import Described, described, part_of
from slowwave.integrations.safe import MAX_TOKENS, PromptContext, SafeMemory, TurnPart
from slowwave.memory import Memory

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler
    from pydantic_ai.messages import (
        BinaryContent,
        CachePoint,
        FilePart,
        FileUrl,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        NativeToolCallPart,
        NativeToolReturnPart,
        RetryFeedbackPart,
        SystemPromptPart,
        TextContent,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UploadedFile,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
except ImportError as error:  # pragma: no cover (the extra is installed where tests run)
    raise ImportError(
        "Pydantic AI is missing or too old: install the extra `pydantic-ai` of slowwave (docs/install.md)"
    ) from error


MAX_UNANSWERED = 1_000


@dataclass
class _Run:
    """A run in progress. known: the context for all its requests; messages: the messages so far."""

    known: PromptContext | None = None
    answered: bool = False
    messages: list[ModelMessage] = field(default_factory=list)


class SlowwaveMemory(AbstractCapability[Any]):
    """A capability: it adds the agent's context to each request of a run, and records the new messages at the end of
    the run.

    session: the conversation's name, or a function of the run's context; by default the run's conversation id, which
    Pydantic AI keeps in the message history. scope, scopes, user, max_tokens: see `SafeMemory`. The context is part of
    the request only and never enters the message history. Raises InvalidName.
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        agent: str,
        session: str | Callable[[RunContext[Any]], str] | None = None,
        *,
        scope: str | None = None,
        scopes: Sequence[str] = (),
        user: str | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self._safe = SafeMemory(memory, agent, scope=scope, scopes=scopes, user=user, max_tokens=max_tokens)
        self._session = check_name("session", session) if isinstance(session, str) else session
        # runs by id, because runs of one agent may overlap
        self._runs: dict[str, _Run] = {}
        # session -> messages that a failed run has recorded, by their words: a repeated question keeps its key
        self._unanswered: dict[str, dict[str, str]] = {}

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Record the run's own messages at its end, also after a failure: the user's message was said anyway."""
        run = self._runs[str(ctx.run_id)] = _Run()
        try:
            result = await handler()
            run.messages = result.new_messages()
            run.answered = True
            return result
        finally:
            self._runs.pop(str(ctx.run_id), None)
            session = self._name(ctx)
            own = [message for message in run.messages if message.run_id == ctx.run_id]
            said = self._once(session, list(_said(str(ctx.run_id), own)), answered=run.answered)
            await self._safe.arecord(session, said)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Put the context before the conversation, in this request only."""
        run = self._runs.get(str(ctx.run_id)) or _Run()
        run.messages = list(ctx.messages)
        if run.known is None:
            question = _last_question(request_context.messages)
            run.known = await self._safe.aboost_and_read(self._name(ctx), question)
        if run.known:
            # Assign the list, because Pydantic AI would add an inserted message to the message history.
            request_context.messages = _with_context(request_context.messages, run.known)
        return request_context

    def _once(self, session: str, said: Sequence[TurnPart], *, answered: bool) -> list[TurnPart]:
        """Return the same messages; a repeated, unanswered question gets the key of its first occurrence."""
        before = self._unanswered.pop(session, {})
        said = [one._replace(key=before.get(one.content, one.key)) if one.role == "user" else one for one in said]
        if not answered:
            self._unanswered[session] = before | {one.content: one.key for one in said if one.role == "user"}
            if len(self._unanswered) > MAX_UNANSWERED:
                self._unanswered.pop(next(iter(self._unanswered)))
        return list(said)

    def _name(self, ctx: RunContext[Any]) -> str:
        if callable(self._session):
            find = self._session
            return self._safe.safely("its session is unknown", "?", lambda: find(ctx), str(ctx.conversation_id))
        return self._session or str(ctx.conversation_id)


def _said(run: str, messages: Sequence[ModelMessage]) -> Iterable[TurnPart]:
    """Return what user, agent and tools said in a run, without instructions, thoughts and rejected answers."""
    for place, message in enumerate(messages):
        if isinstance(message, ModelRequest):
            for number, part in enumerate(message.parts):
                if isinstance(part, UserPromptPart) and (text := _text(part)):
                    yield TurnPart("user", text, f"{run}:{place}:{number}", left_out=_media(part).left_out)
                elif isinstance(part, ToolReturnPart):
                    yield _result(part, f"{run}:{place}:{number}")
        elif not _turned_down(messages[place + 1 : place + 2]):
            media = described(_part(part.content) for part in message.parts if isinstance(part, FilePart))
            text = media.after("".join(part.content for part in message.parts if isinstance(part, TextPart)))
            calls = tuple(_call(part) for part in message.parts if isinstance(part, ToolCallPart | NativeToolCallPart))
            if text.strip() or calls:
                yield TurnPart("assistant", text, f"{run}:{place}", calls=calls, left_out=media.left_out)
            for number, own in enumerate(message.parts):
                # Tools that the provider runs have their results within the response.
                if isinstance(own, NativeToolReturnPart):
                    yield _result(own, f"{run}:{place}:{number}")


def _call(part: ToolCallPart | NativeToolCallPart) -> dict[str, Any]:
    return {"name": part.tool_name, "args": part.args, "id": part.tool_call_id}


def _result(part: ToolReturnPart | NativeToolReturnPart, key: str) -> TurnPart:
    text = part.model_response_str(wrap_if_error=False)
    error = part.outcome != "success"
    return TurnPart("tool", text, key, part.tool_name, call_id=part.tool_call_id, error=error)


def _with_context(messages: Sequence[ModelMessage], known: PromptContext) -> list[ModelMessage]:
    """Insert a context after the agent's system prompt, which must stay first."""
    ours = [SystemPromptPart(known.introduction), UserPromptPart(known.text)]
    if not messages or not isinstance(messages[0], ModelRequest):
        return [ModelRequest(ours), *messages]
    first = messages[0]
    parts = list(first.parts)
    place = next((n for n, part in enumerate(parts) if not isinstance(part, SystemPromptPart)), len(parts))
    return [replace(first, parts=[*parts[:place], *ours, *parts[place:]]), *messages[1:]]


def _turned_down(following: Sequence[ModelMessage]) -> bool:
    """Return True if the agent asked the model for another answer, so that the user never saw this one."""
    parts = [part for message in following if isinstance(message, ModelRequest) for part in message.parts]
    return any(isinstance(part, RetryFeedbackPart) for part in parts)


def _text(part: UserPromptPart) -> str:
    """Return the words of a user's prompt, and the descriptions of its pictures and files."""
    if isinstance(part.content, str):
        return str(part.content)
    words = [piece.content if isinstance(piece, TextContent) else piece for piece in part.content]
    return _media(part).after("\n".join(word for word in words if isinstance(word, str)))


def _media(part: UserPromptPart) -> Described:
    """Describe the pictures, recordings and files of a prompt."""
    pieces = () if isinstance(part.content, str) else part.content
    return described(_part(piece) for piece in pieces if not isinstance(piece, str | TextContent | CachePoint))


def _part(piece: FileUrl | BinaryContent | UploadedFile) -> dict[str, Any]:
    """Return a file as a part: its kind, and the host's notes about the file."""
    kind = piece.media_type.partition("/")[0] if isinstance(piece, BinaryContent) else piece.kind.partition("-")[0]
    return part_of(kind if kind in {"image", "audio", "video"} else "file", None, piece.vendor_metadata)


def _last_question(messages: Sequence[ModelMessage]) -> str | None:
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            continue
        asked = [_text(part) for part in message.parts if isinstance(part, UserPromptPart)]
        if asked:
            return "\n".join(asked)
    return None
