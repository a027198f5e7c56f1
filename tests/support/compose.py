"""compose.yaml as Docker's own parser resolves it: no engine is needed for that."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PASSWORDS = {
    "POSTGRES_PASSWORD": "postgrespassword",
    "POSTGRES_WORKER_PASSWORD": "postgresworker",
    "POSTGRES_CONSOLE_PASSWORD": "postgresconsole",
    "POSTGRES_GATEWAY_PASSWORD": "postgresgateway",
    "POSTGRES_EXPORTER_PASSWORD": "postgresexporter",
    "REDIS_PASSWORD": "redispassword",
    "REDIS_WORKER_PASSWORD": "redisworker",
    "REDIS_PRODUCER_PASSWORD": "redisproducer",
    "REDIS_GATEWAY_PASSWORD": "redisgateway",
    "REDIS_FLOWER_PASSWORD": "redisflower",
    "REDIS_EXPORTER_PASSWORD": "redisexporter",
    "FLOWER_PASSWORD": "flowerpass",
}
SIZES = ("small", "scaled-out")
BESIDES = "console,gateway,prometheus"


def tool(name: str) -> str:
    """The path of a program that was installed with the development tools."""
    path = Path(sys.executable).with_name(name)
    assert path.exists(), f"{path} is missing: make setup"
    return str(path)


def run_config(variables: Mapping[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """`docker-compose config` with these variables and no .env file. Of profiles those that COMPOSE_PROFILES names."""
    return subprocess.run(
        [tool("docker-compose"), "--env-file", "/dev/null", "-f", ROOT / "compose.yaml", "config", *options],
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@cache
def resolved(profiles: str = f"scaled-out,{BESIDES}") -> dict[str, Any]:
    """The whole file for these profiles, everything interpolated; `$$` is undone as the engine would."""
    result = run_config({**PASSWORDS, "COMPOSE_PROFILES": profiles}, "--format", "json")
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout.replace("$$", "$"))
    return found


def services(size: str = SIZES[-1]) -> dict[str, dict[str, Any]]:
    """The services of a size by name, with all that can run besides."""
    found: dict[str, dict[str, Any]] = resolved(f"{size},{BESIDES}")["services"]
    return found


def workers(of: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The commands of the Celery workers among these services."""
    commands = {name: service.get("command") or [] for name, service in of.items()}
    return {name: words for name, words in commands.items() if "worker" in words}


def queues_of(command: list[str]) -> tuple[str, ...]:
    """The queues that a worker's command takes from, in their order."""
    return tuple(command[command.index("-Q") + 1].split(","))
