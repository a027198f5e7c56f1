"""The dashboard that Grafana imports, as this repository has it."""

import json
from pathlib import Path
from typing import Any

DASHBOARD = Path(__file__).parents[2] / "deploy" / "grafana" / "slowwave.json"


def panels() -> list[dict[str, Any]]:
    """Return the panels and the headings of the rows, in their order."""
    found: list[dict[str, Any]] = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return found


def targets() -> list[tuple[str, str, str]]:
    """Return the panel's title, the PromQL expression and the legend of each line of the dashboard."""
    return [(one["title"], line["expr"], line["legendFormat"]) for one in panels() for line in one.get("targets", [])]
