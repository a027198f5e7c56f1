"""Every metric of the exporter, as data: docs/metrics.md is generated from it, alerts and dashboards use its names.

Names follow Prometheus' rules: base units, `_total` for counters. Labels are few and bounded: never a session, an agent
or a memory; a tenant only if an option names it. A value that a scrape can't read is missing, never 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PREFIX = "slowwave_"

Kind = Literal["gauge", "counter"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. name: its name without PREFIX, with its unit; labels: its labels in order."""

    topic: str
    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str

    @property
    def full_name(self) -> str:
        return f"{PREFIX}{self.name}"


def _metrics(topic: str, *rows: tuple[str, str, str]) -> list[Metric]:
    return [
        Metric(topic, name, "counter" if name.endswith("_total") else "gauge", tuple(labels.split()), help_)
        for name, labels, help_ in rows
    ]


SERVERS = _metrics(
    "Servers",
    ("up", "server", "1 if the server (postgres, broker) answered this scrape, else 0."),
    ("build_info", "version python", "Always 1; the exporter's version of Slowwave."),
    ("scrape_seconds", "", "Duration of this scrape's reads."),
    (
        "schema_info",
        "revision needed",
        "Always 1; the schema revision of the database, and the revision that this version needs.",
    ),
    ("schema_current", "", "1 if the database has the schema revision that this version needs, else 0."),
    (
        "clock_offset_seconds",
        "server",
        "Offset of the server's clock from this host's; positive if the server is ahead.",
    ),
    ("database_bytes", "", "Size of the database on disk."),
    ("broker_memory_bytes", "", "Memory that the broker uses."),
    ("broker_memory_limit_bytes", "", "Memory that the broker may use (maxmemory); absent if it has no limit."),
    (
        "broker_keeps_messages",
        "what",
        "1 if the broker is configured to keep messages (memory: noeviction, disk: appendonly).",
    ),
)

QUEUES = _metrics(
    "Queues and workers",
    ("queue_messages", "queue", "Messages that no worker has taken yet."),
    (
        "queue_oldest_seconds",
        "queue",
        "Age of the oldest message (or time since the exporter first saw it, if unknown); 0 if the queue is empty.",
    ),
    ("messages_taken", "", "Messages that workers have taken and not finished."),
    ("workers", "queue", "Workers that consume the queue and answered the exporter's query."),
    ("sweep_age_seconds", "", "Time since the last sweep; absent if no sweep ran for a week."),
    (
        "sweep_interval_seconds",
        "",
        "Configured interval of sweeps (flush_interval_seconds); absent with auto_flush off.",
    ),
    ("leases", "", "Sessions in a flush, under a live lease."),
    ("tickets", "", "Sessions with a message in transit."),
    ("sessions_parked", "", "Sessions that wait for another session of their agent."),
)

TASKS = _metrics(
    "Tasks",
    (
        "tasks_total",
        "task outcome",
        "Finished tasks by outcome: done, failed, rejected; of flushes: stored, stale (a duplicate message), …",
    ),
    ("task_seconds_total", "task", "Total duration of tasks, in all workers."),
    ("flush_reclaims_total", "", "Flushes of windows that an earlier worker started and did not finish."),
)

SESSIONS = _metrics(
    "Sessions",
    ("sessions_dirty", "", "Sessions with events that no flush has read. Counts up to 100,000."),
    ("events_waiting", "", "Events of these sessions that no flush has read."),
    ("dirty_oldest_seconds", "", "Age of the oldest unread event; 0 if no event is unread."),
    ("waiting_oldest_seconds", "", "Age of the oldest unread event of sessions that don't back off: the backlog."),
    ("dirty_limit_seconds", "", "Maximum wait of an event (max_dirty_age_seconds); absent with auto_flush off."),
    ("sessions_overdue", "", "Sessions that have been due for three sweeps or longer and are not enqueued."),
    ("overdue_oldest_seconds", "", "How long the first overdue session has been due; 0 if none is overdue."),
    ("sessions_timeless", "", "Sessions with new events that will never be due: a defect."),
    ("sessions_backing_off", "", "Sessions that failed and wait for a retry."),
    ("sessions_failing", "", "Sessions with three or more failed flushes in a row."),
)

