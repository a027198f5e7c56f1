"""Part "recovery": workers return to the backlog of an hour, while agents keep talking.

The product's own capture records the hour, many turns per statement and each statement at its own time in the last
hour. So the database equals that after an hour without workers: same due times, same order. (Prompts are omitted,
because they leave no trace without flushes.) One agent has twenty times the sessions of each other agent.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from proof.load import ledger
from proof.load.deployment import Deployment
from proof.load.figures import evenness, spread
from proof.load.lags import TOLD, Window
from proof.load.traffic import Hook, Shape, messages, plan, session_name
from proof.load.trial import SHORT_WAITS, Trial, run, summary
from slowwave.messages import turn_events

AGENTS = 200
BUSY = 0
BUSY_TIMES = 20.0
HOUR = "hour"
NEW = "new"
_BATCH = 400
_WRITERS = 2
_CAPTURE = "SELECT count(*) FROM slowwave.capture_batch('default', %s::jsonb, %s, %s, %s, %s, %s, %s)"
_AGENTS = (
    "SELECT s.name, a.name FROM slowwave.sessions s JOIN slowwave.agents a ON a.id = s.agent_id WHERE s.name LIKE %s"
)


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes. The seconds of traffic in the backlog, of new traffic during the recovery, and the time limit to
    settle.
    """

    hour: float = 3600.0
    fresh: float = 60.0
    settle: float = 240.0


def measure(
    size: Size, *, load: float, changed: dict[str, object], seed: int, save: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Record the backlog at `load` turns per second, then start workers and as much new traffic. Return the results of
    both.
    """
    changed = SHORT_WAITS | changed
    result: dict[str, Any] = {"load": load, "hour": size.hour, "agents": AGENTS, "changed": changed}
    shares = [BUSY_TIMES if agent == BUSY else 1.0 for agent in range(AGENTS)]
    old = [hook for hook in plan(Shape(), load=load, seconds=size.hour, weights=shares, seed=seed) if _leaves(hook)]
    fresh = plan(Shape(), load=load, seconds=size.fresh, weights=[1.0] * AGENTS, seed=seed + 1)
    with Deployment(changed) as deployment:
        began = time.monotonic()
        result["recorded"] = _record(deployment, old, size.hour)
        result["recording_seconds"] = time.monotonic() - began
        print(f"recorded {result['recorded']} turns in {result['recording_seconds']:.0f} s", flush=True)
        save(result)
        workers = threading.Thread(target=deployment.start_workers, name="workers")
        started = time.time()
        workers.start()
        trial = run(
            deployment,
            fresh,
            name=NEW,
            seconds=size.fresh,
            settle_seconds=size.settle,
            old=f"{HOUR}-",
            seed=seed,
        )
        workers.join(120)
        with psycopg.connect(deployment.settings.database_url, autocommit=True) as connection:
            windows = ledger.windows(connection, HOUR)
            agents: dict[str, str] = dict(connection.execute(_AGENTS, (f"{HOUR}-%",)).fetchall())
        result |= _figures(trial, windows, agents, started) | {"died": deployment.died}
    save(result)
    return result


def _leaves(hook: Hook) -> bool:
    return hook.kind != "prompt"


def _record(deployment: Deployment, hooks: Sequence[Hook], hour: float) -> int:
    """Capture all turns, as if over the last `hour` seconds. Return the number of turns."""
    memory = deployment.settings.memory
    rules = (
        memory.auto_flush.idle_seconds,
        memory.auto_flush.max_dirty_age_seconds,
        memory.auto_flush.turn_threshold,
        memory.days.timezone,
        memory.days.cutoff_hour,
    )
    start = datetime.now(UTC) - timedelta(seconds=hour)

    def capture(part: int) -> None:
        with psycopg.connect(deployment.settings.database_url, autocommit=True) as connection:
            for batch in batches([hook for hook in hooks if hook.session % _WRITERS == part]):
                items = json.dumps([_item(hook) for hook in batch])
                connection.execute(_CAPTURE, (items, *rules, start + timedelta(seconds=batch[-1].at)))

    with ThreadPoolExecutor(_WRITERS) as pool:
        list(pool.map(capture, range(_WRITERS)))
    with psycopg.connect(deployment.settings.database_url, autocommit=True) as connection:
        # Do what autovacuum does within an hour.
        connection.execute("ANALYZE slowwave.sessions, slowwave.events, slowwave.session_days")
    return sum(hook.kind == "turn" for hook in hooks)


def batches(hooks: Sequence[Hook]) -> Iterator[list[Hook]]:
    """Divide hooks into lists that contain each session once, with at most some hundred hooks each."""
    batch: list[Hook] = []
    there: set[int] = set()
    for hook in hooks:
        if hook.session in there or len(batch) == _BATCH:
            yield batch
            batch, there = [], set()
        batch.append(hook)
        there.add(hook.session)
    if batch:
        yield batch


def _item(hook: Hook) -> dict[str, Any]:
    session = session_name(HOUR, hook.session)
    item: dict[str, Any] = {"agent": f"agent-{hook.agent}", "session": session, "about": None, "trigger": None}
    if hook.kind == "turn":
        return item | {"events": turn_events(messages(hook), f"{session}/{hook.turn}")[0]}
    return item | {"trigger": hook.kind, "events": []}


def _figures(trial: Trial, windows: dict[str, list[Window]], agents: dict[str, str], started: float) -> dict[str, Any]:
    looks = trial.seen.looks
    drained = max((w.committed for of in windows.values() for w in of), default=None) if trial.settled else None
    result = summary(trial)
    meanwhile = [t for t in trial.turns if t.from_due is not None and (drained is None or t.said < drained)]
    told = [t.from_due for t in meanwhile if t.asked in TOLD and t.from_due is not None]
    prompted = [t.from_due for t in meanwhile if t.asked == "prompt" and t.from_due is not None]
    quiet = [t.from_due for t in meanwhile if t.asked in {"quiet", "age"} and t.from_due is not None]
    return {
        "drained_after": None if drained is None else drained - started,
        "windows": sum(map(len, windows.values())),
        "sessions": len(agents),
        "new": result,
        "meanwhile": {
            "a prompt in another session of the agent": {"turns": len(prompted)} | spread(prompted),
            "a hook: this prompt, enough turns, or the session's end": {"turns": len(told)} | spread(told),
            "a sweep": {"turns": len(quiet)} | spread(quiet),
        },
        "order": order(windows, agents, started),
        "series": [(round(look.at - started, 1), look.old, look.due, look.queued) for look in looks],
    }


def order(windows: dict[str, list[Window]], agents: dict[str, str], started: float) -> dict[str, Any]:
    """Return the fairness of a recovery: the evenness of the agents with equal shares at half of the backlog, and the
    times at which they and the busy agent were done.
    """
    commits = sorted((w.committed, agents[session]) for session, of in windows.items() for w in of)
    busy = f"agent-{BUSY}"
    others = [(at, agent) for at, agent in commits if agent != busy]
    totals: dict[str, int] = {}
    for _, agent in others:
        totals[agent] = totals.get(agent, 0) + 1
    half: dict[str, int] = dict.fromkeys(totals, 0)
    for _, agent in others[: len(others) // 2]:
        half[agent] += 1
    return {
        "evenness_at_half": evenness([half[agent] / total for agent, total in totals.items()]),
        "others_done_after": others[-1][0] - started if others else None,
        "busy_done_after": max((at for at, agent in commits if agent == busy), default=started) - started,
        "busy_windows": len(commits) - len(others),
    }
