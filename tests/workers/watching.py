"""A Prometheus and an exporter over a fleet's servers, as an installation has them, only quicker."""

import json
import shutil
import sys
import threading
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.workers.cli.main import app as shell
from slowwave_server.workers.exporter.alerts import RULES
from slowwave_server.workers.exporter.rules_file import rules_file
from slowwave_server.workers.stack.ports import settle_ports
from tests.support.processes import wait_until
from tests.support.shelling import CliRunner
from tests.workers.fleet import ROOT, Fleet, Program

PACE = 0.01
"""A minute that an alert waits for is 0.6 s here. Expressions are those of the files."""
PATIENCE = 60.0
_CONFIG = """\
global: {{scrape_interval: 3s, scrape_timeout: 3s, evaluation_interval: 500ms}}
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: slowwave
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Watch:
    """`begin` starts both programs; `firing` and `query` ask Prometheus, `doctor` asks the shell."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        prometheus = shutil.which("prometheus")
        if prometheus is None:
            pytest.skip("Prometheus (Debian's) is not installed")
        self._prometheus = prometheus
        self._fleet = fleet
        self._folder = folder
        self._ports = settle_ports(folder / "ports.json", {"prometheus": 0, "exporter": 0})
        self._programs: list[Program] = []
        self._pause = threading.Event()

    def begin(self) -> None:
        port = self._ports["exporter"]
        (self._folder / "alerts.yaml").write_text(rules_file(RULES.values(), pace=PACE), encoding="utf-8")
        (self._folder / "prometheus.yml").write_text(_CONFIG.format(port=port), encoding="utf-8")
        self.exporter = self._start("exporter", *_SHELL, "exporter", "--listen", f"127.0.0.1:{port}")
        self._start(
            "prometheus",
            self._prometheus,
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._ports['prometheus']}",
        )
        wait_until(lambda: bool(self._up()), PATIENCE, "Prometheus has scraped the exporter")

    def end(self) -> None:
        for program in self._programs:
            program.end()

    def query(self, expr: str) -> list[Any]:
        """What an expression gives now."""
        return list(self._ask("query?" + urllib.parse.urlencode({"query": expr}))["result"])

    def firing(self) -> dict[str, dict[str, str]]:
        """The annotations of each alert that fires, by its name; Prometheus looks twice a second."""
        self._pause.wait(0.25)
        alerts = self._ask("alerts")["alerts"]
        return {a["labels"]["alertname"]: a["annotations"] for a in alerts if a["state"] == "firing"}

    def doctor(self) -> dict[str, tuple[str, str]]:
        """Title and cure of each trouble that `slowwave doctor` finds, by its name."""
        checks = json.loads(self.shell("doctor", "--json"))["checks"]
        return {c["issue"]: (c["title"], c["cure"]) for c in checks if c["verdict"] == "problem"}

    def shell(self, *command: str) -> str:
        """What a command of the shell prints, with the fleet's settings."""
        return CliRunner().invoke(shell, command, env=self._fleet.environment).stdout

    def shows(self, *names: str) -> None:
        """Wait until these troubles are alerts, then see that the doctor says the same words of each."""
        wanted = {HEALTH_ISSUES[name].alert for name in names}
        wait_until(lambda: wanted <= self.firing().keys(), PATIENCE, f"{sorted(wanted)} fire")
        firing, found = self.firing(), self.doctor()
        assert set(names) <= found.keys(), found
        for name in names:
            said = firing[HEALTH_ISSUES[name].alert]
            assert (said["summary"], said["description"]) == found[name]
            assert said["found"]
            assert (ROOT / said["runbook_url"]).is_file()

    def ends(self, *names: str) -> None:
        """Wait until these alerts are over."""
        over = {HEALTH_ISSUES[name].alert for name in names}
        wait_until(lambda: not over & self.firing().keys(), PATIENCE, f"{sorted(over)} end")

    def _up(self) -> list[Any]:
        try:
            return self.query("slowwave_up")
        except OSError:
            return []

    def _ask(self, what: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._ports['prometheus']}/api/v1/{what}", timeout=5) as answer:
            return json.load(answer)["data"]

    def _start(self, name: str, *command: str) -> Program:
        program = Program(command, self._fleet.environment, self._folder / f"{name}.log")
        self._programs.append(program)
        return program


_SHELL = (sys.executable, "-c", "from slowwave_server.workers.cli import main; main()")
