"""The part of `Memory` that reads: search, context, memories by list and by id, and the feed of changes."""

from collections.abc import Callable, Generator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from slowwave.memory_bound import BoundMemory
from slowwave.memory_records import MemoryExplanation, MemoryPage, MemoryRecord, memory_id
from slowwave.memory_requests import ChangesRequest, MemoriesRequest
from slowwave.memory_types import MemoryStatus, MemoryType
from slowwave.recall_requests import ContextRequest, SearchRequest

if TYPE_CHECKING:
    from slowwave.change_following import Following
    from slowwave.changes import Change
    from slowwave.http.following import GatewayFollowed
    from slowwave.recall import Context, Format, Hit, Order


class ReadingMemory(BoundMemory):
    """Reads what an agent knows. Needs the login of a producer, a console or a worker, or an API key with the right
    `read`.
    """

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
        max_tokens: int | None = None,
        min_relevance: float = 0.0,
        min_share: float = 0.0,
        around: int = 0,
    ) -> "list[Hit]":
        """Search the memories and events of an agent, and of the named rooms and teams.

        Args:
            agent: the name of the agent. An unknown agent has no memories.
            query: a question or words; only its first 2,000 characters count.
            limit: the highest number of hits, from 1 to 100.
            scopes: "room:NAME" and "team:NAME", searched with the agent's own scope.
            include_review: also return memories that wait for a person's decision (status "review").
            now: the time (aware) to which "last week" in the query relates; by default the current time.
            order: "relevance": best first. "time": oldest first. "auto": oldest first if the query asks for an order or
                a duration ("which came first"), else best first.
            max_tokens: the highest number of tokens (estimated) of all hits together; if given, no hit repeats another.
            min_relevance: leave out hits below this relevance, from 0 to 1.
            min_share: leave out hits with less than this share of the strongest hit's evidence, from 0 to 1.
            around: also return this many passages before and after each event, from 0 to 10.

        Returns:
            The hits; none if nothing matches.

        Raises:
            InvalidName: a name or a scope is invalid.
            InvalidQuery: another argument is invalid.
            InvalidSettings: the backend is mem0 and is invalid.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> hits = memory.search("support-bot", "Where do invoices go?", limit=3)
            >>> hits[0].content
            'Please send invoices to billing@example.com from now on.'
        """
        request = SearchRequest(
            agent=agent,
            query=query,
            limit=limit,
            scopes=scopes,
            include_review=include_review,
            now=now,
            order=order,
            max_tokens=max_tokens,
            min_relevance=min_relevance,
            min_share=min_share,
            around=around,
        )
        return self.backend.search(request)

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
        """Read what an agent should know for its next prompt.

        Args:
            agent: the name of the agent.
            session: the conversation of the prompt; the context leaves out its recent events.
            query: the topic of the prompt, usually the user's message. Memories that answer it come first.
            days: how many local days of summaries to include, from 0 to 3,660; by default
                `memory.days.autoload_summary_days`.
            scopes: "room:NAME" and "team:NAME", read with the agent's own scope.
            max_tokens: the highest number of tokens of the rendered context. If nothing fits, the context is empty. By
                default there is no token limit, but the number of lines is bounded.
            count_tokens: your model's token counter; by default an estimate.
            format: the format to count the tokens of: "markdown", "messages" or "json".

        Returns:
            The context, with `render` and `to_messages` for a prompt.

        Raises:
            InvalidName: a name or a scope is invalid.
            InvalidQuery: another argument is invalid.
            InvalidSettings: the backend is mem0 and is invalid.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> context = memory.context("support-bot", "call-8", "Where do invoices go?", max_tokens=1500)
            >>> prompt = context.render("markdown")
        """
        request = ContextRequest(
            agent=agent,
            session=session,
            query=query,
            days=days,
            scopes=scopes,
            max_tokens=max_tokens,
            count_tokens=count_tokens,
            format=format,
        )
        return self.backend.context(request)

    def memories(
        self,
        agent: str,
        *,
        scope: str | None = None,
        status: MemoryStatus | None = None,
        type: MemoryType | None = None,  # noqa: A002 (the word that callers know)
        as_of: datetime | date | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> MemoryPage:
        """List the memories of one scope, newest first.

        Args:
            agent: the agent whose own scope to list. An unknown agent has no memories.
            scope: "room:NAME" or "team:NAME", to list that scope instead.
            status: only memories with this status; by default all but archived ones.
            type: only memories of this type.
            as_of: only memories that were valid at this time (aware), or at the end of this day in the agent's time
                zone.
            limit: the highest number of memories on one page, from 1 to 200.
            after: the `next` of the previous page.

        Returns:
            One page; its `next` is set if more memories follow.

        Raises:
            InvalidName: a name is invalid.
            InvalidQuery: another argument is invalid.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> for record in memory.memories("support-bot", type="preference"):
            ...     print(record.valid_from.date(), record.content)
        """
        request = MemoriesRequest(
            agent=agent, scope=scope, status=status, type=type, as_of=as_of, limit=limit, after=after
        )
        return self.backend.memories(request)

    def get(self, id: str | UUID) -> MemoryRecord:  # noqa: A002 (the word that callers know)
        """Read one memory, also an archived one.

        Args:
            id: the full UUID, from `Hit.id` or `MemoryRecord.id`.

        Returns:
            The memory with all its fields.

        Raises:
            NotFound: the tenant has no such memory.
            InvalidQuery: `id` is not a UUID.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> memory.get(hit.id).revision
            3
        """
        return self.backend.get(memory_id(id))

    def explain(self, id: str | UUID) -> MemoryExplanation:  # noqa: A002 (as above)
        """Read the provenance of a memory: its source events and its changes. Secrets are masked.

        Args:
            id: the full UUID of the memory.

        Returns:
            The memory, at most 200 events and at most 500 changes, oldest first.

        Raises:
            NotFound: the tenant has no such memory.
            InvalidQuery: `id` is not a UUID.
            StoreUnavailable: Postgres can't be reached, or this login may not read.

        Example:
            >>> [event.content for event in memory.explain(hit.id).sources]
            ['Please send invoices to billing@example.com from now on.']
        """
        return self.backend.explain(memory_id(id))

    def changes(
        self,
        agent: str | Sequence[str] = (),
        *,
        scopes: Sequence[str] = (),
        after: str | None = None,
        timeout: float | None = None,
    ) -> "Generator[Change, None, None]":
        """Follow the changes of memories, in commit order. Each change comes at least once.

        The iterator waits for the next change. While Postgres is unavailable, the iterator waits, and then resumes
        where it stopped. It reads from the primary server, because a replica announces no changes.

        Args:
            agent: the agents whose own scopes to follow: a name, or several; `*` matches any characters. Without agents
                and scopes, the call follows the whole tenant.
            scopes: "room:NAME" and "team:NAME"; `*` matches any characters.
            after: the id of the last change that you handled; `slowwave.changes.BEGINNING` for all changes so far. By
                default only changes from now on.
            timeout: end the iteration after this many seconds without a change; by default never.

        Yields:
            The changes, each with the memory in its state when the change is read.

        Raises:
            CursorExpired: `after` is too old or belongs to another database. Read all memories again, then start
                without it.
            InvalidQuery: `after` is not a cursor.
            InvalidName: a scope is invalid.
            StoreUnavailable: this login may not read, or Postgres was unavailable for the whole `timeout`.

        Example:
            >>> for change in memory.changes("support-bot", after=last_seen):
            ...     mirror(change)
            ...     last_seen = change.id
        """
        return self._follow(agent, scopes, after, timeout).changes()

    def _follow(
        self, agent: str | Sequence[str], scopes: Sequence[str], after: str | None, timeout: float | None
    ) -> "Following | GatewayFollowed":
        agents = [agent] if isinstance(agent, str) else list(agent)
        return self.backend.follow(ChangesRequest(agents=agents, scopes=scopes, after=after, timeout=timeout))
