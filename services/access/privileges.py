"""The rights of each role on each table and function, as data.

    owner      owns the schema and migrates it; Postgres checks no rights
    worker     flushes, sweeps, consolidates, forgets: all rows of all tenants, but no schema changes
    console    reads all of its tenant, and decides the questions for a person
    producer   captures and reads for its tenant, through functions that check its rights
    gateway    as a producer and a console, for the tenant of the API key of its session; nothing without a key, and no
    users or logins

A test fails if a table or function is in no list of this module.
"""

from collections.abc import Mapping

PRODUCER, CONSOLE, WORKER = "slowwave_producer", "slowwave_console", "slowwave_worker"
GATEWAY = "slowwave_gateway"
GROUPS = {"producer": PRODUCER, "console": CONSOLE, "worker": WORKER, "gateway": GATEWAY}
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
    "aliases": "INSERT, UPDATE",
    "alias_changes": "INSERT",
    "audit_log": "INSERT",
    "api_keys": "INSERT, UPDATE",
    "requests": "INSERT",
}
"""What deciding a question or a conflict writes, and correcting a memory or a name, as a run that can be undone; and
what is noted of logins and exports; keys, and what is asked of a worker.

Everything else a console only reads.
"""

GATEWAY_WRITES: Mapping[str, str] = {
    "webhook_endpoints": "INSERT, UPDATE, DELETE",
    "webhook_deliveries": "UPDATE",
}
"""What a gateway writes besides: webhooks that are made, removed, and told again."""
SECRETS = frozenset({"webhook_secrets"})
"""What deliveries are signed with: a gateway adds rows that it can't read, a worker reads them."""

ENTRANCES: Mapping[str, frozenset[str]] = {
    "capture_session": frozenset({"producer"}),
    "capture_batch": frozenset({"producer"}),
    "boost_sessions": frozenset({"producer"}),
    "remember": frozenset({"producer"}),
    "remember_delayed": frozenset({"producer"}),
    "read_context": frozenset({"producer", "console"}),
    "scope_stats": frozenset({"producer", "console"}),
    "search": frozenset({"producer", "console"}),
    "passages_around": frozenset({"producer", "console"}),
    "read_memories": frozenset({"producer", "console"}),
    "explain_memory": frozenset({"producer", "console"}),
    "use_memories": frozenset({"producer", "console"}),
    "show_memories": frozenset({"producer"}),
    "pair_memories": frozenset({"producer", "console"}),
    "read_changes": frozenset({"producer", "console"}),
    "await_changes": frozenset({"producer", "console"}),
}
"""Functions that run as the owner, and ask slowwave.require_tenant for the tenant before anything else.

So a search keeps the plan that the owner has: behind a policy, operators of full text may not use their index.
"""

DEFINING = frozenset(
    {"create_vector_index", "create_mem0_schema", "add_event_partitions", "truncate_empty_partitions", "analyze_events"}
)
"""Functions of the worker that make an index, a table or a partition, of numbers alone: they run as the owner, too."""

NOTING = frozenset({"announce_changes", "keep_tombstones"})
"""Triggers that note for readers of the feed what any role did; they run as the owner from the day they are made."""

ASKED = frozenset({"current_tenant", "require_tenant", "require_scopes", "use_key"})
"""What policies and entrances ask, and what names the key that they ask about; they run as the owner from the day they
are made.
"""

CALLED: Mapping[str, frozenset[str]] = {
    "current_tenant": frozenset({"producer", "console"}),
    "working_memory_stats": frozenset({"producer", "console"}),
    "score_memory": frozenset({"console"}),
    "learned_importance": frozenset({"console"}),
    "memory_search_vector": frozenset({"console"}),
    "scoped_search_vector": frozenset({"console"}),
    "search_vector": frozenset({"console"}),
    "searched_text": frozenset({"console"}),
    "plain_letters": frozenset({"console"}),
    "compound_terms": frozenset({"console"}),
    "search_configuration": frozenset({"console"}),
    "guess_language": frozenset({"console"}),
    "question_terms": frozenset({"console"}),
    "scope_languages": frozenset({"console"}),
    "enqueue_for_backends": frozenset({"console"}),
    "schedule_summary": frozenset({"console"}),
    "local_day": frozenset({"console"}),
    "day_status": frozenset({"console"}),
    "count_documents": frozenset({"console"}),
}
"""Functions that run as whoever calls them, so that policies hold inside, and who besides the worker calls them."""

WORKERS_ALONE = frozenset(
    """
    add_source add_usage alias_terms begin_flush change_type claim_due clamp_event_times close_sessions commit_day
    commit_extraction commit_flush commit_retry consolidate_notes correct_memory count_days enqueue_all
    enqueue_on_change enqueue_on_conflict enqueue_on_score enqueue_on_summary event_partitions fail_flush
    filter_forgotten holds_memories insert_new_events learn_aliases memory_record nearest_vectors open_session
    passage_search_vector passage_search_vectors record_source_runs register_backend reinforce_from_note
    reinforce_memory release_call removable_events remove_events request_excess_flushes request_flush
    request_stale_flushes reserve_call scope_of settle_call settle_days settle_expired_calls store_candidates
    store_memory stored_cosines unregister_backend update_scope_counters
    """.split()
)
"""Functions that run as whoever calls them, and that nobody but a worker needs (or a trigger, or an entrance)."""


def may_call(role: str, function: str) -> bool:
    """Return True if a role ("producer", "console", "worker", "gateway") may call a function of the schema."""
    if role == "worker":
        return function not in ASKED - {"current_tenant"}
    if role == "gateway":
        return function == "use_key" or may_call("producer", function) or may_call("console", function)
    return role in ENTRANCES.get(function, frozenset()) or role in CALLED.get(function, frozenset())


def table_privileges(role: str, table: str) -> str:
    """Return a role's rights on a table in the form of GRANT; "" for none."""
    if table in OWNER_ONLY:
        return ""
    if table in READ_ONLY:
        return "SELECT"
    if table in PEOPLE:
        return PEOPLE[table] if role in {"console", "worker"} else ""
    if role == "worker":
        return WRITES
    return _within_tenant(role, table)


def _within_tenant(role: str, table: str) -> str:
    if table in SECRETS:
        return "INSERT" if role == "gateway" else ""
    if role in {"console", "gateway"}:
        own = GATEWAY_WRITES.get(table) if role == "gateway" else None
        return ", ".join(filter(None, ("SELECT", CONSOLE_WRITES.get(table), own)))
    return "SELECT" if table in PRODUCER_TABLES else ""
