"""Units for hosts without containers: systemd accepts them, they are closed, and they call what exists."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave.coordination.keys import HIGH_QUEUE, QUEUES
from slowwave.settings import PREFIX, Settings, known_keys, variable_of
from slowwave_server.workers.celery_settings import celery_settings
from slowwave_server.workers.liveness import LOOK_SECONDS, PATIENCE_SECONDS
from tests.contracts.test_deploy_laptop import options_of
from tests.support.compose import queues_of
from tests.support.documents import ROOT

SYSTEM = ROOT / "deploy" / "systemd" / "system"
SERVICES = sorted(SYSTEM.glob("*.service"))
COMMON = SYSTEM / "slowwave-.service.d" / "10-all-parts.conf"
PROGRAMS = "/opt/slowwave/bin/"
HERE = f"{Path(sys.executable).parent}/"
PAGE = ROOT / "docs" / "deploy.md"

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")


def values(path: Path, key: str) -> list[str]:
    """What a unit says for a key, in its order."""
    return re.findall(rf"^{key}=(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def calls(path: Path) -> list[list[str]]:
    """The commands of a unit, as words, with systemd's own escapes undone."""
    return [shlex.split(line.replace("%%", "%")) for line in values(path, "ExecStart")]


def workers() -> dict[Path, list[str]]:
    return {path: words for path in SERVICES for words in calls(path) if "worker" in words}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All units with the programs that are installed here; of a template one instance."""
    folder = tmp_path_factory.mktemp("units")
    (folder / COMMON.parent.name).mkdir()
    shutil.copy(COMMON, folder / COMMON.parent.name)
    for path in [*SERVICES, SYSTEM / "slowwave.target"]:
        text = path.read_text(encoding="utf-8").replace(PROGRAMS, HERE)
        (folder / path.name.replace("@.", "@1.")).write_text(text, encoding="utf-8")
    return folder


def _analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PATH": "/usr/bin:/bin"},
    )


@needs_systemd
def test_systemd_accepts_the_units_and_notices_one_that_is_wrong(here: Path) -> None:
    units = [str(path) for path in sorted(here.glob("*.*")) if path.is_file()]
    result = _analyze("verify", "--man=no", *units)
    assert (result.returncode, result.stderr) == (0, "")
    wrong = here / "slowwave-wrong.service"
    wrong.write_text(f"[Service]\nExecStart={HERE}slowwave status\nRestart=somtimes\n")
    assert "somtimes" in _analyze("verify", "--man=no", str(wrong)).stderr
    wrong.unlink()


@needs_systemd
def test_every_part_is_as_closed_as_systemd_can_see(here: Path) -> None:
    for path in here.glob("*.service"):
        # Points of ten; a unit without any of it has 9.6.
        found = re.search(r"exposure level for \S+: ([\d.]+)", _analyze("security", "--offline=yes", str(path)).stdout)
        assert found is not None
        assert float(found[1]) <= 1.5, path.name


def test_mistake_33_every_queue_has_a_consumer_and_every_consumer_a_queue() -> None:
    consumers = {path.name: queues_of(words) for path, words in workers().items()}
    assert {queue for queues in consumers.values() for queue in queues} == set(QUEUES)
    for queues in consumers.values():
        assert [queue for queue in QUEUES if queue in queues] == list(queues), "taken from in their order"
    assert (HIGH_QUEUE,) in consumers.values(), "urgent flushes have a worker that nothing else can occupy"
    nodes = [words[words.index("-n") + 1] for words in workers().values()]
    assert len(set(nodes)) == len(nodes)
    assert all(node.endswith("@%h") for node in nodes)


def test_what_gives_signs_of_life_is_watched_and_restarted() -> None:
    """Workers and beat tell systemd that they live (workers/liveness.py); the others end when they can't go on."""
    for path in SERVICES:
        if path.name == "slowwave-migrate.service":
            assert values(path, "Type") == ["oneshot"]
            continue
        assert values(path, "Restart") == ["always"]
        assert values(path, "WantedBy") == ["slowwave.target"]
        watched = "-A slowwave_server worker" in path.read_text(encoding="utf-8") or "beat" in path.name
        assert values(path, "Type") == ["notify" if watched else "exec"]
        if watched:
            (seconds,) = values(path, "WatchdogSec")
            assert int(seconds) > PATIENCE_SECONDS + LOOK_SECONDS + 30


def test_workers_are_given_longer_than_their_longest_flush() -> None:
    for path in workers():
        assert int(values(path, "TimeoutStopSec")[0]) > celery_settings(Settings())["task_time_limit"]
        assert values(path, "KillMode") == ["mixed"], "only the parent is told"
        assert "REMAP_SIGTERM=SIGQUIT" in values(path, "Environment")


def test_units_call_commands_that_exist() -> None:
    for path in SERVICES:
        for program, *words in calls(path):
            assert program in {f"{PROGRAMS}slowwave", f"{PROGRAMS}celery"}
            if program.endswith("celery"):
                assert words[:2] == ["-A", "slowwave_server"]
                assert words[2] in {"worker", "beat", "flower"}
            else:
                command = [word for word in words if not word.startswith("--") and ":" not in word and "." not in word]
                assert {word for word in words if word.startswith("--")} <= options_of(command)


def test_variables_are_known_settings_and_secrets_stand_in_files_that_are_documented() -> None:
    known = {variable_of(key) for key in known_keys()}
    page = PAGE.read_text(encoding="utf-8")
    for path in [*SERVICES, COMMON]:
        for line in values(path, "Environment"):
            names = {word.partition("=")[0] for word in line.split()}
            assert {name for name in names if name.startswith(PREFIX)} <= known
        for file in values(path, "EnvironmentFile"):
            assert file.removeprefix("-") in page
    for path in SERVICES:
        assert path.name.replace("@.service", "@").removesuffix(".service") in page, path.name
    owners = [path.name for path in SERVICES if "/etc/slowwave/owner.env" in values(path, "EnvironmentFile")]
    assert owners == ["slowwave-migrate.service"]
