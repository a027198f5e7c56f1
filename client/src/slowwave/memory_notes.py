"""The part of `Memory` that writes notes to working memory and consolidates them."""

from datetime import datetime

from slowwave.memory_bound import BoundMemory
from slowwave.memory_types import MemoryType
from slowwave.working import Noted, NoteRequest, WorkingStats


class NotingMemory(BoundMemory):
    """Writes notes to an agent's working memory."""

    def remember(
        self,
        agent: str,
        content: str,
        importance: float = 0.5,
        session: str | None = None,
        *,
        type: MemoryType = "fact",  # noqa: A002 (the word that memories, search and the command line use)
        marked: bool = False,
        scope: str | None = None,
        ttl_seconds: float | None = None,
        key: str | None = None,
        at: datetime | str | None = None,
    ) -> Noted:
        """Write one statement to the agent's working memory. It is committed when this returns, in either mode.

        The next consolidation cycle turns the note into a memory if the note is `marked` or important enough. Other
        notes expire.

        Args:
            agent: the name of the agent.
            content: the statement.
            importance: from 0 to 1.
            session: the conversation that the note comes from.
            type: the type of the memory that the note may become, such as "fact" or "preference".
            marked: True to keep the note whatever its importance.
            scope: "room:NAME" or "team:NAME" instead of the agent's own.
            ttl_seconds: the seconds until the note expires, at most a year; by default
                `memory.consolidation.working_ttl_seconds`.
            key: an idempotency key.
            at: the time (aware) at which it was said; by default now.

        Returns:
            The id of the note, whether the note is new, and the time at which it expires.

        Raises:
            InvalidMessage: an argument is invalid.
            TooLarge: the content exceeds 100,000 characters.
            InvalidName: a name or the scope is invalid.
            StoreUnavailable: nothing was written; call again.

        Example:
            >>> memory.remember("support-bot", "Invoices go to billing@example.com.", 0.9, "call-7").added
            True
        """
        return self.backend.note(
            NoteRequest(
                agent=agent,
                content=content,
                importance=importance,
                session=session,
                type=type,
                marked=marked,
                scope=scope,
                ttl_seconds=ttl_seconds,
                key=key,
                at=at,
            )
        )

    def consolidate_now(self, agent: str, scope: str | None = None) -> bool:
        """Ask the workers for a consolidation cycle over working memory.

        Args:
            agent: the name of the agent.
            scope: "room:NAME" or "team:NAME" instead of the agent's own.

        Returns:
            False if a cycle for this scope is already queued.

        Raises:
            InvalidName: a name or the scope is invalid.
            StoreUnavailable: the gateway can't reach the broker.
            redis.exceptions.RedisError: without a gateway, the broker can't be reached.

        Example:
            >>> memory.consolidate_now("support-bot")
            True
        """
        return self.backend.consolidate(agent, scope)

    def stats(self, agent: str, scope: str | None = None) -> WorkingStats:
        """Count the notes of working memory by outcome.

        Args:
            agent: the name of the agent.
            scope: "room:NAME" or "team:NAME" instead of the agent's own.

        Returns:
            The numbers of notes by outcome, and counts of the cycles' work.

        Raises:
            InvalidName: a name or the scope is invalid.
            StoreUnavailable: Postgres can't be reached.

        Example:
            >>> memory.stats("support-bot").open
            1
        """
        return self.backend.stats(agent, scope)
