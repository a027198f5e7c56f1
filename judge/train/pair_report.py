"""Report how well a judge of pairs judges held-out data."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judge.train.pair_data import apart, pairs_of, read_groups, read_shared, read_sick
from judge.train.pair_measure import Scale, Thresholds, calls, figures, fit_scale, fit_thresholds
from judge.train.pair_model import PairModel
from judge.train.pair_pass import MERGED, allowed, passed, verdicts
from judge.train.pair_real import held_out_changed, held_out_real
from judge.train.pairs import Pair, target
from slowwave_server.domain.similarity import Verdict

FOLDS = 5
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
        logits = model.logits(pairs, scale)
        told = scale(logits)
        if name in {"groups", "pairs-dev"}:
            found[f"{name}, five folds"] = crossed(logits, pairs)
            found[f"{name}, rules and model, five folds"] = crossed_pass(logits, pairs)
        if name != "groups":
            found[name] = figures(calls(told, thresholds), told, pairs)
        found[f"{name}, rules and model"] = _shares(passed(pairs, told, thresholds), pairs)
    if real := held_out_real():
        found["real memories"] = _shares(passed(real, scale(model.logits(real, scale)), thresholds), real)
        changed = held_out_changed()
        told = scale(model.logits(changed, scale))
        found["changed real memories"] = figures(calls(told, thresholds), told, changed)
        found["changed real memories, rules and model"] = _shares(passed(changed, told, thresholds), changed)
    if pairs := _labelled("pairs-dev.jsonl"):
        found["pairs-dev, rules alone"] = _shares(verdicts(pairs, lambda _: None), pairs)
    for name, shares in found.items():
        tell(name, shares)
    return found


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
    told, called = np.zeros(logits.shape), np.zeros(len(pairs), dtype=int)
    for rest, here in _folds(pairs):
        scale = fit_scale(logits[rest], [pairs[i] for i in rest])
        thresholds = fit_thresholds(scale(logits[rest]), [pairs[i] for i in rest])
        told[here] = scale(logits[here])
        called[here] = calls(told[here], thresholds)
    return figures(called, told, pairs)


def crossed_pass(logits: np.ndarray, pairs: Sequence[Pair]) -> Figures:
    """Return the same for the verdicts of rules and model together."""
    allows, judged = allowed(pairs), dict[int, Verdict]()
    for rest, here in _folds(pairs):
        others = [pairs[i] for i in rest]
        scale = fit_scale(logits[rest], others)
        thresholds = fit_thresholds(scale(logits[rest]), others, allows.of(rest))
        judged |= zip(here, passed([pairs[i] for i in here], scale(logits[here]), thresholds), strict=True)
    return _shares([judged[place] for place in range(len(pairs))], pairs)


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
