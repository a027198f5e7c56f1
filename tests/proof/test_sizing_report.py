"""What a million turns need follows from the costs, and the report shows both."""

from dataclasses import replace
from pathlib import Path

import pytest

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


def test_the_report_names_the_machine_and_shows_needs_and_costs() -> None:
    text = written(replace(Costs(machine="a machine"), capture=Cost(141e-6, 711e-6)), Assumed(peak=8.0))
    assert "Measured on: a machine." in text
    assert "the peak load is 8 times the mean" in text
    assert "| a turn recorded (`turn_completed`) | 141 | 711 | 0 |" in text
