"""A load of a few seconds on real servers and workers: every turn is accounted for, and the report is whole."""

from pathlib import Path

import pytest

from proof.load.__main__ import keep, read, write_report
from proof.load.deployment import Deployment
from proof.load.fairness import Size, compared, figures_of
from proof.load.memory import roots
from proof.load.processes import footprint, members
from proof.load.traffic import Shape, plan
from proof.load.trial import backlog, run, summary

pytestmark = [pytest.mark.drill, pytest.mark.servers, pytest.mark.workers, pytest.mark.timeout(200)]

SECONDS = 2.0
SHORT: dict[str, object] = {
    "memory.auto_flush.idle_seconds": 1,
    "memory.auto_flush.max_dirty_age_seconds": 5,
    "memory.auto_flush.flush_interval_seconds": 1,
}
QUIET = dict.fromkeys(range(1, 10), True)


def test_every_turn_of_a_small_load_is_memory_and_its_waits_add_up(tmp_path: Path) -> None:
    hooks = plan(Shape(), load=20, seconds=SECONDS, weights=[1.0] * 10, seed=1)
    said = sum(hook.kind == "turn" for hook in hooks)
    with Deployment(SHORT) as deployment:
        deployment.start_workers()
        # One producer: each is an interpreter that has to start.
        trial = run(deployment, hooks, name="tiny", seconds=SECONDS, settle_seconds=60, deal=lambda _: 0)
        groups = {group for group, _, process in members(roots(deployment, None)) if footprint(process)}
        assert deployment.died == {}
        folder = deployment.folder.root
    assert not folder.exists(), "a deployment leaves nothing behind"
    assert groups >= {"postgres", "valkey", "worker-main", "worker-fast", "beat"}
    assert trial.settled
    assert len(trial.turns) == said
    for turn in trial.turns:
        assert turn.asked != "none", "nothing is flushed before it is due"
        assert turn.from_due is not None
        assert turn.queue is not None
        assert turn.work is not None
        assert turn.from_due == pytest.approx(turn.queue + turn.work, abs=1e-6)
    figures = summary(trial)
    assert (figures["left"], figures["errors"], figures["spooled"]) == (0, 0, 0)
    step = figures | {"load": 20.0, "offered": said / SECONDS, "why": [], "bottleneck": "none"}
    step |= {"backlog": backlog(trial, SECONDS)}
    result = {"agents": 10, "seconds": SECONDS, "steps": [step], "saturation": 20.0, "at_80": step}
    cut = {"agents": 50, "load": 5.0, "times": 100.0, "bound": 1.5, "cut": "the part was ended after 9 s"}
    cut |= {
        "stretches": [figures_of(trial, QUIET, Size()) | {"kind": "alike"}],
        "compared": compared({"alike": [trial], "loud": [], "as much": []}, QUIET),
    }
    keep(tmp_path, {"lag": result, "fairness": cut, "recovery": {"error": "the part was ended after 1 s"}})
    write_report(tmp_path, read(tmp_path))
    report = (tmp_path / "load.md").read_text("utf-8")
    assert f"| {said / SECONDS:.0f} | yes |" in report
    assert "**Not measured: the part was ended after 1 s**" in report
    assert "**Incomplete: the part was ended after 9 s.**" in report
    assert "| all alike |" in report
    assert (tmp_path / "load-lag.png").stat().st_size > 10_000
