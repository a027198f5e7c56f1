"""The deployment agrees with the code: queues, paths, variables, stop times; and Docker's own tools accept it."""

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from slowwave.coordination.keys import HIGH_QUEUE, QUEUES
from slowwave.settings import PREFIX, known_keys, variable_of
from slowwave_server.services.access.broker_users import Part, broker_user
from slowwave_server.workers.celery_settings import SOFT_SHUTDOWN_SECONDS
from slowwave_server.workers.liveness import LOOK_SECONDS, PATIENCE_SECONDS
from slowwave_server.workers.stack.programs import FLOWER_TASKS, default_workers
from tests.support.compose import (
    BESIDES,
    PASSWORDS,
    ROOT,
    SIZES,
    queues_of,
    resolved,
    run_config,
    services,
    tool,
    workers,
)

DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
MEBIBYTE = 2**20
OURS = ("beat", "console", "exporter", "flower", "gateway", "migrate", "worker-")


@pytest.fixture(scope="module", params=SIZES)
def deployed(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """The services of compose.yaml, of each size."""
    return services(request.param)


def _seconds(duration: str) -> float:
    found = re.findall(r"(\d+)(h|m|s)", duration)
    return float(sum(int(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in found))


def test_compose_refuses_to_start_without_a_password_and_says_which_to_set() -> None:
    for missing in PASSWORDS:
        given = {name: value for name, value in PASSWORDS.items() if name != missing}
        result = run_config({**given, "COMPOSE_PROFILES": "small"}, "--quiet")
        assert result.returncode != 0
        assert f"set {missing} in .env" in result.stderr


def test_compose_refuses_to_start_without_a_size_since_no_worker_would_be_left_for_some_queues() -> None:
    result = run_config(PASSWORDS, "--quiet")
    assert result.returncode != 0
    assert "set COMPOSE_PROFILES in .env to small or scaled-out" in result.stderr


def test_every_profile_is_documented_and_each_size_has_all_that_belongs_to_every_size() -> None:
    file = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    profiles = {profile for service in file["services"].values() for profile in service.get("profiles", [])}
    assert profiles == {*SIZES, *BESIDES.split(",")}
    for page in ("docs/deploy.md", "deploy/env.example"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert {profile for profile in profiles if profile not in text} == set(), page
    assert sum("worker" in name for name in services("small")) < sum("worker" in name for name in services())
    everywhere = {name for name, service in file["services"].items() if "profiles" not in service}
    for size in SIZES:
        assert everywhere < services(size).keys()


def test_the_example_environment_lists_every_variable_and_holds_no_secret() -> None:
    example = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", example, re.MULTILINE))
    used = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", (ROOT / "compose.yaml").read_text(encoding="utf-8")))
    assert set(listed) == used
    assert {name for name, value in listed.items() if not value} == set(PASSWORDS)


def test_files_with_passwords_are_never_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".env", "slowwave.env"} <= set(ignored)


def test_no_password_stands_in_the_file() -> None:
    taken = r"\$\{[A-Z_]+:\?set [A-Z_]+ in \.env\}"
    for name, value in _leaves(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))):
        if name == "content" and "scrape_configs" in value:
            assert "password" not in value
        elif name == "content":
            assert all(re.search(rf" >{taken}( |$)", line) for line in value.splitlines())
        elif re.search(r"PASSWORD|AUTH|://", f"{name} {value}"):
            assert re.search(taken, value) or "://127.0.0.1" in value or "$$WORKER_PASSWORD" in value, (name, value)


