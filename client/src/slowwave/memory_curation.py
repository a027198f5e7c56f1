"""The part of `Memory` that changes memories by hand, forgets, and tells which memories a reply used.

Must not know: how a worker carries a request out.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload
from uuid import UUID

from slowwave.errors import InvalidMessage, TooLarge, shown
from slowwave.identity import check_name, shared_scope
from slowwave.memory_bound import BoundMemory
from slowwave.memory_records import memory_id
from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.postgres_text import clean_text

if TYPE_CHECKING:
    from slowwave.memory_records import Correction, ForgetPreview, ForgetReceipt
    from slowwave.worker_requests import Kind

MAX_REASON_CHARACTERS = 500
MAX_CONFIRM_CHARACTERS = 210
"""A kind, a colon and a name."""
MAX_REVISION = 2**31


class Forgettable(TypedDict, total=False):
    """What names the one thing that `Memory.forget` is about."""

    agent: str | None
    session: str | None
    scope: str | None
    memory: str | UUID | None


class CuratingMemory(BoundMemory):
    """Asks a worker to change or forget memories. Needs the login of a console or a worker, and a worker that runs."""

    def used(self, agent: str, ids: Iterable[str | UUID], session: str | None = None) -> int:
        """Tell that a reply of an agent used these memories. Each memory counts how many conversations used it.

        A repeated call changes nothing but `last_used_at`. Search and promotion don't read the count yet.

        Args:
            agent: whose reply it was.
            ids: UUIDs of memories (`Hit.id` of hits whose `kind` is "memory"), at most 100.
            session: the conversation of the reply.

        Returns:
            How many of these memories the agent may read; the others, and unknown ids, changed nothing.

        Raises:
            InvalidName: a name can't be used.
            InvalidMessage: an id is no UUID, or there are more than 100.
            StoreUnavailable: nothing was noted; call again.

        Example:
            >>> hits = memory.search("support-bot", "Where do invoices go?")
            >>> memory.used("support-bot", [hits[0].id], session="call-7")
            1
        """
        from slowwave import memory_queries  # noqa: PLC0415 (hosts that only record need none of it)

        check_name("agent", agent)
        if session is not None:
            check_name("session", session)
        asked = memory_queries.used_ids(ids)
        if not asked:
            return 0
        return self.store.postgres.read(
            lambda connection: memory_queries.note_use(connection, self.tenant, agent, asked, session)
        )

    def correct(
        self,
        id: str | UUID,  # noqa: A002 (the word that callers know)
        content: str | None = None,
        *,
        type: MemoryType | None = None,  # noqa: A002 (as above)
        revision: int | None = None,
        reason: str | None = None,
    ) -> "Correction":
        """Say a memory in other words, or give it another type. A worker does it, as a run that can be undone.

        Args:
            id: the whole UUID of the memory.
            content: what it is to say. A memory with these words takes its place, with its dates and importance.
            type: its new type.
            revision: `MemoryRecord.revision` as you read it; then a memory that was changed since stays as it is.
            reason: why, for the history of the memory.

        Returns:
            The memory that says it from here on, and the number of the run.

        Raises:
            NotFound: the tenant has no such memory.
            CannotChange: it was changed meanwhile, is archived, or holds no more.
            InvalidMessage: the content can't be stored.
            NotAllowed: this is the login of a producer.
            NotAnswered: no worker runs.
            StoreUnavailable: Postgres can't be reached.

        Example:
            >>> done = memory.correct(hit.id, "Invoices go to billing@example.com.")
            >>> done.memory.content
            'Invoices go to billing@example.com.'
        """
        return self._changed("correct", id, correction_arguments(content, type, revision, reason))

    def archive(
        self,
        id: str | UUID,  # noqa: A002 (as above)
        reason: str | None = None,
        *,
        revision: int | None = None,
    ) -> "Correction":
        """Take a memory out of all answers. It stays readable, and the run can be undone.

        Args:
            id: the whole UUID of the memory.
            reason: why, for the history of the memory.
            revision: as in `correct`.

        Returns:
            The archived memory, and the number of the run.

        Raises:
            NotFound, CannotChange, NotAllowed, NotAnswered, StoreUnavailable: as `correct` does.

        Example:
            >>> memory.archive(hit.id, "it was a joke").memory.status
            'archived'
        """
        return self._changed("archive", id, archive_arguments(revision, reason))

    @overload
    def forget(self, *, confirm: None = None, **target: "Unpack[Forgettable]") -> "ForgetPreview": ...

    @overload
    def forget(self, *, confirm: str, **target: "Unpack[Forgettable]") -> "ForgetReceipt": ...

    def forget(
        self,
        *,
        agent: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        memory: str | UUID | None = None,
        confirm: str | None = None,
    ) -> "ForgetPreview | ForgetReceipt":
        """Delete an agent, a conversation, a scope or a memory for good, after a preview.

        Args:
            agent: all of this agent; with `session` only this conversation of it.
            session: the conversation.
            scope: all of "room:NAME", "team:NAME" or "agent:NAME".
            memory: one memory, by its whole UUID. The conversations that it came from stay.
            confirm: the `confirm` of the preview. Without it nothing is deleted.

        Returns:
            Without `confirm` a preview: how much would go. With it the receipt: what went.

        Raises:
            NotFound: there is no such thing.
            InvalidMessage: not exactly one thing is named, or `confirm` is not that of its preview.
            CannotChange: it can't be forgotten now; the text says why.
            NotAllowed: this is the login of a producer.
            NotAnswered: no worker runs.
            StoreUnavailable: Postgres can't be reached.

        Example:
            >>> preview = memory.forget(agent="support-bot", session="call-7")
            >>> preview.counts
            {'events': 12, 'memories': 3, 'sessions': 1}
            >>> receipt = memory.forget(agent="support-bot", session="call-7", confirm=preview.confirm)
        """
        from slowwave.memory_records import preview_of, receipt_of  # noqa: PLC0415 (as above)

        arguments = forget_arguments(agent, session, scope, memory)
        if confirm is None:
            return preview_of(self._ask("forget_preview", arguments))
        return receipt_of(self._ask("forget", arguments | {"confirm": confirmation(confirm)}))

    def _changed(self, kind: "Kind", memory: str | UUID, arguments: dict[str, Any]) -> "Correction":
        from slowwave import memory_queries  # noqa: PLC0415 (as above)
        from slowwave.memory_records import Correction  # noqa: PLC0415 (as above)

        asked = memory_id(memory)
        result = self._ask(kind, {"memory": str(asked)} | arguments)
        became = memory_id(result["memory"])
        record = self.store.postgres.read(
            lambda connection: memory_queries.existing_record(connection, self.tenant, became)
        )
        return Correction(record, result["run"])

    def _ask(self, kind: "Kind", arguments: dict[str, Any]) -> dict[str, Any]:
        from slowwave.worker_requests import ask_worker  # noqa: PLC0415 (as above)

        return ask_worker(self.store.postgres, self.store.offers.redis, self.tenant, kind, arguments)


def correction_arguments(
    content: str | None, kind: MemoryType | None, revision: int | None, reason: str | None
) -> dict[str, Any]:
    """What a correction says. Raises InvalidMessage and TooLarge."""
    if content is None and kind is None:
        raise InvalidMessage("give content, type or both: there is nothing to correct")
    if content is not None and (not isinstance(content, str) or not content or content.isspace()):
        raise InvalidMessage(f"content must be text that is not empty, got {shown(content)}")
    if content is not None and len(content) > MAX_CONTENT_CHARACTERS:
        raise TooLarge(f"content has at most {MAX_CONTENT_CHARACTERS:,} characters, this one has {len(content):,}")
    if kind is not None and kind not in MEMORY_TYPES:
        raise InvalidMessage(f"type must be one of {', '.join(MEMORY_TYPES)}, got {shown(kind)}")
    said = {"content": None if content is None else clean_text(content), "type": kind}
    return {name: value for name, value in said.items() if value is not None} | archive_arguments(revision, reason)


def archive_arguments(revision: int | None, reason: str | None) -> dict[str, Any]:
    """Which revision is meant, and why. Raises InvalidMessage."""
    if revision is not None and (type(revision) is not int or not 0 <= revision < MAX_REVISION):
        raise InvalidMessage(f"revision must be the `revision` of a MemoryRecord, got {shown(revision)}")
    if reason is not None and (not isinstance(reason, str) or not 0 < len(reason) <= MAX_REASON_CHARACTERS):
        raise InvalidMessage(f"reason must be text of 1 to {MAX_REASON_CHARACTERS} characters, got {shown(reason)}")
    said = {"revision": revision, "reason": None if reason is None else clean_text(reason)}
    return {name: value for name, value in said.items() if value is not None}


def confirmation(confirm: str) -> str:
    """What confirms a forget. Raises InvalidMessage."""
    if not isinstance(confirm, str) or len(confirm) > MAX_CONFIRM_CHARACTERS or clean_text(confirm) != confirm:
        raise InvalidMessage(f"confirm must be the `confirm` of a preview, got {shown(confirm)}")
    return confirm


def forget_arguments(
    agent: str | None, session: str | None, scope: str | None, memory: str | UUID | None
) -> dict[str, Any]:
    """What names the one thing that is to be forgotten. Raises InvalidMessage, InvalidName and InvalidQuery."""
    if sum(given is not None for given in (agent, scope, memory)) != 1:
        raise InvalidMessage("forget takes exactly one of agent, scope and memory; session goes with agent")
    if session is not None and agent is None:
        raise InvalidMessage("session needs agent: a conversation is known by both")
    named: dict[str, Any] = {"agent": agent, "session": session}
    for what, name in named.items():
        if name is not None:
            check_name(what, name)
    if isinstance(scope, str) and scope.startswith("agent:"):
        check_name("agent", scope.partition(":")[2])
    elif scope is not None:
        shared_scope(scope)
    named |= {"scope": scope, "memory": None if memory is None else str(memory_id(memory))}
    return {name: value for name, value in named.items() if value is not None}
