"""What each role may do with each table and function: the whole decision, as data.

    owner      owns the schema and migrates; Postgres asks it nothing
    worker     flushes, sweeps, consolidates, forgets: all rows of all tenants, no definition of anything
    console    reads all of its tenant, and decides what waits for a person
    producer   captures and reads for its tenant, through functions that ask first

A table or function that stands in no list here fails a test.

Must not know: how privileges are granted.
"""

from collections.abc import Mapping

PRODUCER, CONSOLE, WORKER = "slowwave_producer", "slowwave_console", "slowwave_worker"
GROUPS = {"producer": PRODUCER, "console": CONSOLE, "worker": WORKER}
"""The group of each role. Groups belong to the whole server; who is in one stands there, whose tenant it is here."""

OWNER_ONLY = frozenset({"logins"})
"""Tables that nobody but the owner touches: who could write here could choose a tenant."""
READ_ONLY = frozenset({"alembic_version"})
"""Tables that no row of an agent stands in: every role may read them, none writes."""

WRITES = "SELECT, INSERT, UPDATE, DELETE"

PEOPLE: Mapping[str, str] = {"console_users": "SELECT", "console_sessions": WRITES}
"""Tables of people and their logins: what a console does with them, which may log in as a worker, too, to undo, forget
and maintain. Who may come is written down by the owner alone.
"""

PRODUCER_TABLES = frozenset(
    """
    agents scopes sessions memories working_memory maintenance_runs outbox vector_spaces
    """.split()
)
"""What a producer reads itself, rows of its tenant alone: by id, by name, or to count. It writes no table."""

CONSOLE_WRITES: Mapping[str, str] = {
    "maintenance_runs": "INSERT, UPDATE",
    "memories": "INSERT, UPDATE",
    "memory_changes": "INSERT",
    "memory_links": "INSERT, UPDATE",
    "memory_conflicts": "INSERT, UPDATE",
    "review_items": "INSERT, UPDATE",
    "memory_sources": "INSERT, UPDATE, DELETE",
    "memory_notes": "INSERT, UPDATE, DELETE",
    "memory_imports": "INSERT, UPDATE, DELETE",
    "memory_blocks": "INSERT, DELETE",
    "triples": "INSERT, UPDATE, DELETE",
    "outbox": "INSERT, UPDATE",
}
"""What deciding a question or a conflict writes, and correcting a memory, as a run that can be undone.

Everything else a console only reads.
"""

ENTRANCES: Mapping[str, frozenset[str]] = {
    "capture_session": frozenset({"producer"}),
    "capture": frozenset({"producer"}),
    "boost": frozenset({"producer"}),
    "remember": frozenset({"producer"}),
    "remember_waited": frozenset({"producer"}),
    "brief": frozenset({"producer", "console"}),
    "library": frozenset({"producer", "console"}),
    "find": frozenset({"producer", "console"}),
    "find_hybrid": frozenset({"producer", "console"}),
}
"""Functions that run as the owner, and ask slowwave.admit for the tenant before anything else.

So a search keeps the plan that the owner has: behind a policy, operators of full text may not use their index.
"""

DEFINING = frozenset({"index_space", "prepare_mem0", "extend_events", "empty_events", "analyze_events"})
"""Functions of the worker that make an index, a table or a partition, of numbers alone: they run as the owner, too."""

ASKED = frozenset({"own_tenant", "admit", "admit_scopes"})
"""What policies and entrances ask; they run as the owner from the day they are made."""

CALLED: Mapping[str, frozenset[str]] = {
    "own_tenant": frozenset({"producer", "console"}),
    "working_statistics": frozenset({"producer", "console"}),
    "weigh_memory": frozenset({"console"}),
    "memory_vector": frozenset({"console"}),
    "scoped_vector": frozenset({"console"}),
    "words_vector": frozenset({"console"}),
    "queue_for_backends": frozenset({"console"}),
    "look_at_day": frozenset({"console"}),
    "local_day": frozenset({"console"}),
    "day_status": frozenset({"console"}),
    "count_documents": frozenset({"console"}),
}
"""Functions that run as whoever calls them, so that policies hold inside, and who besides the worker calls them."""

WORKERS_ALONE = frozenset(
    """
    add_source begin_flush bound_sessions change_usage close_sessions commit_day commit_extraction commit_flush
    commit_retry count_days event_partitions fail_flush hear_again insert_new_events keep_noted nearest not_forgotten
    note_again note_growth note_unread open_session passage_vector passage_vectors queue_all queue_changed
    queue_summarized queue_weighed register_backend release_call removable_events remove_events request_flush
    reserve_call scope_of settle_call settle_days settle_lost store_candidates store_memory take_due unregister_backend
    wake_stale
    """.split()
)
"""Functions that run as whoever calls them, and that nobody but a worker needs (or a trigger, or an entrance)."""


def may_call(role: str, function: str) -> bool:
    """Whether a role ("producer", "console", "worker") may call a function of the schema."""
    if role == "worker":
        return function not in {"admit", "admit_scopes"}
    return role in ENTRANCES.get(function, frozenset()) or role in CALLED.get(function, frozenset())


def table_privileges(role: str, table: str) -> str:
    """What a role may do with a table, as GRANT writes it; "" for nothing."""
    if table in OWNER_ONLY:
        return ""
    if table in READ_ONLY:
        return "SELECT"
    if table in PEOPLE:
        return "" if role == "producer" else PEOPLE[table]
    if role == "worker":
        return WRITES
    if role == "console":
        return ", ".join(filter(None, ("SELECT", CONSOLE_WRITES.get(table))))
    return "SELECT" if table in PRODUCER_TABLES else ""
