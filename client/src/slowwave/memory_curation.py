"""The part of `Memory` that notes the use of memories, edits, archives and forgets them."""

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack, overload
from uuid import UUID

from slowwave.errors import InvalidMessage, InvalidQuery, TooLarge, shown
from slowwave.identity import check_name, shared_scope
from slowwave.memory_bound import BoundMemory
from slowwave.memory_records import Correction, ForgetPreview, ForgetReceipt, memory_id, parsed
from slowwave.memory_requests import ForgetTarget
from slowwave.memory_types import MEMORY_TYPES, MemoryType
from slowwave.messages import MAX_CONTENT_CHARACTERS
from slowwave.postgres_text import clean_text

MAX_USED = 100
"""The most memories that one call may name as used; no context shows more."""
MAX_REASON_CHARACTERS = 500
MAX_CONFIRM_CHARACTERS = 210
"""A kind, a colon and a name."""
MAX_REVISION = 2**31


class Forgettable(TypedDict, total=False):
    """The arguments of `Memory.forget` that name its target."""

    agent: str | None
    session: str | None
    scope: str | None
    memory: str | UUID | None


class CuratingMemory(BoundMemory):
    """Edits, archives and forgets memories through a worker.

    The calls need a running worker, and the login of a console or a worker, or an API key with the rights `decide` and
    `forget`.
    """

    def used(self, agent: str, ids: Iterable[str | UUID], session: str | None = None) -> int:
        """Report that a reply of an agent used these memories. Slowwave counts in how many conversations each was used.

        A repeated call changes only `last_used_at`. Memories that replies use gain importance.

        Args:
            agent: the agent that replied.
            ids: UUIDs of memories (`Hit.id` of hits whose `kind` is "memory"), at most 100.
            session: the conversation of the reply.

        Returns:
            How many of these memories the agent may read. Unknown ids, and memories that the agent may not read, are
            ignored.

        Raises:
            InvalidName: a name is invalid.
            InvalidMessage: an id is not a UUID, or there are more than 100.
            StoreUnavailable: nothing was noted; call again.

        Example:
            >>> hits = memory.search("support-bot", "Where do invoices go?")
            >>> memory.used("support-bot", [hits[0].id], session="call-7")
            1
        """
        check_name("agent", agent)
        if session is not None:
            check_name("session", session)
        memories = used_ids(ids)
        return self.backend.note_use(agent, memories, session) if memories else 0

    def correct(
        self,
        id: str | UUID,  # noqa: A002 (the word that callers know)
        content: str | None = None,
        *,
        type: MemoryType | None = None,  # noqa: A002 (as above)
        revision: int | None = None,
        reason: str | None = None,
    ) -> Correction:
        """Edit the text or the type of a memory. A worker does it, as a run that can be undone.

        Args:
            id: the full UUID of the memory.
            content: the new text. A new memory with this text replaces the old one and keeps its dates and importance.
            type: the new type.
            revision: `MemoryRecord.revision` as you read it; if the memory has changed since, nothing is edited.
            reason: the reason, for the memory's history; at most 500 characters.

        Returns:
            The memory that replaces it, and the number of the run.

        Raises:
            NotFound: the tenant has no such memory.
            CannotChange: the memory has changed since, is archived, or is no longer valid.
            InvalidMessage: the content or another argument is invalid.
            TooLarge: the content exceeds 100,000 characters.
            NotAllowed: a producer's login, or an API key without the right `decide`.
            NotAnswered: no worker answered within 30 seconds.
            StoreUnavailable: Postgres can't be reached.

        Example:
            >>> edited = memory.correct(hit.id, "Invoices go to billing@example.com.")
            >>> edited.memory.content
            'Invoices go to billing@example.com.'
        """
        return self.backend.correct(memory_id(id), correction_fields(content, type, revision, reason))

    def archive(
        self,
        id: str | UUID,  # noqa: A002 (as above)
        reason: str | None = None,
        *,
        revision: int | None = None,
    ) -> Correction:
        """Archive a memory: no search or context returns it. It stays readable by id, and the run can be undone.

        Args:
            id: the full UUID of the memory.
            reason: the reason, for the memory's history; at most 500 characters.
            revision: as in `correct`.

        Returns:
            The archived memory, and the number of the run.

        Raises:
            NotFound: as in `correct`.
            CannotChange: as in `correct`.
            InvalidMessage: as in `correct`.
            NotAllowed: as in `correct`.
            NotAnswered: as in `correct`.
            StoreUnavailable: as in `correct`.

        Example:
            >>> memory.archive(hit.id, "it was a joke").memory.status
            'archived'
        """
        return self.backend.archive(memory_id(id), archive_fields(revision, reason))

    @overload
    def forget(self, *, confirm: None = None, **target: Unpack[Forgettable]) -> ForgetPreview: ...

    @overload
    def forget(self, *, confirm: str, **target: Unpack[Forgettable]) -> ForgetReceipt: ...

    def forget(
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
            agent: delete everything of this agent; with `session`, only that conversation.
            session: the conversation.
            scope: delete everything of "room:NAME", "team:NAME" or "agent:NAME".
            memory: delete one memory, by its full UUID. The conversations that it came from stay.
            confirm: the `confirm` of the preview. Without it nothing is deleted.

        Returns:
            Without `confirm` a preview with counts. With it the receipt of the deletion.

        Raises:
            NotFound: the target does not exist.
            InvalidMessage: not exactly one target is named, or `confirm` is not that of the preview.
            InvalidName: a name or the scope is invalid.
            CannotChange: the target can't be deleted now; the text gives the reason.
            NotAllowed: a producer's login, or an API key without the right `forget`.
            NotAnswered: no worker answered within 30 seconds.
            StoreUnavailable: Postgres can't be reached.

        Example:
            >>> preview = memory.forget(agent="support-bot", session="call-7")
            >>> preview.counts
            {'events': 12, 'memories': 3, 'sessions': 1}
            >>> receipt = memory.forget(agent="support-bot", session="call-7", confirm=preview.confirm)
        """
        target = forget_target(agent, session, scope, memory)
        if confirm is None:
            return parsed(ForgetPreview, self.backend.preview_forget(target))
        return parsed(ForgetReceipt, self.backend.forget(target, check_confirm(confirm)))


def used_ids(values: Iterable[str | UUID]) -> list[UUID]:
    """Return the UUIDs of memories that a reply used. Raises InvalidMessage."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidMessage(f"ids must be a list of UUIDs, got {shown(values)}")
    try:
        ids = list(dict.fromkeys(memory_id(value) for value in values))
    except InvalidQuery as error:
        raise InvalidMessage(str(error)) from None
    if len(ids) > MAX_USED:
        raise InvalidMessage(f"ids: at most {MAX_USED} memories in one call, got {len(ids)}")
    return ids


def correction_fields(
    content: str | None, kind: MemoryType | None, revision: int | None, reason: str | None
) -> dict[str, Any]:
    """Return the fields of a correction. Raises InvalidMessage and TooLarge."""
    if content is None and kind is None:
        raise InvalidMessage("give content, type or both: there is nothing to correct")
    if content is not None and (not isinstance(content, str) or not content or content.isspace()):
        raise InvalidMessage(f"content must be text that is not empty, got {shown(content)}")
    if content is not None and len(content) > MAX_CONTENT_CHARACTERS:
        raise TooLarge(f"content has at most {MAX_CONTENT_CHARACTERS:,} characters, this one has {len(content):,}")
    if kind is not None and kind not in MEMORY_TYPES:
        raise InvalidMessage(f"type must be one of {', '.join(MEMORY_TYPES)}, got {shown(kind)}")
    said = {"content": None if content is None else clean_text(content), "type": kind}
    return {name: value for name, value in said.items() if value is not None} | archive_fields(revision, reason)


def archive_fields(revision: int | None, reason: str | None) -> dict[str, Any]:
    """Return the expected revision and the reason. Raises InvalidMessage."""
    if revision is not None and (type(revision) is not int or not 0 <= revision < MAX_REVISION):
        raise InvalidMessage(f"revision must be the `revision` of a MemoryRecord, got {shown(revision)}")
    if reason is not None and (not isinstance(reason, str) or not 0 < len(reason) <= MAX_REASON_CHARACTERS):
        raise InvalidMessage(f"reason must be text of 1 to {MAX_REASON_CHARACTERS} characters, got {shown(reason)}")
    said = {"revision": revision, "reason": None if reason is None else clean_text(reason)}
    return {name: value for name, value in said.items() if value is not None}


def check_confirm(confirm: str) -> str:
    """Return the confirmation of a forget if its form is valid. Raises InvalidMessage."""
    if not isinstance(confirm, str) or len(confirm) > MAX_CONFIRM_CHARACTERS or clean_text(confirm) != confirm:
        raise InvalidMessage(f"confirm must be the `confirm` of a preview, got {shown(confirm)}")
    return confirm


def forget_target(agent: str | None, session: str | None, scope: str | None, memory: str | UUID | None) -> ForgetTarget:
    """Return the one target that the arguments name. Raises InvalidMessage, InvalidName and InvalidQuery."""
    if sum(given is not None for given in (agent, scope, memory)) != 1:
        raise InvalidMessage("forget takes exactly one of agent, scope and memory; session goes with agent")
    if session is not None and agent is None:
        raise InvalidMessage("session needs agent: both together name a conversation")
    if agent is not None:
        check_name("agent", agent)
    if session is not None:
        check_name("session", session)
    if isinstance(scope, str) and scope.startswith("agent:"):
        check_name("agent", scope.partition(":")[2])
    elif scope is not None:
        shared_scope(scope)
    return ForgetTarget(
        agent=agent, session=session, scope=scope, memory=None if memory is None else str(memory_id(memory))
    )
