"""The tables from which a forget deletes, and the tables that it leaves. A test fails for a table in neither list."""

TAKEN = frozenset(
    """
    events session_days flushes passages sessions day_summaries day_segments days
    memories memory_sources memory_notes memory_imports memory_links memory_blocks memory_changes memory_conflicts
    memory_uses review_items triples working_memory outbox memory_files memory_file_lines maintenance_runs dead_letters
    common_terms rebuild_windows rebuild_evidence memory_vectors passage_vectors vector_progress source_runs
    window_answers aliases alias_sources alias_changes undone_rows
    """.split()
)
"""Tables of which rows are deleted."""

LEFT = {
    "agents": "a name, a time zone and numbers; the epoch rises",
    "scopes": "a name, and figures that are counted anew",
    "memory_backends": "names of backends",
    "llm_calls": "names, numbers of runs, versions of prompts, what calls cost, digests of names; for 90 days",
    "llm_usage": "names, and what calls cost",
    "maintenance_jobs": "schedules, and how many of what a job's last run came to",
    "logins": "names of logins, and whose tenant each belongs to",
    "api_keys": "names of keys, agents and scopes that each reaches, who made it, and the digest of its secret",
    "requests": "who asked, names and counts; the words of a correction until it is answered; for 7 days",
    "audit_log": "names of people, of scopes that they exported and ids of memories that they revealed; for 365 days",
    "console_users": "names of people, what each may do, and a digest of a password",
    "console_sessions": "who is logged in, and until when",
    "status_samples": "figures of the tenant over time; for 90 days",
    "rebuilds": "names of extractors, and times; what they made goes with its session",
    "vector_spaces": "names of embedding models",
    "memory_tombstones": "ids of memories that are gone, and whose they were; for 30 days",
    "webhook_endpoints": "URLs, names of agents and scopes, and who made it",
    "webhook_secrets": "what deliveries are signed with",
    "webhook_deliveries": "ids of memories, times, and what receivers answered by number; for 30 days",
    "change_listeners": "names of tenants and of channels",
    "erasures": "the receipts: names and numbers",
    "erased_names": "the fences: names and times",
}
"""Tables without text of conversations, each with a description of its contents."""