def _leaves(node: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(node, dict):
        return [leaf for key, value in node.items() for leaf in _leaves(value, str(key))]
    if isinstance(node, list):
        return [leaf for value in node for leaf in _leaves(value, name)]
    return [(name, str(node))]


def test_users_of_the_broker_may_what_their_part_may_and_no_more() -> None:
    default, *others = resolved()["configs"]["users"]["content"].splitlines()
    assert default == f"user default on >{PASSWORDS['REDIS_PASSWORD']} ~* &* +@all"
    parts: dict[Part, str | None] = {"worker": None, "producer": "default"}
    parts |= {"gateway": None, "flower": None, "exporter": None}
    assert others == [
        f"user {part} {broker_user(part, part, tenant).rules} on >{PASSWORDS[f'REDIS_{part.upper()}_PASSWORD']}"
        for part, tenant in parts.items()
    ]


def test_each_service_logs_in_as_what_it_is(deployed: dict[str, Any]) -> None:
    wanted = {
        "migrate": ("slowwave", None),
        "flower": (None, "flower"),
        "console": ("console", "worker"),
        "exporter": ("exporter", "exporter"),
        "gateway": ("gateway", "gateway"),
    }
    for name, service in deployed.items():
        if name.startswith(OURS):
            given = service["environment"]
            urls = (given.get("SLOWWAVE_DATABASE_URL"), given.get("SLOWWAVE_BROKER_URL"))
            found = tuple(url and urlsplit(url).username for url in urls)
            assert found == wanted.get(name, ("worker", "worker")), name


def test_mistake_33_every_queue_has_a_consumer_and_every_consumer_a_queue(deployed: dict[str, Any]) -> None:
    for consumers in (
        [queues_of(command) for command in workers(deployed).values()],
        [worker.queues for worker in default_workers(2)],
    ):
        assert {queue for queues in consumers for queue in queues} == set(QUEUES)
        for queues in consumers:
            assert [queue for queue in QUEUES if queue in queues] == list(queues), "taken from in their order"
        assert (HIGH_QUEUE,) in consumers, "urgent flushes have a worker that nothing else can occupy"


def test_workers_have_names_of_their_own_and_are_asked_for_the_sign_that_they_give(deployed: dict[str, Any]) -> None:
    nodes = [command[command.index("-n") + 1] for command in workers(deployed).values()]
    assert len(set(nodes)) == len(nodes)
    assert all(node.endswith("@%h") for node in nodes), "copies of a service differ by their host's name"
    for name in (*workers(deployed), "beat"):
        file = deployed[name]["environment"]["SLOWWAVE_LIVENESS_FILE"]
        (asked, seconds) = re.findall(
            r"^find (\S+) -newermt '-(\d+) seconds' \| grep -q \.$", deployed[name]["healthcheck"]["test"][1]
        )[0]
        assert asked == file
        assert str(Path(file).parent) in {entry.partition(":")[0] for entry in deployed[name]["tmpfs"]}
        # A worker is silent while it connects again: for as long as Celery waits between two tries, at most.
        assert int(seconds) > PATIENCE_SECONDS + LOOK_SECONDS + 30


def test_no_service_has_a_right_or_writes_beside_its_volumes(deployed: dict[str, Any]) -> None:
    for name, service in deployed.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service
        assert "cap_add" not in service


def test_images_that_start_as_root_are_given_their_own_user(deployed: dict[str, Any]) -> None:
    """Without capabilities root could not become that user. Our image and Prometheus' have a user of their own."""
    assert {name: service["user"] for name, service in deployed.items() if "user" in service} == {
        "postgres": "postgres",
        "redis": "redis",
    }


def test_every_service_has_a_limit_of_memory_and_processes(deployed: dict[str, Any]) -> None:
    for name, service in deployed.items():
        assert 100 * MEBIBYTE < int(service["mem_limit"]) <= 2048 * MEBIBYTE, name
        assert 128 <= service["pids_limit"] <= 512, name


def test_compose_and_kubernetes_give_a_part_the_same_memory() -> None:
    parts = {**services("scaled-out"), **services("small")}
    compared = set()
    for file in (ROOT / "deploy" / "kubernetes").glob("*/*.yaml"):
        for found in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if found.get("kind") in {"Deployment", "StatefulSet", "Job"}:
                name = found["metadata"]["name"].replace("worker-high", "worker-flush-high")
                (container,) = found["spec"]["template"]["spec"]["containers"]
                limit = int(container["resources"]["limits"]["memory"].removesuffix("Mi")) * MEBIBYTE
                assert int(parts[name]["mem_limit"]) == limit, name
                compared.add(name)
    # Compose's profile `small` has in worker-rest what worker-upkeep does in the other.
    assert compared == {name for name in parts if name.startswith(OURS)} - {"worker-upkeep"}
    assert parts["worker-upkeep"]["mem_limit"] == parts["worker-rest"]["mem_limit"]


def test_the_broker_refuses_before_its_container_is_full(deployed: dict[str, Any]) -> None:
    redis = deployed["redis"]
    options = dict(zip(redis["command"][1::2], redis["command"][2::2], strict=True))
    assert options["--maxmemory-policy"] == "noeviction"
    largest = int(options["--maxmemory"].removesuffix("mb")) * MEBIBYTE
    # A rewrite of its file may hold a copy of all that it has.
    assert int(redis["mem_limit"]) >= 2 * largest + 128 * MEBIBYTE


def test_workers_are_given_longer_than_their_soft_shutdown(deployed: dict[str, Any]) -> None:
    for name in workers(deployed):
        assert _seconds(deployed[name]["stop_grace_period"]) >= 2 * SOFT_SHUTDOWN_SECONDS
        assert deployed[name]["stop_signal"] == "SIGTERM"
        assert deployed[name]["environment"]["REMAP_SIGTERM"] == "SIGQUIT"
        assert "-E" in deployed[name]["command"], "Flower sees tasks through events"


def test_everything_restarts_is_asked_for_its_health_and_waits_for_the_schema(deployed: dict[str, Any]) -> None:
    for name, service in deployed.items():
        if name == "migrate":
            assert service["restart"] == "on-failure:3"
            continue
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"]
        if name.startswith(OURS):
            conditions = {needed: how["condition"] for needed, how in service["depends_on"].items()}
            assert conditions["migrate"] == "service_completed_successfully"
            assert conditions["postgres"] == conditions["redis"] == "service_healthy"


def test_only_the_loopback_address_listens(deployed: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in deployed.items() if "ports" in service}
    assert set(published) == {"postgres", "redis", "flower", "console", "gateway", "prometheus"}
    assert {port["host_ip"] for ports in published.values() for port in ports} == {"127.0.0.1"}


def test_every_variable_of_ours_is_a_known_setting(deployed: dict[str, Any]) -> None:
    known = {variable_of(key) for key in known_keys()}
    given = {name for service in deployed.values() for name in service.get("environment") or {}}
    given |= set(re.findall(rf"\b({PREFIX}[A-Z_]+)=", DOCKERFILE))
    ours = {name for name in given if name.startswith(PREFIX)}
    assert {"SLOWWAVE_DATABASE_URL", "SLOWWAVE_BROKER_URL", "SLOWWAVE_SPOOL"} <= ours <= known


def test_every_path_that_is_named_exists(deployed: dict[str, Any]) -> None:
    for service in deployed.values():
        if "build" in service:
            assert (ROOT / service["build"]["dockerfile"]).is_file()
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    paths = {path for line in copied for path in line.split()}
    ignored = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text(encoding="utf-8")
    assert paths == set(re.findall(r"^!(.+)$", ignored, re.MULTILINE)), "the builder is given what it copies"
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_the_image_holds_every_package_of_the_service() -> None:
    copied = " ".join(re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)).split()
    beside = {"tests", "bench", "proof", "examples", "docs_reference"}
    packages = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} - beside
    assert packages <= set(copied)


