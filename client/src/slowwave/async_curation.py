"""The part of `AsyncMemory` that lists, explains, changes and forgets memories.

Must not know: anything that `Memory` does.
"""

from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, overload
from uuid import UUID

from slowwave.memory_curation import Forgettable
from slowwave.memory_types import MemoryType

if TYPE_CHECKING:
    from slowwave.memory import Memory
    from slowwave.memory_records import (
        Correction,
        ForgetPreview,
        ForgetReceipt,
        MemoryExplanation,
        MemoryPage,
        MemoryRecord,
        MemoryStatus,
    )

P = ParamSpec("P")
T = TypeVar("T")


class CuratingAsync:
    """Each call runs `Memory`'s own in a thread."""

    memory: "Memory"

    async def _run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        raise NotImplementedError

    async def memories(
        self,
        agent: str,
        *,
        scope: str | None = None,
        status: "MemoryStatus | None" = None,
        type: MemoryType | None = None,  # noqa: A002 (as in `Memory`)
        as_of: datetime | date | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> "MemoryPage":
        """See `Memory.memories`."""
        options: dict[str, Any] = {"scope": scope, "status": status, "type": type, "as_of": as_of}
        return await self._run(self.memory.memories, agent, limit=limit, after=after, **options)

    async def get(self, id: str | UUID) -> "MemoryRecord":  # noqa: A002 (as in `Memory`)
        """See `Memory.get`."""
        return await self._run(self.memory.get, id)

    async def explain(self, id: str | UUID) -> "MemoryExplanation":  # noqa: A002 (as in `Memory`)
        """See `Memory.explain`."""
        return await self._run(self.memory.explain, id)

    async def used(self, agent: str, ids: Iterable[str | UUID], session: str | None = None) -> int:
        """See `Memory.used`."""
        return await self._run(self.memory.used, agent, ids, session)

    async def correct(
        self,
        id: str | UUID,  # noqa: A002 (as in `Memory`)
        content: str | None = None,
        *,
        type: MemoryType | None = None,  # noqa: A002 (as in `Memory`)
        revision: int | None = None,
        reason: str | None = None,
    ) -> "Correction":
        """See `Memory.correct`."""
        return await self._run(self.memory.correct, id, content, type=type, revision=revision, reason=reason)

    async def archive(
        self,
        id: str | UUID,  # noqa: A002 (as in `Memory`)
        reason: str | None = None,
        *,
        revision: int | None = None,
    ) -> "Correction":
        """See `Memory.archive`."""
        return await self._run(self.memory.archive, id, reason, revision=revision)

    @overload
    async def forget(self, *, confirm: None = None, **target: Unpack[Forgettable]) -> "ForgetPreview": ...

    @overload
    async def forget(self, *, confirm: str, **target: Unpack[Forgettable]) -> "ForgetReceipt": ...

    async def forget(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        memory: str | UUID | None = None,
        confirm: str | None = None,
    ) -> "ForgetPreview | ForgetReceipt":
        """See `Memory.forget`."""
        target = Forgettable(agent=agent, session=session, scope=scope, memory=memory)
        if confirm is None:
            return await self._run(lambda: self.memory.forget(**target))
        return await self._run(lambda: self.memory.forget(confirm=confirm, **target))
