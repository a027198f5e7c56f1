"""Alerts, runbook and dashboard agree with the catalogues: the same words, a page each, metrics that there are.

Prometheus' own tool reads the rules and runs them on made-up figures: each fires on its trouble and on no other.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.workers.exporter.alerts import RULES, WITHOUT_ALERT
from slowwave_server.workers.exporter.catalogue import CATALOGUE
from slowwave_server.workers.exporter.rules_file import rules_file
from tests.support.dashboard import panels, targets
from tests.support.tables import for_each

ROOT = Path(__file__).parents[2]
RUNBOOKS = ROOT / "docs" / "runbooks"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
EXPRESSIONS = {rule.issue.alert: rule.expr for rule in RULES.values()} | {
    f"{title}: {expr}": expr for title, expr, _ in targets()
}
SECTIONS = ("## Symptom", "## Cause", "## Fix", "## Check")

needs_promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus (Debian's) is not installed")

WELL = {
    'up{job="slowwave"}': "1",
    'slowwave_up{server="postgres"}': "1",
    'slowwave_up{server="broker"}': "1",
    "slowwave_schema_current": "1",
    'slowwave_broker_keeps_messages{what="memory"}': "1",
    'slowwave_broker_keeps_messages{what="disk"}': "1",
    "slowwave_broker_memory_bytes": "7999",
    "slowwave_broker_memory_limit_bytes": "10000",
    'slowwave_clock_offset_seconds{server="postgres"}': "-1.5",
    'slowwave_clock_offset_seconds{server="broker"}': "0.4",
    'slowwave_workers{queue="flush"}': "2",
    "slowwave_sweep_age_seconds": "4",
    "slowwave_sweep_interval_seconds": "5",
    "slowwave_sessions_overdue": "3",
    'slowwave_recent_flushes{outcome="stored"}': "9",
    "slowwave_sessions_timeless": "0",
    "slowwave_waiting_oldest_seconds": "899",
    "slowwave_dirty_limit_seconds": "600",
    "slowwave_sessions_failing": "0",
    'slowwave_tasks_total{task="slowwave.flush_session",outcome="failed"}': "7",
    'slowwave_job_late_seconds{maintenance_job="light-10"}': "1800",
    "slowwave_job_tick_seconds": "900",
    'slowwave_job_failures{maintenance_job="light-10"}': "2",
    'slowwave_recent_runs{kind="light",status="rolled_back"}': "0",
    "slowwave_events_quarantined": "0",
    "slowwave_dead_letters_open": "0",
    "slowwave_review_oldest_seconds": "604800",
    "slowwave_conflicts_oldest_seconds": "1209600",
    'slowwave_model_state{state="fine"}': "1",
    'slowwave_budget_spent_tenants{period="day"}': "0",
    'slowwave_outbox_failing{backend="file"}': "0",
    'slowwave_outbox_oldest_seconds{backend="file"}': "299",
    "slowwave_files_held": "0",
    "slowwave_source_runs_failing": "0",
    "slowwave_source_runs_due": "0",
    "slowwave_spool_files": "0",
    "slowwave_spool_rejected_files": "0",
    "slowwave_spool_room_bytes": "100000000",
}
"""All that alerts look at, where all is well, some of it just so."""
GONE = "_"
SWITCHED_OFF = {
    "slowwave_sweep_interval_seconds": GONE,
    "slowwave_dirty_limit_seconds": GONE,
    "slowwave_sweep_age_seconds": GONE,
    'slowwave_recent_flushes{outcome="stored"}': GONE,
    "slowwave_waiting_oldest_seconds": "90000",
}
"""With memory.auto_flush.enabled off nothing is late, as the doctor has it, too."""
NEW_COUNTER = 'slowwave_tasks_total{task="slowwave.sweep_sessions",outcome="failed"}'
ILL: dict[str, list[dict[str, str]]] = {
    "postgres-away": [{'slowwave_up{server="postgres"}': "0"}],
    "schema-behind": [{"slowwave_schema_current": "0"}],
    "broker-away": [{'slowwave_up{server="broker"}': "0"}],
    "broker-evicts": [{'slowwave_broker_keeps_messages{what="memory"}': "0"}],
    "broker-full": [{"slowwave_broker_memory_bytes": "8000"}],
    "broker-forgets": [{'slowwave_broker_keeps_messages{what="disk"}': "0"}],
    "clocks-apart": [
        {'slowwave_clock_offset_seconds{server="broker"}': "2.1"},
        {'slowwave_clock_offset_seconds{server="broker"}': "0.6"},
    ],
    "no-worker": [{'slowwave_workers{queue="flush"}': "0"}],
    "sweeps-silent": [{"slowwave_sweep_age_seconds": "16"}, {"slowwave_sweep_age_seconds": GONE}],
    "session-overdue": [
        {'slowwave_recent_flushes{outcome="stored"}': "0"},
        {'slowwave_recent_flushes{outcome="stored"}': GONE},
    ],
    "session-timeless": [{"slowwave_sessions_timeless": "1"}],
    "backlog-grows": [{"slowwave_waiting_oldest_seconds": "901"}],
    "flushes-fail": [{"slowwave_sessions_failing": "1"}],
    "tasks-fail": [
        {'slowwave_tasks_total{task="slowwave.flush_session",outcome="failed"}': "0+1"},
        {NEW_COUNTER: "late"},
    ],
    "events-quarantined": [{"slowwave_events_quarantined": "1"}],
    "dead-letters": [{"slowwave_dead_letters_open": "1"}],
    "jobs-late": [{'slowwave_job_late_seconds{maintenance_job="light-10"}': "1801"}],
    "jobs-fail": [{'slowwave_job_failures{maintenance_job="light-10"}': "3"}],
    "passes-rolled-back": [{'slowwave_recent_runs{kind="light",status="rolled_back"}': "1"}],
    "model-not-set-up": [{'slowwave_model_state{state="not_set_up"}': "1"}],
    "model-down": [{'slowwave_model_state{state="away"}': "1"}],
    "model-refuses": [{'slowwave_model_state{state="refused"}': "1"}],
    "budget-spent": [{'slowwave_budget_spent_tenants{period="day"}': "1"}],
    "review-many": [{'slowwave_review_open{tier="low"}': "101"}],
    "review-old": [{"slowwave_review_oldest_seconds": "604801"}],
    "conflicts-old": [{"slowwave_conflicts_oldest_seconds": "1209601"}],
    "deliveries-fail": [{'slowwave_outbox_failing{backend="file"}': "1"}],
    "deliveries-late": [{'slowwave_outbox_oldest_seconds{backend="file"}': "301"}],
    "files-held": [{"slowwave_files_held": "1"}],
    "source-unreadable": [{"slowwave_source_runs_failing": "1"}],
    "source-late": [{"slowwave_source_runs_due": "1"}],
    "spool-waits": [{"slowwave_spool_files": "1"}],
    "spool-refused": [{"slowwave_spool_rejected_files": "1"}],
    "spool-full": [{"slowwave_spool_room_bytes": "99999999"}],
    "exporter-away": [{'up{job="slowwave"}': "0"}, {'up{job="slowwave"}': GONE}],
}
"""What differs from all being well, by the trouble that it is. "late": a counter that first shows after 15 minutes."""


def test_each_trouble_has_an_alert_or_a_reason_why_it_has_none() -> None:
    assert RULES.keys() | WITHOUT_ALERT.keys() == HEALTH_ISSUES.keys()
    assert not RULES.keys() & WITHOUT_ALERT.keys()
    assert ILL.keys() == RULES.keys()


def test_the_rules_are_what_the_code_writes() -> None:
    assert ALERTS.read_text(encoding="utf-8") == rules_file(RULES.values()), (
        "run python -m slowwave_server.workers.exporter"
    )


def test_an_alert_says_the_words_of_the_catalogue_and_names_its_page() -> None:
    tree = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))
    (group,) = tree["groups"]
    assert len(group["rules"]) == len(RULES)
    for rule, name in zip(group["rules"], RULES, strict=True):
        issue, said = HEALTH_ISSUES[name], rule["annotations"]
        assert (rule["alert"], rule["labels"]) == (issue.alert, {"severity": issue.severity})
        assert (said["summary"], said["description"]) == (issue.title, issue.cure)
        assert (ROOT / said["runbook_url"]).is_file()
    linked = yaml.safe_load(rules_file(RULES.values(), runbooks="https://slowwave.example/runbooks/"))
    pages = [rule["annotations"]["runbook_url"] for rule in linked["groups"][0]["rules"]]
    assert pages[0] == "https://slowwave.example/runbooks/postgres-away.html"


@for_each("name", HEALTH_ISSUES)
def test_each_trouble_has_a_page_of_the_runbook_in_its_words(name: str) -> None:
    issue = HEALTH_ISSUES[name]
    text = (RUNBOOKS / f"{name}.md").read_text(encoding="utf-8")
    words = " ".join(text.split())
    assert words.startswith(f"# {issue.title.rstrip('.')} ")
    assert f"**{issue.cure}**" in words
    fires = f"when the alert `{issue.alert}` ({issue.severity}) fires, or when `slowwave doctor` reports this issue."
    silent = f"when `slowwave doctor` reports this issue. No alert reports it. {WITHOUT_ALERT.get(name)}"
    assert f"Use this page {fires if name in RULES else silent}" in words
    parts = re.split(r"^## .*\n", text, flags=re.MULTILINE)
    assert re.findall(r"^## .*", text, flags=re.MULTILINE) == list(SECTIONS)
    assert all(part.strip() for part in parts)
    assert f"({name}.md) | {issue.title} | {issue.severity} |" in (RUNBOOKS / "README.md").read_text("utf-8")


def test_the_runbook_has_no_page_of_a_trouble_that_is_none() -> None:
    assert {page.stem for page in RUNBOOKS.glob("*.md")} == {*HEALTH_ISSUES, "README"}


@for_each("name", HEALTH_ISSUES)
def test_a_symptom_leads_to_every_runbook(name: str) -> None:
    assert f"(runbooks/{name}.md)" in (RUNBOOKS.parent / "troubleshooting.md").read_text("utf-8")


@for_each("where", EXPRESSIONS)
def test_an_expression_asks_for_metrics_and_labels_that_there_are(where: str) -> None:
    expr = EXPRESSIONS[where]
    for name, matchers in re.findall(r"\bslowwave_(\w+)(?:\{([^}]*)\})?", expr):
        labels = re.findall(r"(\w+)\s*=", matchers)
        assert name in CATALOGUE
        assert set(labels) <= set(CATALOGUE[name].labels)


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {name for _, expr, _ in targets() for name in _metrics(expr)}
    assert shown == CATALOGUE.keys()


def test_a_legend_names_labels_that_its_metric_has() -> None:
    for title, expr, legend in targets():
        known = {label for name in _metrics(expr) for label in CATALOGUE[name].labels}
        assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= known, title


def test_the_dashboard_is_one_that_grafana_places() -> None:
    """Without Grafana: panels lie side by side, do not overlap, and have ids and sources of their own."""
    placed = panels()
    assert len({panel["id"] for panel in placed}) == len(placed)
    cells = [(x, y) for panel in placed for x, y in _cells(panel["gridPos"])]
    assert len(set(cells)) == len(cells)
    assert all(x < 24 for x, _ in cells)
    lines = [line for panel in placed for line in panel.get("targets", [])]
    assert {line["datasource"]["uid"] for line in lines} == {"${datasource}"}


@pytest.mark.long
@needs_promtool
def test_each_alert_fires_on_its_trouble_and_on_no_other(tmp_path: Path) -> None:
    (tmp_path / "alerts.yaml").write_text(rules_file(RULES.values()), encoding="utf-8")
    cases = [_case(None, WELL), _case(None, WELL | SWITCHED_OFF)]
    cases += [_case(HEALTH_ISSUES[name].alert, WELL | change) for name, changes in ILL.items() for change in changes]
    tree = {"rule_files": ["alerts.yaml"], "evaluation_interval": "5m", "tests": cases}
    (tmp_path / "tests.yaml").write_text(json.dumps(tree), encoding="utf-8")
    command = ["promtool", "test", "rules", "tests.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _case(alert: str | None, series: dict[str, str]) -> dict[str, Any]:
    """At the thirtieth minute this alert fires, and it alone."""
    fires = [] if alert is None else [{"labels": f'{{alertname="{alert}"}}', "value": 1}]
    expr = 'count by (alertname) (count by (alertname, __name__) (ALERTS{alertstate="firing"}))'
    return {
        "name": alert or "well",
        "interval": "5m",
        "input_series": [{"series": _scraped(name), "values": _values(value)} for name, value in series.items()],
        "promql_expr_test": [{"expr": expr, "eval_time": "30m", "exp_samples": fires}],
    }


def _values(value: str) -> str:
    if value == GONE:
        return "_x6"
    if value == "late":
        return "_x5 1+0x1"
    return f"{value}x6" if "+" in value else f"{value}+0x6"


def _scraped(series: str) -> str:
    """With the label that Prometheus gives to all of one job."""
    if series.startswith("up{"):
        return series
    name, _, labels = series.partition("{")
    return f'{name}{{job="slowwave",{labels or "}"}'


def _metrics(expr: str) -> set[str]:
    return set(re.findall(r"\bslowwave_(\w+)", expr))


def _cells(grid: dict[str, int]) -> list[tuple[int, int]]:
    columns = range(grid["x"], grid["x"] + grid["w"])
    return [(x, y) for y in range(grid["y"], grid["y"] + grid["h"]) for x in columns]