def test_image_holds_extras_of_models_and_tracing() -> None:
    (extras,) = re.findall(r"^ARG EXTRAS=(.+)$", DOCKERFILE, re.MULTILINE)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {"models", "tracing"} <= set(extras.split(",")) <= set(known)


def test_the_dockerfile_passes_its_linter() -> None:
    result = subprocess.run(
        [tool("hadolint"), ROOT / "deploy" / "Dockerfile"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (result.returncode, result.stdout) == (0, "")


def test_the_image_is_small_unprivileged_and_asked_for_its_health() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    assert all(re.match(r"python:3\.11-slim-\w+(@sha256:\w{64})?( AS build)?\n", stage) for stage in stages)
    final = stages[-1]
    assert re.findall(r"^USER (.+)$", final, re.MULTILINE) == ["10001"]
    assert "HEALTHCHECK" in final
    for heavy in ("apt-get", "gcc", "build-essential", "pip ", "COPY .", "ADD "):
        assert heavy not in final, heavy


def test_every_file_of_a_package_is_installed_with_it() -> None:
    """The image installs packages: a page's template or a script of SQL that no pattern names would be left behind."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    (patterns,) = project["package-data"].values()
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    packages = {path.resolve().name for path in (ROOT / "slowwave_server").iterdir() if path.is_symlink()}
    data = [path for path in map(Path, listed) if path.parts[0] in packages and path.suffix != ".py"]
    assert len(data) > 50
    assert [str(path) for path in data if not any(fnmatch(path.name, pattern) for pattern in patterns)] == []


def test_prometheus_scrapes_the_exporter_as_the_file_for_hosts_does() -> None:
    whole = resolved()
    here = yaml.safe_load(whole["configs"]["prometheus"]["content"])
    file = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    (job,) = here["scrape_configs"]
    assert job.pop("static_configs") == [{"targets": ["exporter:9187"]}]
    assert file["scrape_configs"][0].pop("static_configs")
    assert here == file
    command = whole["services"]["exporter"]["command"]
    assert command[command.index("--listen") + 1].endswith(":9187")
    mounted = {volume["target"]: Path(volume["source"]) for volume in whole["services"]["prometheus"]["volumes"]}
    assert mounted[Path("/etc/prometheus", here["rule_files"][0]).as_posix()].is_file()


@pytest.mark.parametrize(
    "file",
    ["compose.yaml", "deploy/kubernetes/base/flower.yaml", "deploy/systemd/system/slowwave-flower.service"],
)
def test_flower_remembers_as_many_tasks_everywhere(file: str) -> None:
    words = re.findall(r"--max-tasks=(\d+)", (ROOT / file).read_text(encoding="utf-8"))
    assert words == [str(FLOWER_TASKS)]
