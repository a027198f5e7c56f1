"""Write `alerts.yaml` for Prometheus, from the rules."""

from collections.abc import Iterable
from typing import Any

import yaml

from slowwave_server.workers.exporter.alerts import Rule

RUNBOOKS = "docs/runbooks"
"""Where a runbook's page is, unless it is said where they are to be read: in this repository."""
_MINUTE = 60
_HEAD = """\
# Alert rules for Prometheus, in the words of `slowwave doctor`.
# Written by `python -m slowwave_server.workers.exporter`; with --runbooks https://HOST/runbooks each
# alert's runbook_url is its page there.
"""


def rules_file(rules: Iterable[Rule], *, runbooks: str = RUNBOOKS, pace: float = 1.0) -> str:
    """Return the file's text. runbooks: the URL or folder of their pages; pace: a factor for each `for`, for tests."""
    ending = "html" if "://" in runbooks else "md"
    written = [_rule(rule, f"{runbooks.rstrip('/')}/{rule.issue.name}.{ending}", pace) for rule in rules]
    tree = {"groups": [{"name": "slowwave", "rules": written}]}
    return _HEAD + yaml.safe_dump(tree, sort_keys=False, width=110)


def _rule(rule: Rule, page: str, pace: float) -> dict[str, Any]:
    issue = rule.issue
    return {
        "alert": issue.alert,
        "expr": rule.expr,
        "for": _duration(rule.seconds * pace),
        "labels": {"severity": issue.severity},
        "annotations": {
            "summary": issue.title,
            "description": issue.cure,
            "found": rule.found,
            "runbook_url": page,
        },
    }


def _duration(seconds: float) -> str:
    return f"{seconds / _MINUTE:.0f}m" if not seconds % _MINUTE else f"{round(seconds * 1000)}ms"
