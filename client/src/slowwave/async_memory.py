"""`AsyncMemory`: the same hooks for hosts with an event loop. Each call runs `Memory`'s own in a few threads.

Must not know: anything that `Memory` does.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, Unpack

from slowwave.async_changes import FollowingAsync
from slowwave.async_curation import CuratingAsync
from slowwave.memory import Memory, Receipt, Status
from slowwave.memory_types import MemoryType
from slowwave.messages import Message, TaskEvent
from slowwave.settings import Settings, load_settings
from slowwave.store import Mode
from slowwave.working import Noted, WorkingStats

if TYPE_CHECKING:
    from slowwave.recall import Chosen, Context, Format, Hit, Order

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 8


class AsyncMemory(CuratingAsync, FollowingAsync):
    """As `Memory`, awaited. A call that is cancelled may still be carried out.

    memory: what does the work, to share it; else it is made from `settings`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        mode: Mode = "durable",
        raise_errors: bool = False,
        memory: Memory | None = None,
    ) -> None:
        self.memory = memory or Memory(settings or load_settings(), mode=mode, raise_errors=raise_errors)
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="slowwave")

    @classmethod
    def from_env(cls, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any) -> Self:
        """Make one from the settings of this process; `overrides` are top-level keys. Raises InvalidSettings."""
        return cls(load_settings(**overrides), mode=mode, raise_errors=raise_errors)

    @classmethod
    def from_url(
        cls, url: str, key: str, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any
    ) -> Self:
        """See `Memory.from_url`."""
        return cls(memory=Memory.from_url(url, key, mode=mode, raise_errors=raise_errors, **overrides))

    async def turn_completed(
        self,
        agent: str,
        session: str,
        messages: Sequence[Message | Mapping[str, Any]],
        *,
        room_id: str | None = None,
        thread_id: str | None = None,
        scope: str | None = None,
        key: str | None = None,
    ) -> Receipt:
        """See `Memory.turn_completed`."""
        return await self._run(
            self.memory.turn_completed,
            agent,
            session,
            messages,
            room_id=room_id,
            thread_id=thread_id,
            scope=scope,
            key=key,
        )

    async def task_event(
        self,
        agent: str,
        session: str,
        event: TaskEvent,
        text: str,
        *,
        at: datetime | str | None = None,
        key: str | None = None,
        run: str | None = None,
    ) -> Receipt:
        """See `Memory.task_event`."""
        return await self._run(self.memory.task_event, agent, session, event, text, at=at, key=key, run=run)

    async def session_idle(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_idle`."""
        return await self._run(self.memory.session_idle, agent, session)

    async def session_compacted(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_compacted`."""
        return await self._run(self.memory.session_compacted, agent, session)

    async def session_reset(self, agent: str, session: str) -> Receipt:
        """See `Memory.session_reset`."""
        return await self._run(self.memory.session_reset, agent, session)

    async def prompt_arrived(self, agent: str, session: str) -> tuple[str, ...]:
        """See `Memory.prompt_arrived`."""
        return await self._run(self.memory.prompt_arrived, agent, session)

    async def remember(
        self,
        agent: str,
        content: str,
        importance: float = 0.5,
        session: str | None = None,
        *,
        type: MemoryType = "fact",  # noqa: A002 (as in `Memory`)
        marked: bool = False,
        scope: str | None = None,
        ttl_seconds: float | None = None,
        key: str | None = None,
        at: datetime | str | None = None,
    ) -> Noted:
        """See `Memory.remember`."""
        return await self._run(
            self.memory.remember,
            agent,
            content,
            importance,
            session,
            type=type,
            marked=marked,
            scope=scope,
            ttl_seconds=ttl_seconds,
            key=key,
            at=at,
        )

    async def consolidate_now(self, agent: str, scope: str | None = None) -> bool:
        """See `Memory.consolidate_now`."""
        return await self._run(self.memory.consolidate_now, agent, scope)

    async def stats(self, agent: str, scope: str | None = None) -> WorkingStats:
        """See `Memory.stats`."""
        return await self._run(self.memory.stats, agent, scope)

    async def search(
        self,
        agent: str,
        query: str,
        limit: int = 10,
        *,
        scopes: Sequence[str] = (),
        include_review: bool = False,
        now: datetime | None = None,
        order: "Order" = "auto",
        **chosen: "Unpack[Chosen]",
    ) -> "list[Hit]":
        """See `Memory.search`."""
        options: dict[str, Any] = {"scopes": scopes, "include_review": include_review, "now": now, "order": order}
        return await self._run(self.memory.search, agent, query, limit, **options, **chosen)

    async def context(
        self,
        agent: str,
        session: str | None = None,
        query: str | None = None,
        days: int | None = None,
        *,
        scopes: Sequence[str] = (),
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        format: "Format" = "markdown",  # noqa: A002 (as in `Memory`)
    ) -> "Context":
        """See `Memory.context`; `count_tokens` runs in a thread."""
        return await self._run(
            self.memory.context,
            agent,
            session,
            query,
            days,
            scopes=scopes,
            max_tokens=max_tokens,
            count_tokens=count_tokens,
            format=format,
        )

    async def status(self) -> Status:
        """See `Memory.status`."""
        return await self._run(self.memory.status)

    async def warm(self) -> None:
        """See `Memory.warm`; it returns at once."""
        self.memory.warm()

    async def flush(self, timeout: float = 30.0) -> bool:  # noqa: ASYNC109 (as in `Memory`; a thread waits, not the loop)
        """See `Memory.flush`."""
        return await self._run(self.memory.flush, timeout)

    async def close(self) -> None:
        """See `Memory.close`."""
        await self._run(self.memory.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        # The thread sees what is set for this task of the loop, such as the span that is open in it.
        context = copy_context()
        return await loop.run_in_executor(self._threads, lambda: context.run(call, *args, **kwargs))
