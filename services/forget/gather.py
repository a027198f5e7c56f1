"""The first step of a forget: find the rows to delete, and lock the rows through which others could add to them.

The results are temporary tables of the transaction, so the rows of a large agent never pass through this process:
gone_agents (their epoch is increased), gone_runs (their imported data is deleted), gone_scopes (deleted completely),
near_scopes (possibly affected), gone_sessions, gone_items (of working memory), gone_days, gone_memories.

Order of locks: the scopes' passes and cycles, agents, scopes, sessions. Other transactions lock rows in another order;
so a forget that waits too long for a lock gives up and is retried as a whole.
"""

from typing import NamedTuple

from sqlalchemy import Connection, text

from slowwave_server.services.forget.target import Target

LOCK_MILLISECONDS = 700
"""Less than Postgres waits before it looks for a deadlock: so it is the forget that gives up, and never a hook."""

_TABLES = (
    "CREATE TEMP TABLE gone_agents (id bigint PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE gone_runs (id bigint PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE gone_scopes (id bigint PRIMARY KEY) ON COMMIT DROP",
    "CREATE TEMP TABLE near_scopes (id bigint PRIMARY KEY) ON COMMIT DROP",
    (
        "CREATE TEMP TABLE gone_sessions (id bigint PRIMARY KEY, agent_id bigint, scope_id bigint, name text)"
        " ON COMMIT DROP"
    ),
    "CREATE TEMP TABLE gone_items (id uuid PRIMARY KEY) ON COMMIT DROP",
    (
        "CREATE TEMP TABLE gone_days (agent_id bigint, scope_id bigint, day date,"
        " PRIMARY KEY (agent_id, scope_id, day)) ON COMMIT DROP"
    ),
    "CREATE TEMP TABLE gone_memories (id uuid PRIMARY KEY, scope_id bigint) ON COMMIT DROP",
)

