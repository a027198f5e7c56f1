"""Let a model extract relations from new memories, in addition to the relations that the rules find."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.consolidation.known import MemoryRevision
from slowwave_server.domain.model_triples import AT_ONCE, VERSION, question, relations_of
from slowwave_server.domain.similarity import read
from slowwave_server.domain.triples import Relation, triples
from slowwave_server.services.consolidation.asking import Asking
from slowwave_server.services.consolidation.neighbours import load
from slowwave_server.services.memories.changes import Author
from slowwave_server.services.memories.triples import store_triples

_UNREAD = text(
    "SELECT m.id FROM slowwave.memories m"
    " WHERE m.scope_id = :scope AND m.id = ANY(:ids) AND m.checked_at IS NULL ORDER BY m.id"
)


def unread(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> list[UUID]:
    """Return the memories among these that no pass has processed since they were created or said again."""
    return list(connection.execute(_UNREAD, {"scope": scope_id, "ids": list(ids)}).scalars())


def relate(
    transaction: Callable[[], AbstractContextManager[Connection]],
    asking: Asking,
    scope_id: int,
    ids: Sequence[UUID],
    *,
    author: Author,
    clock: Callable[[], datetime],
) -> None:
    """Ask the model for relations of these memories, AT_ONCE memories per call, and store those that their texts
    support.

    If a memory was changed, merged or archived during the call, its old relations stay.
    """
    for at in range(0, len(ids), AT_ONCE):
        with transaction() as connection:
            memories = [memory for memory in load(connection, scope_id, ids[at : at + AT_ONCE]).values() if memory.live]
        texts = [memory.content for memory in memories]
        answer = asking.ask(question(texts)) if texts else "not_asked"
        if isinstance(answer, str):
            continue
        found = dict(zip(memories, relations_of(answer, texts), strict=True))
        with transaction() as connection:
            asking.counts["triples"] += store_triples(
                connection,
                scope_id,
                _unchanged(connection, scope_id, found),
                run_id=author.run_id,
                now=clock(),
                extractor=f"model {VERSION} {asking.model.name}",
            )


def _unchanged(
    connection: Connection, scope_id: int, found: Mapping[MemoryRevision, Sequence[Relation]]
) -> dict[UUID, Sequence[Relation]]:
    """Return relations of memories whose text did not change, without the relations that the rules also find."""
    now = load(connection, scope_id, [memory.id for memory in found])
    return {
        memory.id: _beside_rules(memory.content, relations)
        for memory, relations in found.items()
        if memory.id in now and now[memory.id].live and now[memory.id].content == memory.content
    }


def _beside_rules(content: str, relations: Sequence[Relation]) -> list[Relation]:
    known = {(one.subject.casefold(), one.object.casefold()) for one in triples(read(content))}
    return [one for one in relations if (one.subject.casefold(), one.object.casefold()) not in known]
