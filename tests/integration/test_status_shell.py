"""`slowwave status`, where one of the servers is away."""

import json
from pathlib import Path

import pytest

from slowwave_server.workers.cli.main import app
from slowwave_server.workers.shared.failures import FOUND
from tests.support.shelling import CliRunner

pytestmark = pytest.mark.servers


def test_status_without_a_broker_exits_3_and_shows_postgres(database_url: str, tmp_path: Path) -> None:
    away = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": "redis://127.0.0.1:1/0"}
    away |= {"SLOWWAVE_SPOOL": str(tmp_path)}
    shown = CliRunner(env=away).invoke(app, ["status"])
    assert shown.exit_code == 3
    assert "unknown: the broker does not answer" in shown.stdout
    assert "0 dirty sessions" in shown.stdout
    as_json = CliRunner(env=away).invoke(app, ["status", "--json"])
    assert as_json.exit_code == 3
    assert json.loads(as_json.stdout)["queues"] is None


def test_status_without_a_worker_exits_1(database_url: str, valkey_url: str, tmp_path: Path) -> None:
    here = {"SLOWWAVE_DATABASE_URL": database_url, "SLOWWAVE_BROKER_URL": valkey_url, "SLOWWAVE_SPOOL": str(tmp_path)}
    shown = CliRunner(env=here).invoke(app, ["status"])
    assert shown.exit_code == FOUND
    assert "none answers" in shown.stdout
