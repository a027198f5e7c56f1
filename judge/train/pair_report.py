"""Report how well a judge of pairs judges held-out data."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judge.train.pair_data import apart, pairs_of, read_groups, read_shared, read_sick
from judge.train.pair_measure import CONFLICT, DUPLICATE, Scale, Thresholds, calls, figures, fit_scale, fit_thresholds
from judge.train.pair_model import PairModel
from judge.train.pair_real import held_out_changed, held_out_real
from judge.train.pairs import Pair, target
from slowwave_server.domain.similarity import MeaningOf, judge, read
from slowwave_server.services.consolidation.meaning import installed_pair_judge

FOLDS = 5
CALLS = {"called conflict": CONFLICT, "called duplicate": DUPLICATE}
Figures = dict[str, float]


def report(card: Mapping[str, Any], folder: Path) -> dict[str, Figures]:
    """Print the metrics of every set, and return them. card: the card of the model in the folder."""
    model = PairModel(folder)
    scale = Scale(card["scale"]["factor"], tuple(card["scale"]["shifts"]))
    thresholds = Thresholds(**card["thresholds"])
    found: dict[str, Figures] = {}
    for name, pairs in held_out_sets().items():
        if not pairs:
            continue
        logits = model.logits(pairs)
        if name in {"groups", "pairs-dev"}:
            found[f"{name}, five folds"] = crossed(logits, pairs)
        if name != "groups":
            told = scale(logits)
            found[name] = figures(calls(told, thresholds), told, pairs)
    if real := held_out_real():
        called = calls(scale(model.logits(real)), thresholds)
        found["real memories"] = {"pairs": len(real)} | {
            name: float((called == call).mean()) for name, call in CALLS.items()
        }
        found["changed real memories"] = _figures_of(held_out_changed(), model, scale, thresholds)
    if pairs := _labelled("pairs-dev.jsonl"):
        found["pairs-dev, rules alone"] = _verdicts(pairs, None)
        found["pairs-dev, rules and the package's model"] = _verdicts(pairs, installed_pair_judge())
    for name, shares in found.items():
        tell(name, shares)
    return found


def _figures_of(pairs: Sequence[Pair], model: PairModel, scale: Scale, thresholds: Thresholds) -> Figures:
    told = scale(model.logits(pairs))
    return figures(calls(told, thresholds), told, pairs)


def _verdicts(pairs: Sequence[Pair], meaning: MeaningOf | None) -> Figures:
    """Return the shares of the verdicts that consolidation uses: a contradiction, and a merge."""
    verdicts = [judge(read(one.first), read(one.second), meaning=meaning).verdict for one in pairs]
    kinds = {"contradictions": {"conflict"}, "repetitions": {"duplicate"}, "others": {"related", "distinct"}}
    found: Figures = {"pairs": len(pairs)}
    for kind, labels in kinds.items():
        of_kind = [verdict for verdict, one in zip(verdicts, pairs, strict=True) if one.label in labels]
        found[f"{kind}: conflict"] = sum(verdict == "conflict" for verdict in of_kind) / len(of_kind)
        found[f"{kind}: merged"] = sum(verdict in {"duplicate", "merge"} for verdict in of_kind) / len(of_kind)
    return found


def held_out_sets() -> dict[str, list[Pair]]:
    """Return held-out pairs with labels; the scale and the thresholds are fitted on the groups."""
    _, groups = apart(read_groups())
    return {
        "groups": pairs_of(groups),
        "pairs-dev": _labelled("pairs-dev.jsonl"),
        "SICK": read_sick()[1],
        "value-swaps": _labelled("value-swaps.jsonl"),
    }


def _labelled(name: str) -> list[Pair]:
    rows = read_shared(name)
    return [Pair(r["a"], r["b"], target(**{r["label"]: 1.0}), 1.0, name, r.get("domain", "")) for r in rows]


def crossed(logits: np.ndarray, pairs: Sequence[Pair]) -> Figures:
    """Return cross-validated metrics by domain: each fold uses the scale and thresholds of the other folds."""
    domains = sorted({one.group for one in pairs})
    fold = np.array([domains.index(one.group) % FOLDS for one in pairs])
    told, called = np.zeros(logits.shape), np.zeros(len(pairs), dtype=int)
    for place in range(FOLDS):
        rest, here = np.flatnonzero(fold != place).tolist(), np.flatnonzero(fold == place).tolist()
        scale = fit_scale(logits[rest], [pairs[i] for i in rest])
        thresholds = fit_thresholds(scale(logits[rest]), [pairs[i] for i in rest])
        told[here] = scale(logits[here])
        called[here] = calls(told[here], thresholds)
    return figures(called, told, pairs)


def tell(name: str, told: Mapping[str, float]) -> None:
    """Print the metrics of a set in one line."""
    shares = ", ".join(f"{key} {value:.3f}" for key, value in told.items() if key != "pairs")
    print(f"{name} ({told['pairs']:.0f}): {shares}", flush=True)
