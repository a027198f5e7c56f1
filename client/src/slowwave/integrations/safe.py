"""`SafeMemory`: one agent's memory for the hooks of a framework. It records and reads, and never raises."""

import asyncio
import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from queue import Empty, SimpleQueue
from typing import Any, Literal, NamedTuple, TypeVar

from slowwave.async_memory import AsyncMemory
from slowwave.errors import InvalidName, shown
from slowwave.identity import check_name, shared_scope
from slowwave.memory import Memory
from slowwave.messages import MAX_CONTENT_CHARACTERS, MAX_KEY_CHARACTERS, MAX_MESSAGES
from slowwave.postgres_text import clean_text
from slowwave.prompt_notice import NOTICE
from slowwave.recall.briefing import INTRODUCTION

log = logging.getLogger(__name__)

MAX_TOKENS = 1_500
"""What a context takes of a prompt unless the host says otherwise."""

TIMEOUT_SECONDS = 3.0
"""How long a reply waits for its context: without one it is poorer, without an answer it is none."""

# The first line of a context, as one text or as the messages of `Context.to_messages`. A person's own Markdown contains
# no line in this form.
_OURS = re.compile(
    rf"\s*(?:{re.escape(NOTICE)}|{re.escape(INTRODUCTION)}|## [^\n]+\n\n`{{3,}}text\n- [^\n]*\[(?:memory|said|day) )"
)

T = TypeVar("T")
E = TypeVar("E")


class TurnPart(NamedTuple):
    """One message of a turn, or one result of a tool.

    key: an idempotency key within the session; name: the name of the speaker or the tool. calls: an assistant's tool
    calls, as {"name", "args", "id"}. call_id: the id of the call that a tool result belongs to; error: True if that
    call failed.
    left_out: the kinds of parts without text; the event counts them in `metadata.left_out`.
    """

    role: Literal["user", "assistant", "tool"]
    content: str
    key: str
    name: str | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    call_id: str | None = None
    error: bool = False
    left_out: tuple[str, ...] = ()


class PromptContext(NamedTuple):
    """A context for a model: an introduction for the system's role, and the fenced text. An empty context is falsy."""

    introduction: str
    text: str

    def __bool__(self) -> bool:
        return bool(self.text)


NO_CONTEXT = PromptContext("", "")


