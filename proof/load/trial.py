"""One trial: play a plan against a deployment, watch it, and wait until everything is flushed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import psycopg

from proof.load import ledger
from proof.load.crowd import Crowd, Deal, by_session
from proof.load.deployment import Deployment, wait_until
from proof.load.figures import spread
from proof.load.lags import TOLD, Turn, conversations, turns_of
from proof.load.memory import roots
from proof.load.processes import Cores
from proof.load.traffic import Hook, session_name
from proof.load.watching import NOTHING, Seen, Watch, count_dirty

SHORT_WAITS: dict[str, object] = {
    "memory.auto_flush.idle_seconds": 10,
    "memory.auto_flush.max_dirty_age_seconds": 60,
}
"""A tenth or so of their defaults (120, 600): else no step of a minute would see them."""

_PLAYED_SECONDS = 30.0
"""How long producers may take beyond the plan's end."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one trial. turns: each completed turn; hooks: the seconds from the planned start of a call to its
    return, by kind;
    start: the time of second 0; settled: True if everything was flushed in the end.
    """

    turns: list[Turn]
    hooks: dict[str, list[float]]
    errors: int
    spooled: int
    seen: Seen
    cores: Cores
    start: float
    settled: bool
    settled_after: float
    flushes: int
    memories: int


def run(
    deployment: Deployment,
    hooks: Sequence[Hook],
    *,
    name: str,
    seconds: float,
    settle_seconds: float,
    deal: Deal = by_session,
    old: str = NOTHING,
    seed: int = 0,
) -> Trial:
    """Play `hooks`, which take `seconds`, as run `name`; wait at most `settle_seconds` until no session is dirty."""
    settings = deployment.settings
    crowd: Crowd | None = None
    watch = Watch(settings, lambda: roots(deployment, crowd), old=old)
    with watch, psycopg.connect(settings.database_url, autocommit=True) as connection:
        environment = deployment.environment
        crowd = Crowd(hooks, run=name, folder=deployment.folder.root, environment=environment, deal=deal, seed=seed)
        try:
            _sleep_until(crowd.start)
            watch.cores()
            _sleep_until(crowd.start + seconds)
            cores = watch.cores()
            crowd.wait(_PLAYED_SECONDS)
        finally:
            crowd.end()
        settled = True
        try:
            wait_until(lambda: count_dirty(connection) == 0, settle_seconds, "all is flushed", poll=0.25)
        except TimeoutError:
            settled = False
        after = time.time() - crowd.start - seconds
        return _put_together(connection, deployment, crowd, watch.seen, cores, settled=settled, after=after)


def _put_together(
    connection: "psycopg.Connection[Any]",
    deployment: Deployment,
    crowd: Crowd,
    seen: Seen,
    cores: Cores,
    *,
    settled: bool,
    after: float,
) -> Trial:
    lines = crowd.lines()
    names = {line["hook"][3]: session_name(crowd.run, line["hook"][3]) for line in lines}
    flushing = deployment.settings.memory.auto_flush
    recorded, windows = ledger.recorded(connection, crowd.run), ledger.windows(connection, crowd.run)
    talks = conversations(lines, recorded, windows, names)
    turns = turns_of(lines, talks, names, idle=flushing.idle_seconds, age=flushing.max_dirty_age_seconds)
    hooks: dict[str, list[float]] = {}
    for line in lines:
        hooks.setdefault(line["hook"][1], []).append(line["returned"] - line["scheduled"])
    flushes, memories = ledger.flushes_and_memories(connection, crowd.run)
    errors = sum("error" in line for line in lines)
    spooled = sum(line.get("stored") == "spool" for line in lines)
    return Trial(
        turns, hooks, errors, spooled, seen, cores, crowd.start, settled, after, flushes=flushes, memories=memories
    )


def summary(trial: Trial) -> dict[str, Any]:
    """Return the trial's figures as JSON."""
    flushed = [turn for turn in trial.turns if turn.from_due is not None]
    parts: dict[str, Any] = {
        "from_said": spread([turn.from_said for turn in flushed if turn.from_said is not None]),
        "from_due": spread([turn.from_due for turn in flushed if turn.from_due is not None]),
        "policy": spread([turn.policy for turn in flushed if turn.policy is not None]),
        "queue": spread([turn.queue for turn in flushed if turn.queue is not None]),
        "work": spread([turn.work for turn in flushed if turn.work is not None]),
        "late": spread([turn.late for turn in trial.turns]),
        "hook_turn": spread(trial.hooks.get("turn", [])),
        "hook_prompt": spread(trial.hooks.get("prompt", [])),
    }
    asked: dict[str, Any] = {}
    for why in sorted({turn.asked for turn in flushed}):
        lags = [turn.from_due for turn in flushed if turn.asked == why and turn.from_due is not None]
        asked[why] = {"turns": len(lags)} | spread(lags)
    told = [turn.from_due for turn in flushed if turn.asked in TOLD and turn.from_due is not None]
    return {
        "turns": len(trial.turns),
        "left": len(trial.turns) - len(flushed),
        "errors": trial.errors,
        "spooled": trial.spooled,
        "flushes": trial.flushes,
        "memories": trial.memories,
        "settled": trial.settled,
        "settled_after": trial.settled_after,
        "parts": parts,
        "told": spread(told),
        "asked": asked,
        "cores": asdict(trial.cores),
        "waits": dict(trial.seen.waits.most_common(6)),
    }


def backlog(trial: Trial, seconds: float) -> list[tuple[float, float]]:
    """Return (second, due and unflushed sessions) while the plan was played."""
    return trial.seen.series(trial.start, trial.start + seconds)


def lags_of(turns: Sequence[Turn], agents: Mapping[int, bool], *, told: bool) -> list[float]:
    """Return the seconds from due to memory for turns of some agents (a function of the number). told: only turns that
    were requested, not found by a sweep.
    """
    return [
        turn.from_due
        for turn in turns
        if turn.from_due is not None and agents.get(turn.agent, False) and (not told or turn.asked in TOLD)
    ]


def _sleep_until(moment: float) -> None:
    wait = moment - time.time()
    if wait > 0:
        time.sleep(wait)
