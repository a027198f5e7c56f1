"""The part of `Memory` that reads: search, context, and memories by list and by id.

Must not know: how rows are found and ranked.
"""

from collections.abc import Callable, Generator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from slowwave.memory_bound import BoundMemory
from slowwave.memory_records import memory_id
from slowwave.memory_types import MemoryType

if TYPE_CHECKING:
    from slowwave.change_following import Following
    from slowwave.changes import Change
    from slowwave.memory_records import MemoryExplanation, MemoryPage, MemoryRecord, MemoryStatus
    from slowwave.recall import Chosen, Context, Format, Hit, Order


class ReadingMemory(BoundMemory):
    """Answers what an agent knows. Needs the login of a producer, a console or a worker."""

    def search(
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
        """Find what answers the query, asked `now`; see `slowwave.recall.search`. Raises StoreUnavailable."""
        from slowwave import read_routing  # noqa: PLC0415 (writers need none of it)

        options: dict[str, Any] = {"limit": limit, "scopes": scopes, "include_review": include_review, "order": order}
        options["now"] = now or datetime.now(UTC)
        return read_routing.search(self.store.source(), self.tenant, agent, query, **options, **chosen)

    def context(
        self,
        agent: str,
        session: str | None = None,
        query: str | None = None,
        days: int | None = None,
        *,
        scopes: Sequence[str] = (),
        max_tokens: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
        format: "Format" = "markdown",  # noqa: A002 (the word that callers know)
    ) -> "Context":
        """See `slowwave.recall.context`; days: `autoload_summary_days` of the settings. Raises StoreUnavailable."""
        from slowwave import read_routing  # noqa: PLC0415 (as above)

        options: dict[str, Any] = {"session": session, "query": query, "scopes": scopes, "days": days}
        options |= {"max_tokens": max_tokens, "count_tokens": count_tokens, "format": format}
        return read_routing.context(self.store.source(), self.tenant, agent, now=datetime.now(UTC), **options)

    def memories(
        self,
        agent: str,
        *,
        scope: str | None = None,
        status: "MemoryStatus | None" = None,
        type: MemoryType | None = None,  # noqa: A002 (the word that callers know)
        as_of: datetime | date | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> "MemoryPage":
        """List the memories of one scope, the newest first.

        Args:
            agent: whose own scope is listed. An unknown agent has no memories.
            scope: "room:NAME" or "team:NAME", to list that scope instead.
            status: only memories with this status. By default all but archived ones.
            type: only memories of this type.
            as_of: only memories that held at this moment (aware), or at the end of this day in the agent's time zone.
            limit: the most memories of one page, from 1 to 200.
            after: the `next` of the page before, to read on.

        Returns:
            A page: its memories, and `next` if there are more.

        Raises:
            InvalidName: a name can't be used.
            InvalidQuery: another argument can't be used.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> page = memory.memories("support-bot", type="preference")
            >>> for one in page:
            ...     print(one.valid_from.date(), one.content)
        """
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        options: dict[str, Any] = {"scope": scope, "status": status, "kind": type, "as_of": as_of}
        options |= {"limit": limit, "after": after}
        return self.store.postgres.read(
            lambda connection: memory_queries.list_records(connection, self.tenant, agent, **options)
        )

    def get(self, id: str | UUID) -> "MemoryRecord":  # noqa: A002 (the word that callers know)
        """Read one memory, archived ones too.

        Args:
            id: the whole UUID, as `Hit.id` and `MemoryRecord.id` hold it.

        Returns:
            The memory with all its fields.

        Raises:
            NotFound: the tenant has no such memory.
            InvalidQuery: `id` is no UUID.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> memory.get(hit.id).revision
            3
        """
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        asked = memory_id(id)
        return self.store.postgres.read(
            lambda connection: memory_queries.existing_record(connection, self.tenant, asked)
        )

    def explain(self, id: str | UUID) -> "MemoryExplanation":  # noqa: A002 (as above)
        """Tell why a memory is there: the events that say it and every change of it. Secrets are masked.

        Args:
            id: the whole UUID of the memory.

        Returns:
            The memory, at most 200 events and at most 500 changes, the oldest first.

        Raises:
            NotFound: the tenant has no such memory.
            InvalidQuery: `id` is no UUID.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> [event.content for event in memory.explain(hit.id).sources]
            ['Please send invoices to billing@example.com from now on.']
        """
        from slowwave import memory_queries  # noqa: PLC0415 (as above)

        asked = memory_id(id)
        told = self.store.postgres.read(
            lambda connection: memory_queries.read_explanation(connection, self.tenant, asked)
        )
        return memory_queries.found(told, asked)

    def changes(
        self,
        agent: str | Sequence[str] = (),
        *,
        scopes: Sequence[str] = (),
        after: str | None = None,
        timeout: float | None = None,
    ) -> "Generator[Change, None, None]":
        """Follow what happens to memories: each change in the order of commits, at least once, as it is committed.

        The iterator waits for the next change. While Postgres is away, it waits for Postgres and reads on where it was.
        Read changes from the primary server: a replica announces none.

        Args:
            agent: whose own scope is followed: a name, or several; `*` stands for any characters. With no agents and no
                scopes, all of the tenant is followed.
            scopes: "room:NAME" and "team:NAME"; `*` stands for any characters.
            after: the id of the last change that was handled, to read on from there; slowwave.changes.BEGINNING for
                all changes so far. By default the changes from now on.
            timeout: end the iteration after so many seconds without a change. By default it never ends.

        Yields:
            The changes. Each has the memory as it is when the change is read.

        Raises:
            CursorExpired: `after` is too old or of another database. Read all memories again, and begin without it.
            InvalidQuery: `after` is no cursor.
            InvalidName: a scope can't be used.
            StoreUnavailable: this login may not read, or Postgres is away for the whole of `timeout`.

        Example:
            >>> for change in memory.changes("support-bot", after=last_seen):
            ...     mirror(change)
            ...     last_seen = change.id
        """
        return self._follow(agent, scopes, after, timeout).changes()

    def _follow(
        self, agent: str | Sequence[str], scopes: Sequence[str], after: str | None, timeout: float | None
    ) -> "Following":
        from slowwave.change_following import followed  # noqa: PLC0415 (as above)

        return followed(self.store, self.tenant, agent, scopes, after, timeout)
