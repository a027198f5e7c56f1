"""Report how well a judge of pairs judges held-out data."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judge.train.pair_data import fitting_sets, read_shared, read_sick
from judge.train.pair_measure import Scale, Thresholds, calls, figures, fit_scale, fit_thresholds
from judge.train.pair_model import ANSWERS, PairModel
from judge.train.pair_pass import MERGED, allowed, passed, ruled
from judge.train.pair_real import held_out_changed, held_out_real
from judge.train.pairs import Pair, target
from slowwave_server.domain.similarity import Verdict

FOLDS = 5
HISTORIES = "histories: "
"""The beginning of the domains of values that change: jobs, prices, versions and the like."""
Figures = dict[str, float]


def report(card: Mapping[str, Any], folder: Path) -> dict[str, Figures]:
    """Print the metrics of every set as soon as they are known, and return them.

    card: the card of the model in the folder.
    """
    scale = Scale(card["scale"]["factor"], tuple(card["scale"]["shifts"]))
    found: dict[str, Figures] = {}
    for name, shares in _rows(PairModel(folder, ANSWERS), scale, Thresholds(**card["thresholds"])):
        tell(name, shares)
        found[name] = shares
    return found


def _rows(model: PairModel, scale: Scale, thresholds: Thresholds) -> Iterator[tuple[str, Figures]]:
    fitting, logits = fitting_sets(), list[np.ndarray]()
    for name, pairs in fitting.items():
        logits.append(model.logits(pairs, scale))
        yield from _row(name, pairs, scale(logits[-1]), thresholds)
    yield from _folded(np.concatenate(logits), [pair for pairs in fitting.values() for pair in pairs])
    for name, pairs in other_sets().items():
        if pairs:
            yield from _row(name, pairs, scale(model.logits(pairs, scale)), thresholds)
    if pairs := _labelled("pairs-dev.jsonl"):
        yield "pairs-dev, rules alone", _shares(ruled(pairs), pairs)
    if real := held_out_real():
        yield from _row("real memories", real, scale(model.logits(real, scale)), thresholds)
        changed = held_out_changed()
        yield from _row("changed real memories", changed, scale(model.logits(changed, scale)), thresholds)


def _row(name: str, pairs: Sequence[Pair], told: np.ndarray, thresholds: Thresholds) -> Iterator[tuple[str, Figures]]:
    """Yield the metrics of the model alone, and those of rules and model together."""
    yield name, figures(calls(told, thresholds), told, pairs)
    yield f"{name}, rules and model", _shares(passed(pairs, told, thresholds), pairs)


def _shares(judged: Sequence[Verdict], pairs: Sequence[Pair]) -> Figures:
    """Return the shares of the verdicts that consolidation uses: a contradiction, and a merge."""
    kinds = {"contradictions": {"conflict", "update", "updated"}, "repetitions": {"duplicate"}}
    found: Figures = {"pairs": len(pairs)}
    for kind, labels in (kinds | {"others": {"related", "distinct"}}).items():
        of_kind = [verdict for verdict, one in zip(judged, pairs, strict=True) if one.label in labels]
        if of_kind:
            found[f"{kind}: conflict"] = sum(verdict == "conflict" for verdict in of_kind) / len(of_kind)
            found[f"{kind}: merged"] = sum(verdict in MERGED for verdict in of_kind) / len(of_kind)
    return found


def other_sets() -> dict[str, list[Pair]]:
    """Return held-out pairs with labels on which nothing is fitted."""
    return {
        "pairs-dev": _labelled("pairs-dev.jsonl"),
        "SICK": read_sick()[1],
        "value-swaps": _labelled("value-swaps.jsonl"),
    }


def _labelled(name: str) -> list[Pair]:
    rows = read_shared(name)
    return [Pair(r["a"], r["b"], target(**{r["label"]: 1.0}), 1.0, name, r.get("domain", "")) for r in rows]


def _folded(logits: np.ndarray, pairs: Sequence[Pair]) -> Iterator[tuple[str, Figures]]:
    """Yield the cross-validated metrics of each part, and of the histories alone."""
    told, called, judged = crossed(logits, pairs)
    places = {part: [at for at, one in enumerate(pairs) if one.part == part] for part in ("groups", "unlearned")}
    places["histories"] = [at for at, one in enumerate(pairs) if one.group.startswith(HISTORIES)]
    for name, of_part in places.items():
        found = [pairs[at] for at in of_part]
        yield f"{name}, five folds", figures(called[of_part], told[of_part], found)
        yield f"{name}, rules and model, five folds", _shares([judged[at] for at in of_part], found)


def crossed(logits: np.ndarray, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, list[Verdict]]:
    """Return probabilities, the model's calls, and the verdicts of rules and model together, cross-validated by domain:
    each fold uses the scale and the thresholds of the other folds.
    """
    told, called, allows = np.zeros(logits.shape), np.zeros(len(pairs), dtype=int), allowed(pairs)
    judged: dict[int, Verdict] = {}
    for rest, here in _folds(pairs):
        others = [pairs[at] for at in rest]
        scale = fit_scale(logits[rest], others)
        told[here], of_rest = scale(logits[here]), scale(logits[rest])
        called[here] = calls(told[here], fit_thresholds(of_rest, others))
        with_rules = fit_thresholds(of_rest, others, allows.of(rest))
        judged |= zip(here, passed([pairs[at] for at in here], told[here], with_rules), strict=True)
    return told, called, [judged[at] for at in range(len(pairs))]


def _folds(pairs: Sequence[Pair]) -> Iterator[tuple[list[int], list[int]]]:
    """Return the places of the other folds and of this fold, for each fold of domains."""
    domains = sorted({one.group for one in pairs})
    fold = np.array([domains.index(one.group) % FOLDS for one in pairs])
    for place in range(FOLDS):
        yield np.flatnonzero(fold != place).tolist(), np.flatnonzero(fold == place).tolist()


def tell(name: str, told: Mapping[str, float]) -> None:
    """Print the metrics of a set in one line."""
    shares = ", ".join(f"{key} {value:.3f}" for key, value in told.items() if key != "pairs")
    print(f"{name} ({told['pairs']:.0f}): {shares}", flush=True)
