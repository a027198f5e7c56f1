"""Builds the dashboard from the rows of panels, as JSON that Grafana imports."""

import json
from collections.abc import Sequence
from typing import Any

from slowwave_server.workers.exporter.panels import Panel, Row

_COLUMNS = 24
_A_ROW = 4
_HEIGHTS = {"timeseries": 8, "stat": 6, "table": 6}
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def dashboard_file(rows: Sequence[Row]) -> str:
    """Return the file's text. Its only variable is the Prometheus data source; no other value has to be set."""
    board: dict[str, Any] = {
        "uid": "slowwave",
        "title": "Slowwave",
        "description": "Written by python -m slowwave_server.workers.exporter",
        "tags": ["slowwave"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": []},
        "templating": {
            "list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
        },
        "panels": _placed(rows),
    }
    return json.dumps(board, indent=2) + "\n"


def _placed(rows: Sequence[Row]) -> list[dict[str, Any]]:
    placed: list[dict[str, Any]] = []
    y = 0
    for row in rows:
        heading = {"h": 1, "w": _COLUMNS, "x": 0, "y": y}
        placed.append({"id": len(placed) + 1, "type": "row", "title": row.title, "collapsed": False, "panels": []})
        placed[-1]["gridPos"] = heading
        y += 1
        for first in range(0, len(row.panels), _A_ROW):
            line = row.panels[first : first + _A_ROW]
            width, height = _COLUMNS // len(line), max(_HEIGHTS[panel.shape] for panel in line)
            for place, panel in enumerate(line):
                grid = {"h": height, "w": width, "x": place * width, "y": y}
                placed.append({"id": len(placed) + 1, "gridPos": grid} | _panel(panel))
            y += height
    return placed


def _panel(panel: Panel) -> dict[str, Any]:
    table = panel.shape == "table"
    targets = [
        {
            "refId": chr(ord("A") + number),
            "datasource": _SOURCE,
            "expr": expr,
            "legendFormat": legend,
            "instant": panel.shape != "timeseries",
            "range": panel.shape == "timeseries",
            "format": "table" if table else "time_series",
        }
        for number, (expr, legend) in enumerate(panel.lines)
    ]
    return {
        "type": panel.shape,
        "title": panel.title,
        "description": panel.note,
        "datasource": _SOURCE,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
        "options": {} if table else _options(panel),
    }


def _options(panel: Panel) -> dict[str, Any]:
    if panel.shape == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "values": False}, "textMode": "value_and_name"}
    return {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi", "sort": "desc"}}
