"""The page of the documents that describes every metric, written from the catalogue.

Must not know: where figures come from.
"""

from collections.abc import Iterable
from itertools import groupby

from slowwave_server.workers.exporter.catalogue import Metric

_HEAD = """# Metrics

`slowwave exporter` serves these at `http://127.0.0.1:9187/metrics`
([how to run it](operate/prometheus.md)). It reads Postgres and the broker at each scrape and keeps nothing
itself: figures are right for any number of hosts and any pool, and right after every restart. They are of the whole
installation, all tenants.

- **What is not known is absent**, never 0: where a server is away, only `slowwave_up` tells it.
- **Labels are few**: never a session, an agent or a memory. A tenant's name only where `--name-tenant` asks for it.
- **Counters** (`_total`) are counted by workers in the broker. Where that was emptied they start anew: `rate()` knows.
- Figures that begin with `recent` are gauges over the last minutes or hours, from the ledger in Postgres.

This page is written by `python -m slowwave_server.workers.exporter`.
"""


def metrics_page(metrics: Iterable[Metric]) -> str:
    """The page as Markdown: a table a topic."""
    parts = [_HEAD]
    for topic, its in groupby(metrics, key=lambda metric: metric.topic):
        rows = [f"| `{m.full_name}` | {m.kind} | {', '.join(m.labels)} | {m.help} |" for m in its]
        parts.append(
            "\n".join([f"## {topic}", "", "| metric | type | labels | tells |", "| --- | --- | --- | --- |", *rows, ""])
        )
    return "\n".join(parts)
