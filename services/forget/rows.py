"""The second step of a forget: SQL statements that delete rows, or remove text from rows that stay.

Their order follows the foreign keys. All statements use the temporary tables that services.forget.gather fills, so none
depends on the kind of target.
"""

from collections import Counter

from sqlalchemy import Connection, text

from slowwave_server.services.forget.gather import Step, count_rows

# The history of remaining memories keeps numbers, times and ids, but no words.
_WORDLESS = (
    "status,type,valid_to,valid_from,superseded_by,merged_into,confidence,importance,sources,target,predicate,from,"
    "parts,conflict,with,review_item,state,noted"
).split(",")
_STRIPPED = (
    "CASE WHEN jsonb_typeof(c.{0}) = 'object' THEN (SELECT coalesce(jsonb_object_agg(e.key, e.value), '{{}}')"
    " FROM jsonb_each(c.{0}) e WHERE e.key = ANY(:wordless)) END"
)
_SAYS = "(c.before ? 'content' OR c.after ? 'content')"
_GONE = "IN (SELECT id FROM gone_memories)"
_RUNS = "SELECT r.id FROM slowwave.maintenance_runs r JOIN gone_scopes k ON k.id = r.scope_id"

# Each way to a row is a branch of its own that an index serves; an OR of them would read the whole table. Columns in
# which few rows have a value are searched by array, because the planner knows too little for a good join.
_CHANGES_BY_ORIGIN = (
    "SELECT c.id, c.memory_id FROM slowwave.flushes f JOIN gone_sessions s ON s.id = f.session_id"
    "  JOIN slowwave.memory_changes c ON c.flush_id = f.id"
    f" UNION SELECT c.id, c.memory_id FROM slowwave.memory_changes c WHERE c.run_id = ANY(ARRAY({_RUNS}))"
)
_CHANGES_BY_NOTE = (
    "SELECT c.id, c.memory_id FROM slowwave.memory_changes c"
    " WHERE c.after ->> 'noted' = ANY(ARRAY(SELECT CAST(i.id AS text) FROM gone_items i))"
)
_CHANGES_BY_PLACE = (
    "SELECT c.id, c.memory_id FROM slowwave.memory_changes c"
    " WHERE c.before ->> 'scope_id' = ANY(ARRAY(SELECT CAST(k.id AS text) FROM gone_scopes k))"
)
_CONFLICTS_OF = (
    "SELECT c.id FROM {0} g JOIN slowwave.memory_conflicts c ON c.memory_id = g.id"
    " UNION SELECT c.id FROM {0} g JOIN slowwave.memory_conflicts c ON c.conflicting_memory_id = g.id"
)
_HURT_OR_RELATED = "(SELECT id FROM hurt UNION SELECT id FROM related)"

# Of memories that an undo deleted, only changes are left, and the last change contains the memory's text.
_ORPHANS = (
    "CREATE TEMP TABLE orphans ON COMMIT DROP AS SELECT DISTINCT c.memory_id AS id"
    f" FROM ({_CHANGES_BY_ORIGIN} UNION {_CHANGES_BY_NOTE} UNION {_CHANGES_BY_PLACE}) AS c"
    " WHERE NOT EXISTS (SELECT FROM slowwave.memories m WHERE m.id = c.memory_id)"
)
_TOUCHED = (
    "INSERT INTO touched_runs SELECT c.run_id, min(CAST(c.memory_id AS text)) FILTER (WHERE x.goes) FROM ("
    " SELECT id, true AS goes, false AS quoted FROM gone_memories UNION SELECT id, true, false FROM orphans"
    " UNION SELECT id, false, false FROM related UNION SELECT id, false, true FROM hurt) AS x"
    " JOIN slowwave.memory_changes c ON c.memory_id = x.id"
    f" WHERE c.run_id IS NOT NULL AND (NOT x.quoted OR {_SAYS}) AND c.run_id NOT IN ({_RUNS}) GROUP BY c.run_id"
)
# A run that such a row names can never be undone, because the undo would restore words, or only half of its effects.
_TOMBSTONES = (
    "INSERT INTO slowwave.memory_changes (memory_id, run_id, action, reason, made_at)"
    " SELECT coalesce(CAST(t.memory_id AS uuid), gen_random_uuid()), t.run_id, 'forgotten', 'forgotten', :now"
    " FROM touched_runs t"
)

