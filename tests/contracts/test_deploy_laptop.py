"""Units for a computer without workers: systemd itself and a plist parser accept them; what they call exists."""

import configparser
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import typer

from slowwave.settings import OTHER_VARIABLES
from slowwave_server.workers.cli.main import app
from tests.support.documents import ROOT

SYSTEMD = ROOT / "deploy" / "systemd"
UNITS = sorted(path for path in SYSTEMD.iterdir() if path.is_file())
PLIST = ROOT / "deploy" / "launchd" / "slowwave-maintenance.plist"
PROGRAM = "%h/.local/bin/slowwave"
INSTALLED = Path(sys.executable).parent / "slowwave"


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


def options_of(command: list[str]) -> set[str]:
    """The options of a command of the shell. Fails where there is no such command."""
    at: Any = typer.main.get_command(app)
    for word in command:
        at = at.commands[word]
    return {option for parameter in at.params for option in parameter.opts}


def test_a_service_a_oneshot_and_its_timer_are_there() -> None:
    assert [path.name for path in UNITS] == [
        "slowwave-maintenance-tick.service",
        "slowwave-maintenance-tick.timer",
        "slowwave-maintenance.service",
    ]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_accepts_each_unit(path: Path, tmp_path: Path) -> None:
    for source in UNITS:
        text = source.read_text(encoding="utf-8").replace(PROGRAM, str(INSTALLED))
        (tmp_path / source.name).write_text(text, encoding="utf-8")
    verify = ["systemd-analyze", "verify", "--user", "--man=no", str(tmp_path / path.name)]
    # Sockets of other units are looked at too, and a socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="sw-", dir="/tmp") as runtime:
        variables = {"HOME": runtime, "XDG_RUNTIME_DIR": runtime, "PATH": "/usr/bin:/bin"}
        result = subprocess.run(verify, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


def test_systemd_notices_a_unit_that_is_wrong(tmp_path: Path) -> None:
    """So that the check above can fail."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    wrong = tmp_path / "wrong.service"
    wrong.write_text(f"[Service]\nExecStart={INSTALLED} maintenance daemon\nRestart=somtimes\n")
    variables = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    verify = ["systemd-analyze", "verify", "--user", "--man=no", str(wrong)]
    result = subprocess.run(verify, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert result.stderr


def test_units_call_commands_that_exist_and_the_daemon_always_comes_back() -> None:
    for path in UNITS:
        service = unit(path)
        if "Service" not in service:
            continue
        program, *words = shlex.split(service["Service"]["ExecStart"])
        assert program == PROGRAM
        assert options_of(words)
        # The daemon ends after its running job, and is given the time for it.
        assert service["Service"]["KillMode"] == "mixed"
        assert int(service["Service"]["TimeoutStopSec"]) >= 60
    assert unit(SYSTEMD / "slowwave-maintenance.service")["Service"]["Restart"] == "always"
    timer = unit(SYSTEMD / "slowwave-maintenance-tick.timer")["Timer"]
    assert timer["Persistent"] == "true", "what was slept through is made up for"


def test_the_plist_is_one_and_calls_what_exists() -> None:
    agent = plistlib.loads(PLIST.read_bytes())
    assert agent["Label"] == PLIST.stem
    program, *rest = agent["ProgramArguments"]
    words = [word for word in rest if not word.startswith("-") and not word.isdigit()]
    assert program == "@SLOWWAVE@"
    assert {word for word in rest if word.startswith("-")} <= options_of(words)
    assert agent["KeepAlive"] is agent["RunAtLoad"] is True
    assert set(agent["EnvironmentVariables"]) <= OTHER_VARIABLES


def test_every_place_that_must_be_filled_in_is_documented() -> None:
    marks = set(re.findall(r"@[A-Z]+@", PLIST.read_text(encoding="utf-8")))
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert marks == {"@SLOWWAVE@", "@HOME@"}
    assert {mark for mark in marks if mark not in page} == set()
    for path in (*UNITS, PLIST):
        assert path.name in page
