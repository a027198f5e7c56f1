"""Write alert rules and metrics page from their catalogues: `python -m slowwave_server.workers.exporter`."""

import argparse
from pathlib import Path

from slowwave_server.workers.exporter.alerts import RULES
from slowwave_server.workers.exporter.catalogue import CATALOGUE
from slowwave_server.workers.exporter.metrics_page import metrics_page
from slowwave_server.workers.exporter.rules_file import RUNBOOKS, rules_file


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(
        prog="python -m slowwave_server.workers.exporter", description="Write the alert rules and the metrics page."
    )
    parser.add_argument("--folder", type=Path, default=Path("deploy"), help="where to write (default: deploy)")
    parser.add_argument("--runbooks", default=RUNBOOKS, help="URL of the folder with the runbook's pages")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the documents are (default: docs)")
    given = parser.parse_args()
    (given.docs / "metrics.md").write_text(metrics_page(CATALOGUE.values()), encoding="utf-8")
    file = given.folder / "prometheus" / "alerts.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(rules_file(RULES.values(), runbooks=given.runbooks), encoding="utf-8")


if __name__ == "__main__":
    main()
