"""Read the live memories of a rebuild: memories from its windows' events, and others with the same text."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import Connection, text

from slowwave_server.domain.rebuilding import ExistingMemory, Key, RebuiltStatement, Witness
from slowwave_server.domain.statements import content_hash
from slowwave_server.services.memory_files.import_rows import known_contents

IN_WINDOWS = (
    " FROM slowwave.rebuild_windows w JOIN slowwave.memory_sources x ON x.session_id = w.session_id"
    " AND x.seq BETWEEN w.from_seq AND w.to_seq AND x.via IS NULL"
)
"""Sources in their own words that events of the windows `w` are, as `x`; the caller names the rebuild."""
_STANDING = text(
    "SELECT m.id, m.scope_id, m.type, m.content_hash, m.status, x.session_id, x.seq, x.confidence, x.importance,"
    f" x.trust, x.holds_from{IN_WINDOWS} JOIN slowwave.memories m ON m.id = x.memory_id WHERE w.rebuild_id = :rebuild"
)
# If a pass merged memories into one sentence, compare their first texts, because an extractor writes such texts.
_FIRST_WORDS = text(
    "SELECT DISTINCT ON (c.memory_id) c.memory_id, c.before ->> 'content' AS content FROM slowwave.memory_changes c"
    " WHERE c.memory_id = ANY(:ids) AND c.before ? 'content' AND c.action = 'synthesised' ORDER BY c.memory_id, c.id"
)


def existing_memories(connection: Connection, rebuild: int) -> list[ExistingMemory]:
    """Return memories with evidence in the windows, with their witnesses in these windows."""
    keys: dict[UUID, tuple[Key, bool]] = {}
    witnesses: dict[UUID, set[Witness]] = defaultdict(set)
    for row in connection.execute(_STANDING, {"rebuild": rebuild}):
        keys[row.id] = ((row.scope_id, row.type, bytes(row.content_hash)), row.status != "archived")
        witnesses[row.id].add(
            Witness(row.session_id, row.seq, row.confidence, row.importance, row.trust, row.holds_from)
        )
    first = {row.memory_id: row.content for row in connection.execute(_FIRST_WORDS, {"ids": list(keys)})}
    found = []
    for memory, (key, live) in keys.items():
        words = () if memory not in first else ((*key[:2], content_hash(first[memory])),)
        found.append(ExistingMemory(memory, (key, *words), live, frozenset(witnesses[memory])))
    return found


def known_elsewhere(connection: Connection, statements: Sequence[RebuiltStatement]) -> dict[Key, UUID]:
    """Return memories with one of these texts and any sources: live ones first, then merged and rejected ones."""
    found: dict[Key, UUID] = {}
    for scope in sorted({statement.key[0] for statement in statements}):
        hashes = {statement.key[2] for statement in statements if statement.key[0] == scope}
        for (kind, digest), (memory, _) in known_contents(connection, scope, hashes).items():
            found[scope, kind, bytes(digest)] = memory
    return found


def scopes_of(found: Iterable[ExistingMemory], statements: Iterable[RebuiltStatement]) -> list[int]:
    """Return the affected scopes, in a fixed order."""
    return sorted({one.keys[0][0] for one in found} | {statement.key[0] for statement in statements})
