"""The part of `AsyncMemory` that follows changes.

Must not know: how changes are read.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.changes import Change
    from slowwave.memory import Memory


class FollowingAsync:
    """Follows changes in a thread of its own, since it waits for as long as nothing happens."""

    memory: "Memory"

    def changes(
        self,
        agent: str | Sequence[str] = (),
        *,
        scopes: Sequence[str] = (),
        after: str | None = None,
        timeout: float | None = None,
    ) -> "AsyncGenerator[Change, None]":
        """See `Memory.changes`; an asynchronous iterator."""
        from slowwave.change_following import follow_async  # noqa: PLC0415 (writers need none of it)

        return follow_async(self.memory._follow(agent, scopes, after, timeout))  # noqa: SLF001 (the same client)