MEMORIES: tuple[Step, ...] = (
    # Prompts and answers of a model may contain words of any memory of the scope.
    Step(
        "DELETE FROM slowwave.window_answers w USING slowwave.sessions s WHERE s.id = w.session_id AND"
        " (s.scope_id IN (SELECT id FROM near_scopes) OR s.id IN (SELECT id FROM gone_sessions))"
    ),
    # The rows saved by an undo may contain words of any memory of its scope: these undos stay.
    Step("DELETE FROM slowwave.undone_rows u USING near_scopes k WHERE k.id = u.scope_id"),
    Step("DELETE FROM slowwave.outbox o USING gone_scopes k WHERE k.id = o.scope_id AND o.backend <> 'mem0'", "outbox"),
    # Queue the changes for the process that feeds mem0, if any: it must learn of the memories that it knows. The rows
    # stay until then.
    Step(
        "UPDATE slowwave.outbox o SET changes = o.changes + 1, not_before = NULL, forgotten = true"
        " FROM gone_memories g WHERE o.memory_id = g.id AND o.backend = 'mem0' AND o.delivered > 0",
        "copies in mem0",
    ),
    Step(
        "UPDATE slowwave.outbox o SET changes = o.changes + 1, not_before = NULL, forgotten = true"
        " FROM gone_memories g WHERE o.memory_id = g.id AND o.backend = 'mem0' AND o.delivered = 0"
    ),
    Step(
        "UPDATE slowwave.outbox o SET changes = o.changes + 1, not_before = NULL, forgotten = true"
        " FROM (SELECT id FROM hurt UNION SELECT id FROM related) AS h"
        " WHERE o.memory_id = h.id AND o.backend = 'mem0'"
    ),
    Step(
        "INSERT INTO slowwave.outbox AS o (memory_id, backend, scope_id) SELECT g.id, b.name, g.scope_id"
        " FROM gone_memories g CROSS JOIN (SELECT 'file' AS name) AS b"
        " WHERE g.scope_id NOT IN (SELECT id FROM gone_scopes) AND (b.name IN"
        " (SELECT name FROM slowwave.memory_backends) OR EXISTS ("
        "SELECT FROM slowwave.memory_file_lines l WHERE l.memory_id = g.id))"
        " ON CONFLICT (memory_id, backend) DO UPDATE SET changes = o.changes + 1, not_before = NULL"
    ),
    Step("DELETE FROM slowwave.memory_file_lines l USING gone_scopes k WHERE k.id = l.scope_id", "file lines"),
    Step("DELETE FROM slowwave.memory_files f USING gone_scopes k WHERE k.id = f.scope_id", "file states"),
    Step(
        "DELETE FROM slowwave.review_items i WHERE i.id IN ("
        "SELECT q.id FROM gone_memories g JOIN slowwave.review_items q ON q.memory_id = g.id"
        f" UNION SELECT q.id FROM ({_CONFLICTS_OF.format('gone_memories')}) AS c"
        "  JOIN slowwave.review_items q ON q.conflict_id = c.id)",
        "questions",
    ),
    Step(
        "UPDATE slowwave.review_items i SET why = :reason WHERE i.id IN ("
        "SELECT q.id FROM related r JOIN slowwave.review_items q ON q.memory_id = r.id"
        f" UNION SELECT q.id FROM ({_CONFLICTS_OF.format('reworded')}) AS c"
        "  JOIN slowwave.review_items q ON q.conflict_id = c.id)"
    ),
    Step(
        f"DELETE FROM slowwave.memory_conflicts c WHERE c.id IN ({_CONFLICTS_OF.format('gone_memories')})", "conflicts"
    ),
    Step(
        "UPDATE slowwave.memory_conflicts c SET evidence = '{}', reason = :reason, resolution = CASE WHEN"
        f" c.resolution IS NOT NULL THEN :reason END WHERE c.id IN ({_CONFLICTS_OF.format('reworded')})"
    ),
    # A model's sentence about two memories was made from all evidence of both.
    Step(
        "UPDATE slowwave.memory_conflicts c SET evidence = c.evidence #- '{asked,why}'"
        f" WHERE c.evidence ? 'asked' AND c.id IN ({_CONFLICTS_OF.format(_HURT_OR_RELATED)})"
    ),
    Step(
        "DELETE FROM slowwave.memory_links l WHERE l.id IN ("
        "SELECT x.id FROM gone_memories g JOIN slowwave.memory_links x ON x.source_id = g.id"
        " UNION SELECT x.id FROM gone_memories g JOIN slowwave.memory_links x ON x.target_id = g.id)",
        "links",
    ),
    Step(f"DELETE FROM slowwave.triples t WHERE t.memory_id {_GONE}", "relations"),
    Step(f"DELETE FROM slowwave.memory_blocks b WHERE b.memory_id {_GONE}"),
    Step(f"DELETE FROM slowwave.memory_sources x WHERE x.memory_id {_GONE}", "sources"),
    Step(f"DELETE FROM slowwave.memory_imports x WHERE x.memory_id {_GONE}", "sources"),
    # A note with nearly the same words: the note returns to working memory, and becomes a memory in its own words.
    Step(
        "UPDATE slowwave.working_memory w SET outcome = NULL, settled_at = NULL, run_id = NULL, error = NULL,"
        " marked = true, expires_at = greatest(w.expires_at, CAST(:now AS timestamptz) + interval '7 days')"
        f" FROM slowwave.memory_notes n WHERE n.memory_id {_GONE} AND n.via IS NULL AND w.id = n.working_id"
        " AND w.id NOT IN (SELECT id FROM gone_items) AND w.scope_id NOT IN (SELECT id FROM gone_scopes)"
    ),
    Step(f"DELETE FROM slowwave.memory_notes x WHERE x.memory_id {_GONE}", "sources"),
    Step(
        "DELETE FROM slowwave.memory_changes c WHERE c.id IN ("
        "SELECT x.id FROM (SELECT id FROM gone_memories UNION SELECT id FROM orphans) AS g"
        "  JOIN slowwave.memory_changes x ON x.memory_id = g.id"
        f" UNION SELECT x.id FROM ({_CHANGES_BY_ORIGIN}) AS x"
        f" UNION SELECT x.id FROM ({_CHANGES_BY_NOTE}) AS x JOIN hurt h ON h.id = x.memory_id)",
        "changes",
    ),
    Step(
        f"UPDATE slowwave.memory_changes c SET reason = :reason, before = {_STRIPPED.format('before')},"
        f" after = {_STRIPPED.format('after')}"
        " WHERE c.memory_id IN (SELECT id FROM related) AND c.run_id IS NOT NULL"
    ),
    # No link from an undone run is left, but its changes contain texts of both memories.
    Step(
        f"UPDATE slowwave.memory_changes c SET reason = :reason, before = {_STRIPPED.format('before')},"
        f" after = {_STRIPPED.format('after')} WHERE c.run_id IN (SELECT t.run_id FROM touched_runs t"
        "  JOIN slowwave.maintenance_runs r ON r.id = t.run_id WHERE num_nonnulls(r.undoes, r.undone_by) > 0)"
    ),
    # Former words of such a memory may have come from the deleted data.
    Step(
        f"UPDATE slowwave.memory_changes c SET reason = :reason, before = {_STRIPPED.format('before')},"
        f" after = {_STRIPPED.format('after')} WHERE c.memory_id IN (SELECT id FROM hurt) AND {_SAYS}"
    ),
    Step(f"DELETE FROM slowwave.memories m WHERE m.id {_GONE}", "memories"),
)
CONVERSATIONS: tuple[Step, ...] = (
    Step("DELETE FROM slowwave.working_memory w USING gone_items i WHERE i.id = w.id", "notes in working memory"),
    # Summaries are also in the files of their days: check these files again.
    Step(
        "UPDATE slowwave.memory_files f SET modified_ns = 0 FROM gone_days g WHERE f.scope_id = g.scope_id"
        " AND f.path = 'daily/' || to_char(g.day, 'YYYY-MM-DD') || '.md'"
    ),
    Step(
        "DELETE FROM slowwave.day_summaries d USING gone_days g"
        " WHERE (d.agent_id, d.scope_id, d.day) = (g.agent_id, g.scope_id, g.day)",
        "day summaries",
    ),
    Step("DELETE FROM slowwave.day_segments d USING gone_sessions s WHERE s.id = d.session_id", "day segments"),
    Step("DELETE FROM slowwave.session_days d USING gone_sessions s WHERE s.id = d.session_id"),
    # The remaining events of these days must be summarised again.
    Step(
        "UPDATE slowwave.session_days d SET summarized = 0, pending = d.total_messages > 0 FROM gone_days g"
        " WHERE (d.agent_id, d.scope_id, d.day) = (g.agent_id, g.scope_id, g.day)"
    ),
    Step(
        "DELETE FROM slowwave.days d USING gone_days g"
        " WHERE (d.agent_id, d.scope_id, d.day) = (g.agent_id, g.scope_id, g.day) AND NOT EXISTS ("
        " SELECT FROM slowwave.session_days x"
        " WHERE (x.agent_id, x.scope_id, x.day) = (g.agent_id, g.scope_id, g.day))",
        "days",
    ),
    # Increase the version, so that no version is ever used twice.
    Step(
        "UPDATE slowwave.days d SET status = 'open', last_summarized_total = 0, summarized_at = NULL,"
        " finalized_at = NULL, attempts = 0, not_before = NULL, last_error = NULL FROM gone_days g"
        " WHERE (d.agent_id, d.scope_id, d.day) = (g.agent_id, g.scope_id, g.day)",
        "days to summarise again",
    ),
    Step("DELETE FROM slowwave.passages p USING gone_sessions s WHERE s.id = p.session_id"),
    Step("DELETE FROM slowwave.flushes f USING gone_sessions s WHERE s.id = f.session_id", "flushes"),
    Step("DELETE FROM slowwave.events e USING gone_sessions s WHERE s.id = e.session_id", "events"),
    Step("DELETE FROM slowwave.sessions s USING gone_sessions g WHERE g.id = s.id", "sessions"),
    Step(f"DELETE FROM slowwave.maintenance_runs r WHERE r.id IN ({_RUNS})", "runs"),
    Step(
        "UPDATE slowwave.maintenance_runs r SET error = :reason FROM near_scopes k"
        " WHERE k.id = r.scope_id AND r.error IS NOT NULL"
    ),
    Step("UPDATE slowwave.agents a SET epoch = a.epoch + 1 FROM gone_agents g WHERE g.id = a.id"),
)


def mark_runs(connection: Connection) -> None:
    """Find the runs that lose a part of their history. Call this before anything is deleted."""
    connection.execute(text(_ORPHANS))
    count_rows(connection, "orphans", "gone_memories", "hurt", "related")
    connection.execute(text(_TOUCHED))


def close_runs(connection: Connection, values: dict[str, object]) -> None:
    """Mark these runs so that they can never be undone."""
    connection.execute(text(_TOMBSTONES), values)


def take_away(connection: Connection, steps: tuple[Step, ...], values: dict[str, object]) -> Counter[str]:
    """Carry out these steps. Return the number of affected rows by name."""
    counts: Counter[str] = Counter()
    for statement, label in steps:
        found = connection.execute(text(statement), values | {"wordless": _WORDLESS}).rowcount
        if label:
            counts[label] += found
    return counts
