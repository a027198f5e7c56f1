"""Alert rules: for each health issue a PromQL expression that detects it, and how long the expression must hold.

Wording and urgency come from the catalogue, so an alert says the same as the doctor, the console and the runbook.
`python -m slowwave_server.workers.exporter` writes `deploy/prometheus/alerts.yaml` from these rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from slowwave.settings import Files
from slowwave_server.domain.health_issues import HEALTH_ISSUES, HealthIssue
from slowwave_server.domain.health_limits import (
    BACKLOG_SECONDS,
    BROKER_FULL_SHARE,
    CLOCKS_APART_SECONDS,
    CONFLICT_OLD,
    FAILED_RUNS,
    LATE_TICKS,
    REVIEW_MANY,
    REVIEW_OLD,
    SPOOL_ROOM_BYTES,
)
from slowwave_server.domain.waiting import SILENT_SWEEPS
from slowwave_server.services.reports.backlog import LATE_SYNCS

JOB = "slowwave"
"""The name of the exporter's scrape job in `deploy/prometheus/prometheus.yml`."""
_HERE = "on (instance, job)"
_LATE_DELIVERY = LATE_SYNCS * Files().sync_seconds
_CLOCK = "slowwave_clock_offset_seconds"
_CLOCKS_APART = (
    f"abs({_CLOCK}) > {CLOCKS_APART_SECONDS:g}"
    f' or abs({_CLOCK}{{server="postgres"}} - ignoring (server) {_CLOCK}{{server="broker"}}) > {CLOCKS_APART_SECONDS:g}'
)
_SWEEPS_SILENT = (
    f"slowwave_sweep_age_seconds > {SILENT_SWEEPS} * slowwave_sweep_interval_seconds"
    # No sweep left a trace for a week, although the broker, which stores the traces, answers.
    f' or slowwave_sweep_interval_seconds and {_HERE} slowwave_up{{server="broker"}} == 1'
    f" unless {_HERE} slowwave_sweep_age_seconds"
)
# Without a dirty limit, automatic flushing is off and no session becomes due.
_OVERDUE = (
    f"slowwave_sessions_overdue > 0 and {_HERE} slowwave_dirty_limit_seconds"
    f" unless {_HERE} sum by (instance, job) (slowwave_recent_flushes) > 0"
)
_FAILED = 'slowwave_tasks_total{outcome="failed"}'
_TASKS_FAIL = (
    f"sum by (task) (increase({_FAILED}[15m])) > 0"
    # increase() ignores a counter's first value; that value counts if the exporter was already up before.
    f" or sum by (task) ({_FAILED} unless slowwave_tasks_total offset 15m and {_HERE} up offset 15m) > 0"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One alert rule. expr: PromQL with an empty result while the state is good. seconds: the time for which the result
    must be non-empty.

    found: the observed value, as a Prometheus template.
    """

    issue: HealthIssue
    expr: str
    seconds: float
    found: str


def _rules(*rows: tuple[str, str, float, str]) -> dict[str, Rule]:
    return {name: Rule(HEALTH_ISSUES[name], expr, seconds, found) for name, expr, seconds, found in rows}


_COUNT = "{{ $value }}"
_AGE = "the oldest for {{ $value | humanizeDuration }}"

_SERVERS = _rules(
    ("postgres-away", 'slowwave_up{server="postgres"} == 0', 60, "no answer to {{ $labels.instance }}"),
    ("broker-away", 'slowwave_up{server="broker"} == 0', 60, "no answer to {{ $labels.instance }}"),
    ("schema-behind", "slowwave_schema_current == 0", 60, "seen by {{ $labels.instance }}"),
    ("broker-evicts", 'slowwave_broker_keeps_messages{what="memory"} == 0', 300, "maxmemory-policy"),
    (
        "broker-full",
        f"slowwave_broker_memory_bytes / slowwave_broker_memory_limit_bytes >= {BROKER_FULL_SHARE:g}",
        300,
        "{{ $value | humanizePercentage }} of maxmemory",
    ),
    ("broker-forgets", 'slowwave_broker_keeps_messages{what="disk"} == 0', 300, "appendonly is off"),
    (
        "clocks-apart",
        _CLOCKS_APART,
        300,
        "{{ $labels.server }} by {{ $value | humanizeDuration }}",
    ),
)

_WORK = _rules(
    ("no-worker", "slowwave_workers == 0", 120, "queue {{ $labels.queue }}"),
    (
        "sweeps-silent",
        _SWEEPS_SILENT,
        60,
        "{{ $value | humanizeDuration }}",
    ),
    (
        "session-overdue",
        _OVERDUE,
        60,
        f"{_COUNT} sessions",
    ),
    ("session-timeless", "slowwave_sessions_timeless > 0", 300, f"{_COUNT} sessions"),
    (
        "backlog-grows",
        f"slowwave_waiting_oldest_seconds > slowwave_dirty_limit_seconds + {BACKLOG_SECONDS:g}",
        300,
        _AGE,
    ),
    ("flushes-fail", "slowwave_sessions_failing > 0", 300, f"{_COUNT} sessions"),
    (
        "tasks-fail",
        _TASKS_FAIL,
        60,
        "{{ $labels.task }}, {{ $value | humanize }} times",
    ),
    (
        "jobs-late",
        f"slowwave_job_late_seconds > {_HERE} group_left {LATE_TICKS} * slowwave_job_tick_seconds",
        60,
        "{{ $labels.maintenance_job }} for {{ $value | humanizeDuration }}",
    ),
    ("jobs-fail", f"slowwave_job_failures >= {FAILED_RUNS}", 60, "{{ $labels.maintenance_job }}"),
    ("passes-rolled-back", 'sum(slowwave_recent_runs{status="rolled_back"}) > 0', 60, f"{_COUNT} passes"),
)

_ASIDE = _rules(
    ("events-quarantined", "slowwave_events_quarantined > 0", 60, f"{_COUNT} events"),
    ("dead-letters", "slowwave_dead_letters_open > 0", 60, f"{_COUNT} messages"),
    ("review-old", f"slowwave_review_oldest_seconds > {REVIEW_OLD.total_seconds():.0f}", 60, _AGE),
    ("review-many", f"sum(slowwave_review_open) > {REVIEW_MANY}", 60, f"{_COUNT} questions"),
    ("conflicts-old", f"slowwave_conflicts_oldest_seconds > {CONFLICT_OLD.total_seconds():.0f}", 60, _AGE),
)

_MODELS = _rules(
    ("model-not-set-up", 'slowwave_model_state{state="not_set_up"} == 1', 60, "by the exporter's settings"),
    ("model-down", 'slowwave_model_state{state="away"} == 1', 60, "since no call had an answer"),
    ("model-refuses", 'slowwave_model_state{state="refused"} == 1', 60, "when it was last asked"),
    (
        "budget-spent",
        "slowwave_budget_spent_tenants > 0",
        60,
        f"the {{{{ $labels.period }}}}'s, of {_COUNT} tenants",
    ),
)

_DELIVERIES = _rules(
    ("deliveries-fail", "slowwave_outbox_failing > 0", 300, f"{_COUNT} for {{{{ $labels.backend }}}}"),
    (
        "deliveries-late",
        f"slowwave_outbox_oldest_seconds > {_LATE_DELIVERY:.0f}",
        60,
        "{{ $labels.backend }} for {{ $value | humanizeDuration }}",
    ),
    ("files-held", "slowwave_files_held > 0", 60, f"{_COUNT} files"),
    ("source-unreadable", "slowwave_source_runs_failing > 0", 60, f"{_COUNT} runs"),
    ("source-late", "slowwave_source_runs_due > 0", 60, f"{_COUNT} runs"),
    ("spool-waits", "slowwave_spool_files > 0", 300, f"{_COUNT} files at {{{{ $labels.instance }}}}"),
    ("spool-refused", "slowwave_spool_rejected_files > 0", 60, f"{_COUNT} files at {{{{ $labels.instance }}}}"),
    (
        "spool-full",
        f"slowwave_spool_room_bytes < {SPOOL_ROOM_BYTES}",
        60,
        "{{ $value | humanize1024 }}B at {{ $labels.instance }}",
    ),
    (
        "exporter-away",
        f'up{{job="{JOB}"}} == 0 or absent(up{{job="{JOB}"}})',
        120,
        "{{ $labels.instance }}",
    ),
)

_BY_ISSUE = _SERVERS | _WORK | _ASIDE | _MODELS | _DELIVERIES

RULES: Mapping[str, Rule] = {name: _BY_ISSUE[name] for name in HEALTH_ISSUES if name in _BY_ISSUE}
"""All rules by the name of their issue, in the order of the catalogue."""

WITHOUT_ALERT: Mapping[str, str] = {
    "postgres-refuses": "Postgres refuses the exporter as well; `SlowwavePostgresAway` fires instead.",
    "postgres-old": "The exporter finds no schema: `slowwave admin migrate` refuses such a server.",
    "broker-refuses": "The broker refuses the exporter as well; `SlowwaveBrokerAway` fires instead.",
    "broker-keys": "The exporter's user may not read the list; workers and clients continue with new keys.",
    "roles-outdated": "The exporter's role may not inspect roles.",
    "producers-unbounded": "The exporter's role may not inspect other logins.",
    "notes-fail": "Slowwave retries within a day; `slowwave status` counts the failures.",
    "backend-mismatch": "Workers log it when they start; the exporter's settings may differ from theirs.",
}
"""Issues without an alert, and the reason; only the doctor finds them."""
