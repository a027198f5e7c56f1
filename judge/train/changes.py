"""Fit the score that says whether a later statement ends an earlier one, and print the shares of pairs that it ends."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judge.train.change_data import learned_cases, left_out_cases
from judge.train.change_fit import MOST_ENDED, Weighed, fit, weigh
from judge.train.pair_measure import Scale
from judge.train.pair_model import ANSWERS, PairModel, read_card
from slowwave_server.domain.similarity import change_score
from slowwave_server.domain.similarity.change_score import Bounds, ChangeWeights

TARGET = Path(change_score.__file__).with_suffix(".json")
FOLDS = 5
DATA = (
    "eleven held-out domains of judge/data/pairs.jsonl, judge/data/unlearned.jsonl, 140 histories of"
    " tests/integration/histories, and near pairs of memories of the people and dialogues that the model of pairs never"
    " saw"
)
Figures = dict[str, dict[str, float]]


def train_changes(folder: Path, seed: int, file: Path) -> None:
    """Fit the weights, print them and the shares of the pairs that were left out, and write the file.

    folder: the folder of the model of pairs.
    """
    card, (_, bounds) = read_card(folder), change_score.fitted()
    model, scale = PairModel(folder, ANSWERS), Scale(card["scale"]["factor"], tuple(card["scale"]["shifts"]))
    learned, left_out = (weigh(read(seed), model, scale, bounds) for read in (learned_cases, left_out_cases))
    weights = fit(learned)
    figures: Figures = {}
    for part, kind, shares in [*_crossed(learned, bounds), *_shares(left_out, [weights] * len(left_out), bounds)]:
        figures.setdefault(part, {})[kind] = shares["ended"]
        print(f"{part}, {kind} ({shares['pairs']:.0f}): ended {shares['ended']:.3f}, by rules {shares['rules']:.3f}")
    print(f"start {weights.start}, " + ", ".join(f"{name} {weight}" for name, weight in weights.weights.items()))
    counts = Counter((row.case.part, row.case.kind) for row in learned if row.found)
    pairs: dict[str, dict[str, int]] = {}
    for (part, kind), count in sorted(counts.items()):
        pairs.setdefault(part, {})[kind] = count
    provenance = {
        "data": DATA,
        "fitted": f"{datetime.now(UTC):%Y-%m-%d}, `python -m judge.train changes`, seed {seed}, {card['name']}",
        "start": f"ends {MOST_ENDED} of the related pairs",
        "pairs": pairs,
        "ended of pairs left out": figures,
    }
    write(file, provenance, weights, bounds)


def write(file: Path, provenance: Mapping[str, Any], weights: ChangeWeights, bounds: Bounds) -> None:
    """Write a file as the rules read it."""
    told = {"provenance": provenance, **asdict(weights), "bounds": asdict(bounds)}
    file.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _crossed(rows: Sequence[Weighed], bounds: Bounds) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the shares of the learned pairs; the weights of each fold come from the other domains, histories and people
    or dialogues.
    """
    groups = {group: at for at, group in enumerate(sorted({row.case.group for row in rows}))}
    folds = [groups[row.case.group] % FOLDS for row in rows]
    fitted = [fit([row for row, place in zip(rows, folds, strict=True) if place != fold]) for fold in range(FOLDS)]
    for part, kind, shares in _shares(rows, [fitted[fold] for fold in folds], bounds):
        yield f"{part}, five folds", kind, shares


def _shares(
    rows: Sequence[Weighed], weights: Sequence[ChangeWeights], bounds: Bounds
) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the set, the kind and the shares of ended pairs. weights: those that decide about each row."""
    judged: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for row, its in zip(rows, weights, strict=True):
        judged.setdefault((row.case.part, row.case.kind), []).append((row.ended(its, bounds), row.by_rules))
    for (part, kind), of_kind in sorted(judged.items()):
        ended, by_rules = (sum(one) / len(of_kind) for one in zip(*of_kind, strict=True))
        yield part, kind, {"pairs": len(of_kind), "ended": round(ended, 4), "rules": round(by_rules, 4)}