class SafeMemory:
    """One agent's memory for hooks. Failures are logged, without any text of a conversation.

    scope: the scope that sessions write to and read ("room:NAME", "team:NAME"; None: the agent's own). scopes: further
    rooms and teams to read. user: the name of the person who speaks, for messages without a name; without a name,
    memories say "the user". max_tokens: the size limit of a context. timeout_seconds: the longest time that a reply
    waits for its context. Raises InvalidName for an invalid name, because such a name is a mistake in the host's code.
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
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        if isinstance(scopes, str):
            raise InvalidName(f"scopes must be a list of scopes, got the text {scopes[:50]!r}")
        self.memory = memory.memory if isinstance(memory, AsyncMemory) else memory
        self.memory.warm()
        self.agent = check_name("agent", agent)
        self.scope = scope
        self.scopes = tuple(dict.fromkeys([*([] if scope is None else [scope]), *scopes]))
        for named in self.scopes:
            shared_scope(named)
        self._user = None if user is None else check_name("user", user)
        self._max_tokens = max_tokens
        self._timeout_seconds = timeout_seconds

    def record(self, session: str, said: Sequence[TurnPart]) -> bool:
        """Record messages in order. Return False if some of them are neither committed nor spooled.

        If the session already has a message with the same key, nothing changes. A context that Slowwave made is not
        recorded again if the host includes it in the messages.
        """
        complete = True
        for part in _parts([_fitted(self._named(one)) for one in said if not is_context(one.content)]):
            call = partial(self.memory.turn_completed, self.agent, session, part, scope=self.scope)
            complete &= self.safely("a turn was not recorded", session, call, None) is not None
        return complete

    def _named(self, said: TurnPart) -> TurnPart:
        return said._replace(name=self._user) if said.role == "user" and said.name is None else said

    def read(self, session: str, query: str | None) -> PromptContext:
        """Return the context for `query`, or NO_CONTEXT if it can't be read."""
        return self.safely("there is no context", session, partial(self._read, session, query), NO_CONTEXT)

    def boost(self, session: str) -> None:
        """Flush the agent's other sessions first, because a prompt arrived."""
        call = partial(self.memory.prompt_arrived, self.agent, session)
        self.safely("nothing was boosted", session, call, None)

    def reset(self, session: str) -> None:
        """End the conversation and flush it now."""
        self.safely("no flush was asked for", session, partial(self.memory.session_reset, self.agent, session), None)

    def boost_and_read(self, session: str, query: str | None) -> PromptContext:
        """Call `boost`, then `read`. Return NO_CONTEXT if both together exceed the timeout."""
        answer: SimpleQueue[PromptContext] = SimpleQueue()
        # A daemon thread, so that an ending process does not wait for it.
        threading.Thread(
            target=lambda: answer.put(self._boost_then_read(session, query)), name="slowwave-context", daemon=True
        ).start()
        try:
            return answer.get(timeout=self._timeout_seconds)
        except Empty:
            return self._too_late(session)

    async def arecord(self, session: str, said: Sequence[TurnPart]) -> bool:
        """Run `record` in a thread. A started call completes even if the caller is cancelled."""
        return await asyncio.to_thread(self.record, session, said) if said else True

    async def areset(self, session: str) -> None:
        """`reset` in a thread."""
        await asyncio.to_thread(self.reset, session)

    async def aboost_and_read(self, session: str, query: str | None) -> PromptContext:
        """`boost_and_read` for an event loop."""
        try:
            reading = asyncio.to_thread(self._boost_then_read, session, query)
            return await asyncio.wait_for(reading, self._timeout_seconds)
        except TimeoutError:
            return self._too_late(session)

    def safely(self, complaint: str, session: str, call: Callable[[], T], otherwise: E) -> T | E:
        """Return the result of `call`; if it fails, log the failure and return `otherwise`."""
        try:
            return call()
        except Exception as error:  # noqa: BLE001 (an agent must answer, whatever became of its memory)
            # Log only the class, because an error's message may quote a conversation.
            log.warning("%s for %s/%s: %s", complaint, self.agent, _word(session), type(error).__name__)
            return otherwise

    def _boost_then_read(self, session: str, query: str | None) -> PromptContext:
        self.boost(session)
        return self.read(session, query)

    def _too_late(self, session: str) -> PromptContext:
        log.warning("no context for %s/%s within %s s", self.agent, _word(session), self._timeout_seconds)
        return NO_CONTEXT

    def _read(self, session: str, query: str | None) -> PromptContext:
        context = self.memory.context(
            self.agent, session, query, scopes=self.scopes, max_tokens=self._max_tokens, format="messages"
        )
        messages = context.to_messages()
        return PromptContext(messages[0]["content"], messages[1]["content"]) if messages else NO_CONTEXT


def _word(session: object) -> str:
    """Return a session's name for a log line. Callers choose names; a line break in one would forge a log line."""
    return session if isinstance(session, str) and session.isprintable() else shown(session)


def is_context(text: str) -> bool:
    """Return True if Slowwave made this text as a context."""
    return _OURS.match(text) is not None


def digest(*parts: str) -> str:
    """Return a digest of texts: 32 hexadecimal digits."""
    hashed = sha256()
    for part in parts:
        encoded = clean_text(part).encode()
        hashed.update(f"{len(encoded)}:".encode() + encoded)
    return hashed.hexdigest()[:32]


def with_left_out(text: str, left_out: Sequence[str]) -> Any:
    """Return the content of a message and the kinds of its parts without text, which the event counts."""
    return [text, *({"type": kind} for kind in left_out)] if left_out else text


def _fitted(said: TurnPart) -> dict[str, Any]:
    """Return a message for `turn_completed` within its limits; longer text is cut."""
    key = said.key if len(said.key) <= MAX_KEY_CHARACTERS else digest(said.key)
    message: dict[str, Any] = {"role": said.role, "key": clean_text(key)}
    if said.role == "tool":
        # Recording itself keeps only the beginning and the end of a tool result.
        return message | {
            "content": with_left_out(said.content, said.left_out),
            "name": said.name,
            "tool_call_id": said.call_id,
            "is_error": said.error,
        }
    message["content"] = with_left_out(said.content[:MAX_CONTENT_CHARACTERS], said.left_out)
    if said.calls:
        message["tool_calls"] = said.calls
    try:
        return message if said.name is None else message | {"name": check_name("name", said.name)}
    except InvalidName:
        return message


def _parts(messages: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(messages), MAX_MESSAGES):
        yield messages[start : start + MAX_MESSAGES]
