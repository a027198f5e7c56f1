"""Calibrate the judge of pairs on groups that it never learned, and write its card."""

import json
from pathlib import Path
from typing import Any

from judge.train.pair_data import fitting_sets
from judge.train.pair_measure import READ_AGAIN, SAME_AGAIN, fit_scale, fit_thresholds
from judge.train.pair_model import ANSWERS, CARD, PairModel
from judge.train.pair_pass import allowed


def calibrated(folder: Path) -> dict[str, Any]:
    """Return the scale and the thresholds of the model in a folder, fitted on the pairs that training did not use.

    The thresholds limit the errors that the rules let pass.
    """
    pairs, model = [pair for of_set in fitting_sets().values() for pair in of_set], PairModel(folder, ANSWERS)
    scale = fit_scale(model.logits(pairs), pairs)
    thresholds = fit_thresholds(scale(model.logits(pairs, scale)), pairs, allowed(pairs))
    again = {"contradiction": list(READ_AGAIN), "duplicate": SAME_AGAIN}
    return {"scale": scale.told(), "read again": again, "thresholds": thresholds.told()}


def write_card(card: dict[str, Any], folder: Path) -> None:
    """Write the card beside the model."""
    (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
