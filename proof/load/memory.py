"""Part "memory": the same load for half an hour, with the memory of every process."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import redis

from proof.load.crowd import Crowd
from proof.load.deployment import Deployment
from proof.load.figures import FLAT_MB_PER_10_MINUTES, rise_in_10_minutes
from proof.load.processes import footprint, members
from proof.load.traffic import Shape, plan

AGENTS = 200
EVERY_SECONDS = 10.0
_CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
_WHOLE_SHARE = 0.9
"""A process is judged if it lived for so much of the time."""


def roots(deployment: Deployment, crowd: Crowd | None) -> Mapping[str, list[int]]:
    """Return the process ids of the first process of each group."""
    heads = {name: [child.pid] for name, child in deployment.children.items() if child.pid is not None}
    return heads | ({"producers": crowd.pids} if crowd is not None else {})


def measure(*, load: float, minutes: float, seed: int) -> dict[str, Any]:
    """Run `load` turns per second for `minutes`, at default settings and with Flower. Return the memory of all
    processes over time.
    """
    hooks = plan(Shape(), load=load, seconds=minutes * 60, weights=[1.0] * AGENTS, seed=seed)
    with Deployment({}) as deployment:
        deployment.start_workers(flower=True)
        crowd = Crowd(hooks, run="memory", folder=deployment.folder.root, environment=deployment.environment)
        try:
            samples = _sample(deployment, crowd, minutes * 60)
        finally:
            crowd.wait(30)
            crowd.end()
        lines = crowd.lines()
        result = _judged(samples) | {"died": deployment.died}
    turns = sum(line["hook"][1] == "turn" and "error" not in line for line in lines)
    return result | {
        "load": load,
        "minutes": minutes,
        "agents": AGENTS,
        "turns": turns,
        "errors": sum("error" in line for line in lines),
        "bound": FLAT_MB_PER_10_MINUTES,
    }


def _sample(deployment: Deployment, crowd: Crowd, seconds: float) -> list[dict[str, Any]]:
    samples: list[dict[str, Any]] = []
    rest = threading.Event()
    settings = deployment.settings
    end = crowd.start + seconds
    with (
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        redis.Redis.from_url(settings.broker_url, socket_timeout=5) as client,
    ):
        while time.time() < end:
            rest.wait(max(0.0, min(EVERY_SECONDS, end - time.time())))
            samples.append({"at": time.time() - crowd.start} | _look(deployment, crowd, connection, client))
    return samples


def _look(
    deployment: Deployment, crowd: Crowd, connection: "psycopg.Connection[Any]", client: "redis.Redis"
) -> dict[str, Any]:
    found: dict[str, dict[str, float]] = {}
    for group, role, process in members(roots(deployment, crowd)):
        if (held := footprint(process)) is not None:
            found[f"{group}/{role}/{process.pid}"] = held
    row = connection.execute(_CONNECTIONS).fetchone()
    info: Any = client.info("memory")
    return {
        "processes": found,
        "connections": 0 if row is None else int(row[0]),
        "files": sum(held["files"] for held in found.values()),
        "valkey_mb": info["used_memory"] / 1024 / 1024,
        "keys": int(client.dbsize()),
    }


def _judged(samples: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the series by process and of the rest, each with its rise."""
    by_process: dict[str, list[dict[str, float]]] = {}
    for sample in samples:
        for name, held in sample["processes"].items():
            by_process.setdefault(name, []).append({"at": sample["at"]} | held)
    processes = []
    for name, series in by_process.items():
        rises = {what: _rise(series, what) for what in ("rss", "pss", "own", "files")}
        whole = len(series) >= _WHOLE_SHARE * len(samples)
        processes.append(
            {
                "name": name,
                "whole": whole,
                "rise": rises,
                "first": series[0],
                "last": series[-1],
                "flat": rises["own"] <= FLAT_MB_PER_10_MINUTES if whole else None,
                "series": [(round(point["at"], 1), round(point["own"], 3)) for point in series],
            }
        )
    others = {what: _rise(samples, what) for what in ("connections", "files", "valkey_mb", "keys")}
    kept = [{"at": round(s["at"], 1)} | {what: round(s[what], 3) for what in others} for s in samples]
    return {"processes": processes, "others": {"rise": others, "series": kept}}


def _rise(series: list[dict[str, Any]], what: str) -> float:
    return rise_in_10_minutes([(float(point["at"]), float(point[what])) for point in series])
