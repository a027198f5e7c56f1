"""One run: start a world with agents that talk, inject the faults of a plan, wait for quiet, and check every
guarantee.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text

from proof.chaos.checks import Finding, check_all
from proof.chaos.checks_progress import explained_overlaps
from proof.chaos.evidence import Evidence
from proof.chaos.faults import MAKE
from proof.chaos.journal import events_of, read
from proof.chaos.places import Places, put
from proof.chaos.plan import Fault, Lane, Plan
from proof.chaos.progress import Progress, Resumed, add_hooks
from proof.chaos.quiet import NotQuiet, until_quiet
from proof.chaos.record import Ledger, keep_evidence
from proof.chaos.world import World

LANES: tuple[Lane, ...] = ("valkey", "postgres", "processes", "around")
WARM_SECONDS = 5.0
_FLUSHES = "SELECT count(*) FROM slowwave.flushes"
_POLL_SECONDS = 1.0

Say = Callable[[str], None]


@dataclass(slots=True)
class Outcome:
    """The result of a run. events: the number of recorded events, including forgotten ones; overlaps: the number of
    simultaneous flushes that a fault explains; quiet_seconds: None if work was left; seconds: from start to end.
    """

    plan: Plan
    resumed: list[Resumed]
    events: int = 0
    flushes: int = 0
    overlaps: int = 0
    quiet_seconds: float | None = None
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def run_plan(world: World, plan: Plan, say: Say, *, talk_seconds: float, quiet_seconds: float) -> Outcome:
    """Carry out a plan in a world that has been entered.

    talk_seconds: the time after the last fault in which agents may continue until enough events are recorded;
    quiet_seconds: the time after it within which all work must be done.
    """
    began = time.monotonic()
    progress, ledger = Progress(world.engine), Ledger(world.places)
    world.start_talkers()
    time.sleep(WARM_SECONDS)
    outcome = Outcome(plan, _make_all(world, plan, progress, ledger, say))
    outcome.events = _until_enough(world, talk_seconds)
    world.places.stop.touch()
    say(f"    {outcome.events} events; agents stop talking")
    outcome.findings = _look(world, outcome, quiet_seconds, say)
    progress.close()
    add_hooks(outcome.resumed, world.places)
    ledger.rewrite(outcome.resumed)
    outcome.seconds = time.monotonic() - began
    if outcome.findings:
        keep_evidence(world)
    return outcome


def _make_all(world: World, plan: Plan, progress: Progress, ledger: "Ledger", say: Say) -> list[Resumed]:
    """Make all faults, each lane in its own thread. Raises the error of a fault that could not be made."""
    began, made, failures = time.monotonic(), [], list[Exception]()

    def follow(lane: Lane) -> None:
        try:
            for fault in plan.of(lane):
                time.sleep(max(0.0, began + fault.at - time.monotonic()))
                resumed = _make(world, fault)
                progress.watch(resumed)
                made.append(resumed)
                ledger.add(resumed)
                say(f"{fault}: {resumed.target}")
        except Exception as error:  # noqa: BLE001 (told by the thread that waits for it)
            failures.append(error)

    threads = [threading.Thread(target=follow, args=(lane,), name=lane) for lane in LANES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return sorted(made, key=lambda one: one.fault.number)


def _make(world: World, fault: Fault) -> Resumed:
    began = time.time()
    with MAKE[fault.kind.name](world, fault) as target:
        if not fault.seconds:
            return Resumed(fault, began, time.time(), target)
        time.sleep(fault.seconds)
    return Resumed(fault, began, time.time(), target)


def _until_enough(world: World, seconds: float) -> int:
    """Let agents talk until enough events are recorded, or the time is up. Return the number of events."""
    deadline = time.monotonic() + seconds
    while (events := events_of(read(world.places.root))) < world.options.events and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return events


def _look(world: World, outcome: Outcome, seconds: float, say: Say) -> list[Finding]:
    """Wait for quiet, then check. Remaining work is a finding; all other checks still run."""
    engine = world.engine
    spools = [world.places.spool(number) for number in range(world.options.talkers)]
    unrest: list[Finding] = []
    with world.client() as client:
        try:
            outcome.quiet_seconds = until_quiet(engine, client, seconds, spools=spools)
            say(f"    quiet after {outcome.quiet_seconds:.0f} s")
        except NotQuiet as error:
            unrest.append(Finding("I3", str(error)))
        with engine.connect() as connection:
            outcome.flushes = int(connection.execute(text(_FLUSHES)).scalar_one())
        evidence = Evidence(engine, client, world.places.root, read(world.places.root), datetime.now(UTC))
        outcome.events, outcome.overlaps = events_of(evidence.told), explained_overlaps(evidence)
        findings = unrest + check_all(evidence)
    engine.dispose()
    return findings


def describe_folder(folder: Path) -> Places:
    """Return the places of a new run."""
    places = Places(folder)
    places.logs.mkdir(parents=True, mode=0o700)
    put(places.model_mode, "well")
    return places