# The names for each kind of target. Every statement names the tenant; for names that are not set, nothing is found.
_NAMED = {
    "agent": (
        "INSERT INTO gone_agents SELECT a.id FROM slowwave.agents a WHERE a.tenant = :tenant AND a.name = :agent",
        (
            "INSERT INTO gone_scopes SELECT k.id FROM slowwave.scopes k"
            " WHERE k.tenant = :tenant AND k.kind = 'agent' AND k.name = :agent"
        ),
    ),
    "session": (
        "INSERT INTO gone_agents SELECT a.id FROM slowwave.agents a WHERE a.tenant = :tenant AND a.name = :agent",
    ),
    "scope": (
        (
            "INSERT INTO gone_scopes SELECT k.id FROM slowwave.scopes k"
            " WHERE k.tenant = :tenant AND k.kind = :kind AND k.name = :name"
        ),
        (
            "INSERT INTO gone_agents SELECT s.agent_id FROM slowwave.sessions s JOIN gone_scopes k ON k.id = s.scope_id"
            " UNION SELECT w.agent_id FROM slowwave.working_memory w JOIN gone_scopes k ON k.id = w.scope_id"
            " UNION SELECT d.agent_id FROM slowwave.days d JOIN gone_scopes k ON k.id = d.scope_id"
        ),
    ),
    "import": (
        (
            "INSERT INTO gone_runs SELECT r.id FROM slowwave.maintenance_runs r JOIN slowwave.scopes k"
            " ON k.id = r.scope_id AND k.tenant = :tenant WHERE r.id = CAST(:name AS bigint)"
        ),
        (
            "INSERT INTO gone_agents SELECT s.agent_id FROM slowwave.sessions s JOIN gone_runs g ON g.id = s.import_run"
            " UNION SELECT a.id FROM gone_runs g JOIN slowwave.maintenance_runs r ON r.id = g.id"
            "  JOIN slowwave.scopes k ON k.id = r.scope_id AND k.kind = 'agent'"
            "  JOIN slowwave.agents a ON a.tenant = k.tenant AND a.name = k.name"
        ),
    ),
    "memory": (
        (
            "INSERT INTO gone_memories SELECT m.id, m.scope_id FROM slowwave.memories m"
            " JOIN slowwave.scopes k ON k.id = m.scope_id AND k.tenant = :tenant WHERE m.id = :memory"
        ),
        # Merged memories say the same in other words. They become independent if a session is forgotten, but not if
        # this memory is.
        (
            "INSERT INTO gone_memories SELECT p.id, p.scope_id FROM slowwave.memories p"
            " JOIN gone_memories g ON g.id = p.merged_into ON CONFLICT DO NOTHING"
        ),
        # The agent that owns the scope: running work about this agent is fenced, too.
        (
            "INSERT INTO gone_agents SELECT DISTINCT a.id FROM slowwave.agents a JOIN slowwave.scopes k"
            " ON k.tenant = a.tenant AND k.kind = 'agent' AND k.name = a.name JOIN gone_memories g ON g.scope_id = k.id"
        ),
    ),
}
# Agents that share a scope with the target: their memories may depend on it. For one session, its own scope is enough,
# and the other sessions of its agent are not read.
_NEAR = (
    "INSERT INTO near_scopes"
    " SELECT k.id FROM gone_scopes k"
    " UNION SELECT s.scope_id FROM gone_agents a JOIN slowwave.sessions s ON s.agent_id = a.id {one}"
    " UNION SELECT w.scope_id FROM gone_agents a JOIN slowwave.working_memory w ON w.agent_id = a.id {noted}"
    " UNION SELECT m.scope_id FROM gone_memories m"
    " UNION SELECT r.scope_id FROM gone_runs g JOIN slowwave.maintenance_runs r ON r.id = g.id"
    # If a forget was interrupted, only rows that name its scope may be left.
    " UNION SELECT k.id FROM gone_agents g JOIN slowwave.agents a ON a.id = g.id"
    "  JOIN slowwave.scopes k ON k.tenant = a.tenant AND k.kind = 'agent' AND k.name = a.name"
)
_NEAR_OF = {"one": "AND s.name = :session", "noted": "AND w.session = :session"}
_SESSIONS = {
    "agent": "JOIN gone_agents a ON a.id = s.agent_id",
    "session": "JOIN gone_agents a ON a.id = s.agent_id AND s.name = :session",
    "scope": "JOIN gone_scopes k ON k.id = s.scope_id",
    "import": "JOIN gone_runs g ON g.id = s.import_run",
    "memory": "WHERE false",
}
_ITEMS = {
    "agent": "WHERE w.agent_id IN (SELECT id FROM gone_agents) OR w.scope_id IN (SELECT id FROM gone_scopes)",
    "session": "JOIN gone_agents a ON a.id = w.agent_id AND w.session = :session",
    "scope": "JOIN gone_scopes k ON k.id = w.scope_id",
    "import": "WHERE false",
    # Notes of an agent in the words of this memory, on which no other memory depends.
    "memory": "WHERE EXISTS (SELECT FROM slowwave.memory_notes n JOIN gone_memories g ON g.id = n.memory_id"
    " WHERE n.working_id = w.id) AND NOT EXISTS (SELECT FROM slowwave.memory_notes n WHERE n.working_id = w.id"
    " AND n.memory_id NOT IN (SELECT id FROM gone_memories))",
}
_DAYS = (
    "INSERT INTO gone_days SELECT DISTINCT d.agent_id, d.scope_id, d.day FROM slowwave.session_days d"
    " JOIN gone_sessions s ON s.id = d.session_id"
    # Summaries that were read from files contain names of sessions.
    " UNION SELECT d.agent_id, d.scope_id, d.day FROM slowwave.day_summaries d"
    "  JOIN gone_sessions s ON (s.agent_id, s.scope_id) = (d.agent_id, d.scope_id) WHERE d.made_by = 'import'"
    "  AND jsonb_path_exists(d.lines, '$[*] ? (@.session == $n)', jsonb_build_object('n', s.name))"
)
# All rows of a whole agent or scope, whatever their origin; for smaller targets, these tables are not read.
_ALL_DAYS = "".join(
    f" UNION SELECT d.agent_id, d.scope_id, d.day FROM slowwave.{table} d WHERE d.scope_id IN"
    " (SELECT id FROM gone_scopes) OR :whole AND d.agent_id IN (SELECT id FROM gone_agents)"
    for table in ("days", "day_summaries")
)
_LOCK_PASSES = (
    "SELECT pg_advisory_xact_lock(hashtextextended('slowwave.consolidate ' || k.id, 0)),"
    " pg_advisory_xact_lock(hashtextextended('slowwave.working ' || k.id, 0)) FROM near_scopes k ORDER BY k.id"
)
_LOCK_ROWS = (
    "SELECT a.id FROM slowwave.agents a WHERE a.id IN (SELECT id FROM gone_agents) ORDER BY a.id FOR UPDATE",
    "SELECT k.id FROM slowwave.scopes k WHERE k.id IN (SELECT id FROM gone_scopes) ORDER BY k.id FOR UPDATE",
    "SELECT s.id FROM slowwave.sessions s WHERE s.id IN (SELECT id FROM gone_sessions) ORDER BY s.id FOR UPDATE",
)


