"""`alerts.yaml` as Prometheus reads it, from the rules.

Must not know: which rules there are.
"""

import json
from collections.abc import Iterable

from workers.exporter.alerts import Rule

RUNBOOKS = "docs/runbooks"
"""Where a runbook's page is, unless it is said where they are to be read: in this repository."""

_HEAD = """\
# Alert rules for Prometheus, in the words of `slowwave doctor`.
# Written by `python -m workers.exporter`; with --runbooks https://HOST/runbooks each alert links to its page there.
groups:
  - name: slowwave
    rules:
"""


def rules_file(rules: Iterable[Rule], *, runbooks: str = RUNBOOKS, pace: float = 1.0) -> str:
    """The file's text. runbooks: a URL, or a folder; pace: what every `for` is multiplied with, for trials."""
    ending = "html" if "://" in runbooks else "md"
    return _HEAD + "".join(_rule(rule, f"{runbooks.rstrip('/')}/{rule.trouble.name}.{ending}", pace) for rule in rules)


def _rule(rule: Rule, page: str, pace: float) -> str:
    trouble = rule.trouble
    return f"""\
      - alert: {trouble.alert}
        expr: {json.dumps(rule.expr)}
        for: {round(rule.seconds * pace * 1000)}ms
        labels:
          severity: {trouble.severity}
        annotations:
          summary: {json.dumps(trouble.title)}
          description: {json.dumps(trouble.cure)}
          found: {json.dumps(rule.found)}
          runbook_url: {json.dumps(page)}
"""
