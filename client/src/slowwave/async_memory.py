"""`AsyncMemory`: the calls of `Memory` for hosts with an event loop. Each call runs in a thread of a small pool."""

import asyncio
import functools
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, Unpack, overload
from uuid import UUID

from slowwave.memory import Memory
from slowwave.memory_curation import Forgettable
from slowwave.memory_records import ForgetPreview, ForgetReceipt
from slowwave.settings import Settings, load_settings
from slowwave.store import Mode

if TYPE_CHECKING:
    from slowwave.changes import Change

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 8


def _in_thread(
    call: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, T]]:
    """Return an awaitable version of a `Memory` method, with its signature and docstring."""

    @functools.wraps(call)
    async def run(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        # Look the method up by name, because a subclass of Memory may override it.
        return await self._run(getattr(self.memory, call.__name__), *args, **kwargs)

    return run


class AsyncMemory:
    """`Memory` for an event loop: the same calls with the same arguments, awaited.

    If a call is cancelled, its thread may still complete the work.

    Args:
        settings: see `load_settings`; the default is the settings of this process.
        mode: see `Memory`.
        raise_errors: see `Memory`.
        memory: an existing `Memory` to use; the default is a new one made from `settings`.

    Example:
        >>> async with AsyncMemory.from_env() as memory:
        ...     await memory.turn_completed("support-bot", "call-7", [{"role": "user", "content": "Hello"}])
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
        """Make a memory from the settings file and the environment of this process.

        Args:
            mode: see `Memory`.
            raise_errors: see `Memory`.
            overrides: top-level settings that win over file and environment.

        Returns:
            A memory with its own connections.

        Raises:
            InvalidSettings: a setting is unknown or is invalid.

        Example:
            >>> memory = AsyncMemory.from_env(mode="background")
        """
        return cls(load_settings(**overrides), mode=mode, raise_errors=raise_errors)

    @classmethod
    def from_url(
        cls, url: str, key: str, *, mode: Mode = "durable", raise_errors: bool = False, **overrides: Any
    ) -> Self:
        """Make a memory that calls a gateway.

        Args:
            url: see `Memory.from_url`.
            key: see `Memory.from_url`.
            mode: see `Memory`.
            raise_errors: see `Memory.from_url`.
            overrides: see `Memory.from_url`.

        Returns:
            A memory with the same methods.

        Raises:
            InvalidSettings: the address, the key or a setting is invalid, or httpx2 is not installed.

        Example:
            >>> memory = AsyncMemory.from_url("https://memory.example.com", os.environ["SLOWWAVE_KEY"])
        """
        return cls(memory=Memory.from_url(url, key, mode=mode, raise_errors=raise_errors, **overrides))

    turn_completed = _in_thread(Memory.turn_completed)
    task_event = _in_thread(Memory.task_event)
    session_idle = _in_thread(Memory.session_idle)
    session_compacted = _in_thread(Memory.session_compacted)
    session_reset = _in_thread(Memory.session_reset)
    prompt_arrived = _in_thread(Memory.prompt_arrived)
    remember = _in_thread(Memory.remember)
    consolidate_now = _in_thread(Memory.consolidate_now)
    stats = _in_thread(Memory.stats)
    search = _in_thread(Memory.search)
    context = _in_thread(Memory.context)
    memories = _in_thread(Memory.memories)
    get = _in_thread(Memory.get)
    explain = _in_thread(Memory.explain)
    used = _in_thread(Memory.used)
    correct = _in_thread(Memory.correct)
    archive = _in_thread(Memory.archive)
    status = _in_thread(Memory.status)
    warm = _in_thread(Memory.warm)
    flush = _in_thread(Memory.flush)

    @overload
    async def forget(self, *, confirm: None = None, **target: Unpack[Forgettable]) -> ForgetPreview: ...

    @overload
    async def forget(self, *, confirm: str, **target: Unpack[Forgettable]) -> ForgetReceipt: ...

    async def forget(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        memory: str | UUID | None = None,
        confirm: str | None = None,
    ) -> ForgetPreview | ForgetReceipt:
        """Delete an agent, a conversation, a scope or a memory permanently, after a preview.

        Args:
            agent: see `Memory.forget`.
            session: see `Memory.forget`.
            scope: see `Memory.forget`.
            memory: see `Memory.forget`.
            confirm: the `confirm` of the preview. Without it nothing is deleted.

        Returns:
            Without `confirm` a preview with counts. With it the receipt of the deletion.

        Example:
            >>> preview = await memory.forget(agent="support-bot", session="call-7")
            >>> receipt = await memory.forget(agent="support-bot", session="call-7", confirm=preview.confirm)
        """
        target = Forgettable(agent=agent, session=session, scope=scope, memory=memory)
        if confirm is None:
            return await self._run(lambda: self.memory.forget(**target))
        return await self._run(lambda: self.memory.forget(confirm=confirm, **target))

    def changes(
        self,
        agent: str | Sequence[str] = (),
        *,
        scopes: Sequence[str] = (),
        after: str | None = None,
        timeout: float | None = None,
    ) -> "AsyncGenerator[Change, None]":
        """Follow the changes of memories with `async for`, as `Memory.changes` does with `for`.

        Args:
            agent: see `Memory.changes`.
            scopes: see `Memory.changes`.
            after: see `Memory.changes`.
            timeout: see `Memory.changes`.

        Yields:
            The changes, each with the memory in its state when the change is read.

        Example:
            >>> async for change in memory.changes("support-bot"):
            ...     mirror(change)
        """
        from slowwave.change_following import follow_async  # noqa: PLC0415 (hosts that only record need none of it)

        return follow_async(self.memory._follow(agent, scopes, after, timeout))  # noqa: SLF001 (the same client)

    async def close(self) -> None:
        """Commit or spool queued events, and close the connections.

        Raises:
            SpoolFull: both failed; the queued events are lost.

        Example:
            >>> await memory.close()
        """
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
        # The thread gets the context variables of this task, such as the current span.
        context = copy_context()
        return await loop.run_in_executor(self._threads, lambda: context.run(call, *args, **kwargs))
