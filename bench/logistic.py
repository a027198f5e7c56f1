"""Logistic regression over named features, with a ridge penalty, for all fits of the extraction rules."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

SMALL = 0.02
"""The file omits a weight below this."""


def fit(
    rows: Sequence[Mapping[str, float]], labels: Sequence[float], weights: Sequence[float], penalty: float
) -> dict[str, float]:
    """Return the weights that make the labels (0 to 1) most likely. weights: the weight of each row."""
    from scipy.optimize import minimize  # noqa: PLC0415 (a second, which each process of the test suite would pay)

    names = sorted({name for row in rows for name in row})
    place = {name: at for at, name in enumerate(names)}
    x = np.zeros((len(rows), len(names)))
    for at, row in enumerate(rows):
        for name, value in row.items():
            x[at, place[name]] = value
    y, w = np.array(labels, dtype=float), np.array(weights, dtype=float)

    def loss(beta: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ beta
        value = float(np.sum(w * (np.logaddexp(0.0, z) - y * z)) + penalty / 2 * np.sum(beta**2))
        return value, x.T @ (w * (1 / (1 + np.exp(-z)) - y)) + penalty * beta

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x
    return {name: round(float(weight), 3) for name, weight in zip(names, found, strict=True) if abs(weight) >= SMALL}


def score(row: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the log-odds of a row."""
    return sum(weights.get(name, 0.0) * value for name, value in row.items())


def write(path: Path, provenance: str, weights: Mapping[str, float]) -> None:
    """Write the file of weights that the rules read."""
    text = json.dumps({"provenance": provenance, "weights": weights}, indent=1, sort_keys=True)
    path.write_text(f"{text}\n", encoding="utf-8")
