"""OpenAI Agents SDK: a `Session` that records what passes through it, and a filter that gives the model its context.

    session = SlowwaveSession(memory, "atlas", SQLiteSession("monday", "chats.db"))
    run_config = RunConfig(call_model_input_filter=session.add_context)
    await Runner.run(agent, "Hello", session=session, run_config=run_config)

Must not know: how anything is stored; the service.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from slowwave.async_memory import AsyncMemory
from slowwave.identity import check_name
from slowwave.integrations.quiet import MAX_TOKENS, Known, QuietMemory, Said
from slowwave.memory import Memory

try:
    from agents import OpenAIConversationsSession, SQLiteSession
    from agents.handoffs import get_conversation_history_wrappers
    from agents.memory import Session, SessionABC, SessionSettings
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:  # pragma: no cover (the extra is installed where tests run)
    raise ImportError(
        "The OpenAI Agents SDK is missing or too old: install the extra `openai-agents` of slowwave (docs/install.md)"
    ) from error

Item = Any  # a TypedDict of some sort: what the SDK keeps
Words = tuple[Literal["user", "assistant"], str]

REPEATED_WITHIN = 100
"""Of how many of the last items a list of input may bring some back without their being recorded again."""

_TEXTS = ("input_text", "output_text", "text")


class SlowwaveSession(SessionABC):  # the protocol's own base, so that whoever checks for it finds it
    """A session of the SDK that hands its items on to `session`, and records what user and agent say in them.

    session: any other session of the SDK, or an id: then its items are kept in this process alone. What was recorded
    stays recorded, whatever becomes of the items: `pop_item` takes back none of it, and `clear_session` says that the
    conversation has ended. scope, scopes, max_tokens: see `QuietMemory`. Errors of `session` are raised as they are,
    Slowwave's never. Raises InvalidName, and TypeError for a session that OpenAI keeps (it takes no other's place).
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        agent: str,
        session: Session | str,
        *,
        scope: str | None = None,
        scopes: Sequence[str] = (),
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        if isinstance(session, OpenAIConversationsSession):
            raise TypeError("an OpenAIConversationsSession can't be wrapped: the SDK must see it to send its ids")
        self._inner: Session = SQLiteSession(session) if isinstance(session, str) else session
        self.session_id: str = check_name("session", self._inner.session_id)
        self.session_settings: SessionSettings | None = getattr(self._inner, "session_settings", None)
        self._quiet = QuietMemory(memory, agent, scope=scope, scopes=scopes, max_tokens=max_tokens)
        # What was said since the user last began to speak.
        self._turn: list[Said] = []
        # What was taken away last, and its keys: the SDK takes back the items of an attempt that failed, and adds them
        # again with the next.
        self._popped: dict[Words, str] = {}
        # What was cleared last: a compaction that fails puts it back.
        self._cleared: list[Words | None] = []
        self._known: tuple[str | None, Known] | None = None

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """The items of the wrapped session. A run begins with this: its context is read anew."""
        self._known = None
        return list(await self._inner.get_items(limit))

    async def add_items(self, items: list[Item]) -> None:
        """Add items to the wrapped session, and record what user and agent say in those that it did not have."""
        words = [words_of(item) for item in items]
        before: list[Item] = []
        if any(one is not None and one[0] == "user" for one in words):
            before = await self._inner.get_items(REPEATED_WITHIN)
        await self._inner.add_items(items)
        cleared, self._cleared = self._cleared, []
        put_back = len(words) > 1 and words == cleared
        if not put_back and not any(_is_compaction(item) for item in items):
            await self._record(_new([words_of(item) for item in before], words))

    async def pop_item(self) -> Item | None:
        """Take the last item from the wrapped session. What was recorded of it stays."""
        item = await self._inner.pop_item()
        if self._turn and item is not None and words_of(item) == (self._turn[-1].role, self._turn[-1].content):
            taken = self._turn.pop()
            self._popped[taken.role, taken.content] = taken.key
        return item

    async def clear_session(self) -> None:
        """Empty the wrapped session: the conversation has ended. What was recorded stays, and is processed now."""
        cleared = [words_of(item) for item in await self._inner.get_items()]
        await self._inner.clear_session()
        self._turn, self._popped, self._cleared, self._known = [], {}, cleared, None
        await self._quiet.areset(self.session_id)

    async def add_context(self, data: CallModelData[Any]) -> ModelInputData:
        """A `call_model_input_filter`: what the agent knows stands before the conversation, and in no session."""
        given = data.model_data
        question = next(
            (words[1] for words in map(words_of, reversed(given.input)) if words and words[0] == "user"), None
        )
        if self._known is None or self._known[0] != question:
            self._known = question, await self._quiet.aprompted_and_known(self.session_id, question)
        known = self._known[1]
        if not known:
            return given
        instructions = "\n\n".join(filter(None, [given.instructions, known.introduction]))
        return ModelInputData(input=[{"role": "user", "content": known.text}, *given.input], instructions=instructions)

    async def _record(self, new: Sequence[Words]) -> None:
        if not new:
            return
        popped, self._popped = self._popped, {}
        if new[0][0] == "user" and self._turn and self._turn[-1].role == "assistant":
            self._turn = []
        said = [Said(role, text, popped.get((role, text)) or uuid4().hex) for role, text in new]
        # With what was said last before it, which is recorded already: so a reply belongs to the turn of its question.
        await self._quiet.arecord(self.session_id, [*self._turn[-1:], *said])
        self._turn += said


def words_of(item: Item) -> Words | None:
    """Who says what in an item; None if it is no message of user or agent, or holds no words."""
    if not isinstance(item, Mapping) or item.get("type", "message") != "message":
        return None
    role, content = item.get("role"), item.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") in _TEXTS]
        content = "\n".join(text for text in texts if isinstance(text, str))
    if role not in {"user", "assistant"} or not isinstance(content, str) or not content.strip():
        return None
    # A handoff may fold the conversation into one message for the next agent: nobody said that.
    if all(mark in content for mark in get_conversation_history_wrappers()):
        return None
    return role, content


def _is_compaction(item: Item) -> bool:
    """Whether an item stands for older ones: then those beside it are what was kept of them, and nothing new."""
    return isinstance(item, Mapping) and str(item.get("type", "")).startswith("compaction")


def _new(before: Sequence[Words | None], items: Sequence[Words | None]) -> list[Words]:
    """Of what is added behind `before`, what was not recorded with it.

    A question that stands unanswered at the end already is asked again after a failure. Messages that come before a
    question, an answer among them, are history that the host handed in once more.
    """
    unanswered: set[Words] = set()
    for words in reversed(before):
        if words is None or words[0] != "user":
            break
        unanswered.add(words)
    question = max((place for place, words in enumerate(items) if words and words[0] == "user"), default=0)
    replayed = any(words and words[0] == "assistant" for words in items[:question])
    known = unanswered | {words for words in before if words and replayed}
    return [
        words for place, words in enumerate(items) if words and words not in (known if place < question else unanswered)
    ]