class Step(NamedTuple):
    """A statement over the temporary tables. label: the name under which a receipt counts its rows; "" for none."""

    statement: str
    label: str = ""


def gather(connection: Connection, target: Target) -> None:
    """Fill the temporary tables, locked until the transaction ends. Raises OperationalError without a lock in time."""
    values = parameters(target)
    connection.execute(text("SELECT set_config('lock_timeout', :ms, true)"), {"ms": str(LOCK_MILLISECONDS)})
    for statement in _TABLES:
        connection.execute(text(statement))
    for statement in _NAMED[target.kind]:
        connection.execute(text(statement), values)
    count_rows(connection, "gone_agents", "gone_runs", "gone_scopes", "gone_memories")
    one = _NEAR_OF if target.kind == "session" else dict.fromkeys(_NEAR_OF, "")
    connection.execute(text(_NEAR.format(**one)), values)
    count_rows(connection, "near_scopes")
    connection.execute(text(_LOCK_PASSES))
    agents, scopes, sessions = _LOCK_ROWS
    connection.execute(text(agents))
    connection.execute(text(scopes))
    # From now on no session can be opened, so the rows found here are complete.
    connection.execute(
        text(
            "INSERT INTO gone_sessions SELECT s.id, s.agent_id, s.scope_id, s.name FROM slowwave.sessions s "
            + _SESSIONS[target.kind]
        ),
        values,
    )
    connection.execute(text(sessions))
    count_rows(connection, "gone_sessions")
    connection.execute(
        text(f"INSERT INTO gone_items SELECT w.id FROM slowwave.working_memory w {_ITEMS[target.kind]}"), values
    )
    connection.execute(text("INSERT INTO near_scopes SELECT scope_id FROM gone_sessions ON CONFLICT DO NOTHING"))
    if target.kind in {"agent", "scope"}:
        connection.execute(text(_DAYS + _ALL_DAYS), {"whole": target.kind == "agent"})
    else:
        connection.execute(text(_DAYS))
    count_rows(connection, "gone_items", "gone_days", "near_scopes")


def count_rows(connection: Connection, *tables: str) -> None:
    """Update the planner's statistics of the temporary tables, before they are joined with tables of any size."""
    for table in tables:
        connection.execute(text(f"ANALYZE {table}"))


def parameters(target: Target) -> dict[str, object]:
    """Return the names of a target, in the form that all statements of a forget take."""
    kind, name = target.scope or (None, None)
    return {
        "tenant": target.tenant,
        "agent": target.agent,
        "session": target.session,
        "kind": kind,
        "name": name,
        "memory": target.memory,
    }
