"""Every metric that the exporter offers, as data: docs/metrics.md is written from it, alerts and dashboards name it.

Names follow Prometheus' rules: base units, `_total` for counters. Labels are few and bounded: never a session, an agent
or a memory; a tenant only where the settings name it. What can't be read at a scrape is absent then, never 0.

Must not know: where figures come from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PREFIX = "slowwave_"

Kind = Literal["gauge", "counter"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. name: without PREFIX, as the figures name it, and with its unit; labels: in their order."""

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
    ("build_info", "version python", "Always 1; which version of Slowwave the exporter is of."),
    ("scrape_seconds", "", "How long this scrape took to read."),
    ("schema_info", "revision needed", "Always 1; the database's revision, and the one that this version needs."),
    ("schema_current", "", "1 if the database is at the revision that this version needs, else 0."),
    ("clock_offset_seconds", "server", "How far the server's clock is ahead of this host's."),
    ("database_bytes", "", "Size of the database on disk."),
    ("broker_memory_bytes", "", "Memory that the broker uses."),
    ("broker_memory_limit_bytes", "", "Memory that the broker may use (maxmemory); absent if it has no limit."),
    ("broker_keeps_messages", "what", "1 if the broker is set up to keep them (memory: noeviction, disk: appendonly)."),
)

QUEUES = _metrics(
    "Queues and workers",
    ("queue_messages", "queue", "Messages that no worker has taken yet."),
    (
        "queue_oldest_seconds",
        "queue",
        "Age of the oldest message, 0 without one; since the exporter first saw it where it does not say when it came.",
    ),
    ("messages_taken", "", "Messages that workers have taken and not finished."),
    ("workers", "queue", "Workers that take from the queue and answered when they were asked."),
    ("sweep_age_seconds", "", "Time since the last sweep; absent where there is no trace of one for a week."),
    (
        "sweep_interval_seconds",
        "",
        "How often one should come (flush_interval_seconds); absent with auto_flush off.",
    ),
    ("leases", "", "Sessions that are being flushed, under a live lease."),
    ("tickets", "", "Sessions whose message is on its way."),
    ("sessions_parked", "", "Sessions that wait for another one of their agent."),
)

TASKS = _metrics(
    "Tasks",
    (
        "tasks_total",
        "task outcome",
        "Tasks that ended: done, failed, rejected, or what a flush came to (stale: refused, backed_off, …).",
    ),
    ("task_seconds_total", "task", "Time that tasks took, in all workers."),
    ("flush_reclaims_total", "", "Flushes of windows that an earlier worker had begun and not ended."),
)

SESSIONS = _metrics(
    "Sessions",
    ("sessions_dirty", "", "Sessions with events that no flush has read. Counts up to 100,000."),
    ("events_waiting", "", "Events of these sessions that no flush has read."),
    ("dirty_oldest_seconds", "", "How long the oldest of these events has waited; 0 where none does."),
    ("waiting_oldest_seconds", "", "The same of sessions that do not back off: what waits for workers."),
    ("dirty_limit_seconds", "", "How long one may wait at most (max_dirty_age_seconds); absent with auto_flush off."),
    ("sessions_overdue", "", "Sessions that have been due for three sweeps or longer and were not offered."),
    ("overdue_oldest_seconds", "", "How long the first of these has been due; 0 where there is none."),
    ("sessions_timeless", "", "Sessions with new events that will never be due: a fault."),
    ("sessions_backing_off", "", "Sessions that failed and wait to be tried again."),
    ("sessions_failing", "", "Sessions whose last three flushes or more failed."),
)

FLUSHES = _metrics(
    "Flushes of the last five minutes",
    ("recent_flushes", "outcome", "Windows committed, by outcome: stored, no_reply, quarantined."),
    ("recent_flush_lag_seconds", "quantile", "From the arrival of a window's oldest event to its commit."),
    ("recent_flush_seconds", "quantile", "From the beginning of a flush to its commit."),
    ("recent_flushes_retried", "", "Windows committed that had been begun more than once."),
    ("recent_left_to_rules", "why", "Windows that a model was to read and the rules read: budget or failed."),
)

ASIDE = _metrics(
    "What waits for people",
    ("events_quarantined", "", "Events that no flush could digest."),
    ("dead_letters_open", "", "Messages that could not be taken and wait for a decision."),
    ("conflicts_open", "", "Contradictions that nobody has decided."),
    ("conflicts_oldest_seconds", "", "How long the oldest of these has been open; 0 where there is none."),
    ("review_open", "tier", "Questions that wait for an answer."),
    ("review_oldest_seconds", "", "How long the oldest of these has waited; 0 where there is none."),
)

MODELS = _metrics(
    "Models and budgets",
    (
        "budget_tokens_used",
        "tenant model period",
        "Tokens settled and set aside; tenant: those that the exporter's setting names, or * for who used most.",
    ),
    ("budget_tokens_cap", "model period", "The cap of a tenant; absent without one."),
    ("budget_spent_tenants", "period", "Tenants whose cap lets no call through any more."),
    ("budget_calls", "period", "Calls of all tenants in this period."),
    ("budget_calls_failed", "period", "Calls of these that got no answer of use."),
    ("model_state", "state", "1 for the state that holds: fine, not_set_up, away, refused; absent without a model."),
)

RUNS = _metrics(
    "Runs and jobs",
    ("runs_running", "kind", "Runs under way, under a live lease."),
    ("recent_runs", "kind status", "Runs that ended in the last 24 hours, of the newest 1,000."),
    ("recent_run_seconds", "kind statistic", "How long these took: mean, max."),
    # Not `job`: that is Prometheus' own label of what it scrapes.
    ("job_late_seconds", "maintenance_job", "How long an enabled job has been due and not run; 0 where it is not."),
    ("job_failures", "maintenance_job", "Failures in a row among the job's latest three runs."),
    ("job_tick_seconds", "", "How often jobs are looked at (memory.maintenance.tick_seconds)."),
    ("working_notes_open", "", "Items of working memory that no cycle has settled. Counts up to 100,000."),
)

DELIVERIES = _metrics(
    "Deliveries and sources",
    ("outbox_waiting", "backend", "Memories that wait to be written to files or to mem0."),
    ("outbox_oldest_seconds", "backend", "How long the first of these has waited; 0 where none does."),
    ("outbox_failing", "backend", "Memories of these whose last delivery failed."),
    ("files_held", "", "Memory files that are held back."),
    ("source_runs_due", "", "Runs of another store that should have been read."),
    ("source_runs_failing", "", "Runs of another store that could not be read."),
    ("spool_files", "", "Files of events that wait for Postgres on the exporter's host."),
    ("spool_bytes", "", "Their size."),
    ("spool_rejected_files", "", "Files of events that Postgres refused for good, on the exporter's host."),
    ("spool_room_bytes", "", "Room left on the disk of the spool, on the exporter's host."),
)

CATALOGUE: Mapping[str, Metric] = {
    metric.name: metric
    for topic in (SERVERS, QUEUES, TASKS, SESSIONS, FLUSHES, ASIDE, MODELS, RUNS, DELIVERIES)
    for metric in topic
}
"""All metrics by their name without PREFIX, by topic."""
