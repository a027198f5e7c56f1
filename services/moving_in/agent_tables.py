"""The tables with an agent and its history, in the order in which an import can write them.

The list excludes rows of rooms and teams, vectors and term statistics (workers rebuild them), open model calls, and
rows saved by undos. So after an import, an undo that was made before the export can't be undone.
"""

from dataclasses import dataclass

_SESSIONS = "(SELECT s.id FROM slowwave.sessions s WHERE s.agent_id = :agent AND s.scope_id = :scope)"
_MEMORIES = "(SELECT m.id FROM slowwave.memories m WHERE m.scope_id = :scope)"
_RUNS = "(SELECT r.id FROM slowwave.maintenance_runs r WHERE r.scope_id = :scope)"
_OF_SCOPE = "t.scope_id = :scope"
_OF_BOTH = "t.agent_id = :agent AND t.scope_id = :scope"
_OF_SESSION = f"t.session_id IN {_SESSIONS}"
_OF_MEMORY = f"t.memory_id IN {_MEMORIES}"


@dataclass(frozen=True, slots=True)
class Table:
    """One table. which: the SQL condition for the agent's rows, as `t`; order: a stable order, ids first if `numbered`.

    numbered: True if its id is a number to which other rows refer, so that each row gets a new one; otherwise the
    database assigns a numeric `id`. keeps_id: True if its id is a UUID, kept unless it is taken. numbers: columns with
    the number of a row of another table, with this table; uuids: columns with ids of memories and notes; later: columns
    that refer to rows of the same table, written after all rows; dropped: columns without meaning on another
    installation.
    """

    name: str
    which: str
    order: str
    numbered: bool = False
    keeps_id: bool = False
    numbers: tuple[tuple[str, str], ...] = ()
    uuids: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


_RUN = (("run_id", "maintenance_runs"),)
_SESSION = (("session_id", "sessions"),)
TABLES: tuple[Table, ...] = (
    Table(
        "maintenance_runs",
        _OF_SCOPE,
        "t.id",
        numbered=True,
        later=("undoes", "undone_by", "part_of"),
        dropped=("job_id", "tenant", "lease", "lease_until"),
    ),
    Table("sessions", _OF_BOTH, "t.id", numbered=True, dropped=("import_run", "import_seq")),
    Table("events", _OF_SESSION, "t.session_id, t.seq", numbers=_SESSION),
    Table("session_days", _OF_SESSION, "t.session_id, t.day", numbers=_SESSION),
    Table("flushes", _OF_SESSION, "t.id", numbered=True, numbers=_SESSION),
    Table(
        "memories",
        _OF_SCOPE,
        "t.id",
        keeps_id=True,
        uuids=("id", "superseded_by", "merged_into"),
        later=("superseded_by", "merged_into"),
    ),
    Table(
        "memory_sources",
        f"{_OF_MEMORY} AND {_OF_SESSION}",
        "t.memory_id, t.session_id, t.seq",
        numbers=_SESSION,
        uuids=("memory_id", "via"),
    ),
    Table("working_memory", _OF_BOTH, "t.id", keeps_id=True, numbers=_RUN, uuids=("id",)),
    Table(
        "memory_notes",
        f"{_OF_MEMORY} AND t.working_id IN (SELECT w.id FROM slowwave.working_memory w WHERE w.agent_id = :agent"
        " AND w.scope_id = :scope)",
        "t.memory_id, t.working_id",
        uuids=("memory_id", "working_id", "via"),
    ),
    Table("memory_imports", _OF_MEMORY, "t.memory_id, t.digest", numbers=_RUN, uuids=("memory_id", "via")),
    Table(
        "memory_links",
        f"t.source_id IN {_MEMORIES} AND t.target_id IN {_MEMORIES}",
        "t.id",
        numbers=(*_RUN, ("ended_by", "maintenance_runs")),
        uuids=("source_id", "target_id"),
    ),
    Table(
        "memory_conflicts",
        _OF_SCOPE,
        "t.id",
        numbered=True,
        numbers=_RUN,
        uuids=("memory_id", "conflicting_memory_id"),
    ),
    Table(
        "review_items",
        _OF_SCOPE,
        "t.id",
        numbered=True,
        numbers=(*_RUN, ("conflict_id", "memory_conflicts")),
        uuids=("memory_id",),
    ),
    Table("triples", _OF_SCOPE, "t.id", numbers=_RUN, uuids=("memory_id",)),
    Table(
        "memory_changes",
        f"({_OF_MEMORY} OR t.run_id IN {_RUNS})",
        "t.id",
        numbers=(*_RUN, ("flush_id", "flushes")),
        uuids=("memory_id",),
        dropped=("xid",),
    ),
    Table("memory_blocks", _OF_SCOPE, "t.key, t.memory_id", uuids=("memory_id",)),
    Table("passages", _OF_SESSION, "t.session_id, t.seq, t.part", numbers=_SESSION),
    Table("days", _OF_BOTH, "t.day"),
    Table("day_summaries", _OF_BOTH, "t.id", numbers=_RUN),
    Table(
        "day_segments", f"{_OF_BOTH} AND {_OF_SESSION}", "t.day, t.session_id, t.from_seq", numbers=_SESSION
    ),
    Table("aliases", _OF_SCOPE, "t.id", numbered=True),
    Table(
        "alias_sources",
        f"t.alias_id IN (SELECT a.id FROM slowwave.aliases a WHERE a.scope_id = :scope) AND {_OF_SESSION}",
        "t.alias_id, t.session_id, t.seq",
        numbers=(("alias_id", "aliases"), *_SESSION),
    ),
    Table(
        "alias_changes",
        f"{_OF_SCOPE} AND t.alias_id IN (SELECT a.id FROM slowwave.aliases a)",
        "t.id",
        numbers=(("alias_id", "aliases"), *_RUN),
    ),
    Table("memory_uses", f"{_OF_MEMORY} AND (t.session_id IS NULL OR {_OF_SESSION})", "t.id", numbers=_SESSION,
          uuids=("memory_id",)),
)  # fmt: skip
