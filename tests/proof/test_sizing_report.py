"""What a million turns need follows from the costs, and the report holds what was measured, beside the model."""

from dataclasses import replace
from pathlib import Path

import pytest

from proof.sizing.checking import Compared, saturated
from proof.sizing.costs import Cost, Costs, load_costs
from proof.sizing.needs import Assumed, needs
from proof.sizing.report import written


def test_costs_are_read_as_they_were_written(tmp_path: Path) -> None:
    costs = replace(Costs(), machine="somewhere", spread=0.25)
    costs.save(tmp_path / "costs.json")
    assert load_costs(tmp_path / "costs.json") == costs


def test_what_is_needed_grows_with_the_peak_and_shrinks_with_longer_windows() -> None:
    usual = needs(Costs(), Assumed())
    at_peak = needs(Costs(), Assumed(peak=8.0))
    longer = needs(Costs(), Assumed(turns_per_flush=8.0))
    assert at_peak.worker_processes == pytest.approx(2 * usual.worker_processes)
    assert at_peak.gb_per_year == usual.gb_per_year
    assert longer.calls_per_day == usual.calls_per_day / 2
    assert longer.worker_processes < usual.worker_processes
    assert usual.worker_processes == pytest.approx(
        1e6 / 86400 * 4 / 0.6 * ((4e-3 + 1e-3 + 50e-6) / 4 + 0.75 * 0.5e-3), rel=0.01
    )


def test_two_processes_bear_more_than_one() -> None:
    dear = replace(Costs(), flush=Cost(0.15, 1e-3), flush_taken=Cost(0.15, 1e-3))
    assert saturated(dear, 2, 10.0) > 1.2 * saturated(dear, 1, 10.0)


def test_the_report_says_which_figures_are_not_near() -> None:
    rows = [Compared(1, 0.7, 40.0, "lag, p95", "s", 2.0, 2.2), Compared(2, 1.5, 90.0, "turns read", "/s", 10.0, 20.0)]
    text = written(Costs(machine="a machine"), rows, Assumed())
    assert "0.7 to" not in text.split("figures")[0]
    assert "1.10 to 2.00, 1 of 2 figures" in text
    assert "| 2.00 | **no** | 2 | 150% |" in text
    assert "Measured on: a machine." in text