FLUSHES = _metrics(
    "Flushes of the last five minutes",
    (
        "recent_flushes",
        "outcome",
        "Windows committed, by outcome: stored, no_reply (it contains nothing to remember), quarantined.",
    ),
    ("recent_flush_lag_seconds", "quantile", "From the arrival of a window's oldest event to its commit."),
    ("recent_flush_seconds", "quantile", "From the beginning of a flush to its commit."),
    ("recent_flushes_retried", "", "Windows committed after more than one start."),
    ("recent_left_to_rules", "why", "Windows that the rules read instead of the model, by reason: budget or failed."),
)

ASIDE = _metrics(
    "Decisions for people",
    ("events_quarantined", "", "Events that no flush could extract."),
    ("dead_letters_open", "", "Messages that no task could accept and that wait for a decision."),
    ("conflicts_open", "", "Contradictions without a decision."),
    ("conflicts_oldest_seconds", "", "Age of the oldest open contradiction; 0 if none is open."),
    ("review_open", "tier", "Questions that wait for an answer."),
    ("review_oldest_seconds", "", "Age of the oldest open question; 0 if none is open."),
)

MODELS = _metrics(
    "Models and budgets",
    (
        "budget_tokens_used",
        "tenant model period",
        "Tokens used and reserved; tenant: each tenant of --name-tenant, or * for the tenant with the highest use.",
    ),
    ("budget_tokens_cap", "model period", "The cap of a tenant; absent if no cap is set."),
    ("budget_spent_tenants", "period", "Tenants with a cap that allows no further call."),
    ("budget_calls", "period", "Calls of all tenants in this period."),
    ("budget_calls_failed", "period", "Calls of this period that got no usable answer."),
    ("model_state", "state", "1 for the current state: fine, not_set_up, away, refused; absent without a model."),
)

RUNS = _metrics(
    "Runs and jobs",
    ("runs_running", "kind", "Runs in progress, under a live lease."),
    ("recent_runs", "kind status", "Runs that ended in the last 24 hours, of the newest 1,000."),
    ("recent_run_seconds", "kind statistic", "Duration of the runs that `recent_runs` counts: mean, max."),
    # Not `job`, because Prometheus itself uses this label for the scraped target.
    ("job_late_seconds", "maintenance_job", "How long an enabled job has been due without a run; 0 if it is not due."),
    ("job_failures", "maintenance_job", "Failed runs of the job since its last other outcome, at most 3."),
    ("job_tick_seconds", "", "Interval of checks for due jobs (memory.maintenance.tick_seconds)."),
    ("working_notes_open", "", "Notes of working memory that no cycle has settled. Counts up to 100,000."),
)

DELIVERIES = _metrics(
    "Deliveries and sources",
    ("outbox_waiting", "backend", "Memories that wait for delivery to files or to mem0."),
    ("outbox_oldest_seconds", "backend", "How long the oldest of these memories has waited; 0 if none waits."),
    ("outbox_failing", "backend", "Memories that wait because their last delivery failed."),
    ("files_held", "", "Memory files that Slowwave does not write until a person decides."),
    ("source_runs_due", "", "Due runs of Agno's store that no worker has read."),
    ("source_runs_failing", "", "Runs of Agno's store that could not be read."),
    ("spool_files", "", "Files of events that wait for Postgres on the exporter's host."),
    ("spool_bytes", "", "Size of the files of events that wait for Postgres, on the exporter's host."),
    ("spool_rejected_files", "", "Files of events that Postgres refused permanently, on the exporter's host."),
    ("spool_room_bytes", "", "Free space on the disk of the spool, on the exporter's host."),
)

CATALOGUE: Mapping[str, Metric] = {
    metric.name: metric
    for topic in (SERVERS, QUEUES, TASKS, SESSIONS, FLUSHES, ASIDE, MODELS, RUNS, DELIVERIES)
    for metric in topic
}
"""All metrics by their name without PREFIX, by topic."""
