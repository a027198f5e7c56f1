"""The dashboard as data: rows of panels, each with its expressions in PromQL.

Every metric of the catalogue is on some panel. The most frequent questions come first: health, time to memory, queues.
"""

from dataclasses import dataclass
from typing import Literal

Shape = Literal["timeseries", "stat", "table"]


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. lines: (expression, legend in Grafana's template). unit: Grafana's name. note: advice for readers."""

    title: str
    lines: tuple[tuple[str, str], ...]
    unit: str = "short"
    shape: Shape = "timeseries"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...]


def _one(title: str, expr: str, legend: str = "", unit: str = "short", note: str = "") -> Panel:
    return Panel(title, ((expr, legend or title),), unit, "timeseries", note)


def _stat(title: str, expr: str, legend: str = "", unit: str = "short", note: str = "") -> Panel:
    return Panel(title, ((expr, legend or title),), unit, "stat", note)


_WELL = Row(
    "Health",
    (
        Panel(
            "Alerts",
            (('sum by (alertname, severity) (ALERTS{alertname=~"Slowwave.*", alertstate="firing"}) or vector(0)', ""),),
            shape="table",
            note="Each alert has a runbook page.",
        ),
        _stat("Servers that answer", "slowwave_up", "{{server}}", note="1: answers, 0: down."),
        _stat("Workers", "slowwave_workers", "{{queue}}", note="By queue; each needs one."),
        _stat("Last sweep", "slowwave_sweep_age_seconds", "seconds ago", "s", "Silent after three intervals."),
        _stat("Schema is current", "slowwave_schema_current"),
    ),
)

_WAITING = Row(
    "Time to memory",
    (
        Panel(
            "Oldest waiting event",
            (
                ("slowwave_waiting_oldest_seconds", "waits"),
                ("slowwave_dirty_oldest_seconds", "waits or backs off"),
                ("slowwave_dirty_limit_seconds", "the most"),
            ),
            "s",
            note="Above its limit for a long time: workers don't keep up.",
        ),
        _one("From arrival to commit", "slowwave_recent_flush_lag_seconds", "quantile {{quantile}}", "s"),
        Panel(
            "Sessions",
            (
                ("slowwave_sessions_dirty", "dirty"),
                ("slowwave_sessions_parked", "parked behind their agent's other ones"),
                ("slowwave_sessions_overdue", "overdue"),
                ("slowwave_sessions_backing_off", "backing off"),
                ("slowwave_sessions_failing", "failing again and again"),
                ("slowwave_sessions_timeless", "never due"),
            ),
        ),
        _one("First overdue session", "slowwave_overdue_oldest_seconds", unit="s"),
        _one("Events that no flush has read", "slowwave_events_waiting"),
        _one("Windows in five minutes", "slowwave_recent_flushes", "{{outcome}}"),
        _one("Flush duration", "slowwave_recent_flush_seconds", "quantile {{quantile}}", "s"),
    ),
)

_QUEUES = Row(
    "Queues",
    (
        _one("Messages", "slowwave_queue_messages", "{{queue}}"),
        _one("Oldest message", "slowwave_queue_oldest_seconds", "{{queue}}", "s"),
        Panel(
            "In transit",
            (
                ("slowwave_messages_taken", "taken, not finished"),
                ("slowwave_leases", "sessions being flushed"),
                ("slowwave_tickets", "sessions with a message"),
            ),
        ),
        Panel(
            "Sweeps",
            (("slowwave_sweep_age_seconds", "since the last"), ("slowwave_sweep_interval_seconds", "one should come")),
            "s",
        ),
    ),
)

_TASKS = Row(
    "Tasks",
    (
        _one("Tasks a second", "sum by (task) (rate(slowwave_tasks_total[5m]))", "{{task}}", "ops"),
        _one("How they ended", "sum by (outcome) (rate(slowwave_tasks_total[5m]))", "{{outcome}}", "ops"),
        _one(
            "Task duration",
            "sum by (task) (rate(slowwave_task_seconds_total[5m]))"
            " / (sum by (task) (rate(slowwave_tasks_total[5m])) > 0)",
            "{{task}}",
            "s",
        ),
        Panel(
            "Windows restarted",
            (
                ("rate(slowwave_flush_reclaims_total[5m])", "begun before by a worker that ended"),
                ("slowwave_recent_flushes_retried / 300", "committed after more than one try"),
            ),
            "ops",
        ),
    ),
)

_PEOPLE = Row(
    "Decisions for people",
    (
        Panel(
            "Quarantine, dead letters, held files",
            (
                ("slowwave_events_quarantined", "events in quarantine"),
                ("slowwave_dead_letters_open", "dead letters"),
                ("slowwave_files_held", "files held back"),
            ),
        ),
        _one("Questions", "slowwave_review_open", "{{tier}}"),
        _one("Contradictions", "slowwave_conflicts_open"),
        Panel(
            "Oldest question and contradiction",
            (
                ("slowwave_review_oldest_seconds", "question"),
                ("slowwave_conflicts_oldest_seconds", "contradiction"),
            ),
            "s",
        ),
    ),
)

_MODELS = Row(
    "Models and budgets",
    (
        Panel(
            "Tokens of the tenant with the highest use",
            (
                ('slowwave_budget_tokens_used{tenant="*"}', "used this {{period}}"),
                ("slowwave_budget_tokens_cap", "cap of a {{period}}"),
            ),
        ),
        _one("Tenants whose cap is spent", "slowwave_budget_spent_tenants", "this {{period}}"),
        Panel(
            "Calls",
            (
                ("slowwave_budget_calls", "this {{period}}"),
                ("slowwave_budget_calls_failed", "failed this {{period}}"),
            ),
        ),
        _stat("Model", "slowwave_model_state or vector(0)", "{{state}}"),
        _one("Windows left to the rules in five minutes", "slowwave_recent_left_to_rules", "{{why}}"),
    ),
)

_RUNS = Row(
    "Runs, jobs, deliveries",
    (
        _one("Runs under way", "slowwave_runs_running or vector(0)", "{{kind}}"),
        _one("Runs of the last day", "slowwave_recent_runs", "{{kind}}: {{status}}"),
        _one("Run duration", "slowwave_recent_run_seconds", "{{kind}}: {{statistic}}", "s"),
        Panel(
            "Delay of jobs",
            (
                ("slowwave_job_late_seconds", "{{maintenance_job}}"),
                ("slowwave_job_tick_seconds", "they are looked at every"),
            ),
            "s",
        ),
        _one("Failures in a row", "slowwave_job_failures", "{{maintenance_job}}"),
        _one("Notes in working memory", "slowwave_working_notes_open"),
        Panel(
            "Deliveries and sources",
            (
                ("slowwave_outbox_waiting or vector(0)", "wait for {{backend}}"),
                ("slowwave_outbox_failing or vector(0)", "fail for {{backend}}"),
                ("slowwave_source_runs_due", "runs to be read"),
                ("slowwave_source_runs_failing", "runs that can't be read"),
            ),
        ),
        _one("The oldest delivery", "slowwave_outbox_oldest_seconds or vector(0)", "{{backend}}", "s"),
    ),
)

_SERVERS = Row(
    "Servers",
    (
        Panel(
            "Sizes",
            (
                ("slowwave_database_bytes", "database"),
                ("slowwave_broker_memory_bytes", "broker's memory"),
                ("slowwave_broker_memory_limit_bytes", "broker's limit (maxmemory)"),
                ("slowwave_spool_bytes", "spool"),
                ("slowwave_spool_room_bytes", "room for the spool"),
            ),
            "bytes",
        ),
        Panel(
            "Spool of the exporter's host",
            (
                ("slowwave_spool_files", "files that wait for Postgres"),
                ("slowwave_spool_rejected_files", "files that it refused"),
            ),
        ),
        _one("Clocks ahead", "slowwave_clock_offset_seconds", "{{server}}", "s"),
        _stat("The broker keeps messages", "slowwave_broker_keeps_messages", "{{what}}"),
        _one("Scrape duration", "slowwave_scrape_seconds", unit="s"),
        Panel("Versions", (("slowwave_build_info", ""), ("slowwave_schema_info", "")), shape="table"),
    ),
)

ROWS = (_WELL, _WAITING, _QUEUES, _TASKS, _PEOPLE, _MODELS, _RUNS, _SERVERS)
