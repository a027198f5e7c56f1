"""Train the judge of usefulness, or measure it on a data set that it never saw.

Run: python -m judge.train                     trains, writes judge/src/slowwave_judge, and judges the people held out
     python -m judge.train --leave-out realmem,locomo+msc
                                               trains without each group of sets, and judges it: AUC and shares
     python -m judge.train pairs --target DIR  how two statements relate: trains, writes to a folder (default:
                                               judge/build), and judges the held-out pairs
     python -m judge.train pairs --report      judges the held-out pairs with the model of the package
     python -m judge.train pairs --calibrate   fits its scale and thresholds again, and judges the held-out pairs
     python -m judge.train pairs --share 0.5   learns half of the groups: a point of the learning curve
     python -m judge.train pairs --rounds 3    shows each group three times instead of twelve
     python -m judge.train changes --target FILE
                                               the score that says whether a later statement ends an earlier one: fits,
                                               judges pairs that were left out, and writes to a file (default:
                                               domain/similarity/change_score.json)

Training needs `pip install -e './judge[train]'`, two cores and a quarter of an hour, and as long for each group left
out. --report, --calibrate and changes need only the packages of `make setup`.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.pile import auc
from judge.train import changes, pair_calibration, pair_report
from judge.train.data import Labelled, is_held_out, read_gold, read_labelled
from judge.train.pair_data import read_groups
from judge.train.pair_model import BUILD, read_card

if TYPE_CHECKING:
    from judge.train.network import Trainer

TARGET = Path(__file__).parent.parent / "src" / "slowwave_judge"
ROUNDS = 12
SHARES = (0.25, 0.4, 0.6)


def tell(part: str, rows: Sequence[Labelled], judged: Sequence[float]) -> None:
    """Print the accuracy on a data set: AUC of useful against junk, and the labels of the best rows."""
    ranked = sorted(zip(judged, rows, strict=True), key=lambda pair: -pair[0])
    by_label = {label: [score for score, row in ranked if row.verdict == label] for label in "umj"}
    told = [f"{part:<10} {len(rows):>5} statements, AUC {auc(by_label['u'], by_label['j']) or 0:.3f}"]
    for share in SHARES:
        best = Counter(row.verdict for _, row in ranked[: int(len(ranked) * share)])
        n = sum(best.values()) or 1
        told.append(f"best {share:.0%}: useful {best['u'] / n:.2f}, junk {best['j'] / n:.2f}")
    print(" | ".join(told), flush=True)


def leave_out(trainer: "Trainer", data: Sequence[Labelled], groups: Sequence[str]) -> None:
    """Train without each group of data sets, and judge it."""
    for group in groups:
        parts = group.split("+")
        unknown = set(parts) - {one.part for one in data}
        if unknown:
            sys.exit(f"--leave-out: no labels of {', '.join(sorted(unknown))}")
        network = trainer.train([one for one in data if one.part not in parts and not is_held_out(one)])
        for part in parts:
            rows = [one for one in data if one.part == part and one.label]
            tell(part, rows, trainer.judge(network, rows))


def train_worth(seed: int, left_out: str | None) -> None:
    """Train and write; or, if groups of sets are named, train without each group and judge it."""
    from judge.train.network import EPOCHS, RATE, Trainer  # noqa: PLC0415 (PyTorch, which only training needs)

    data, trainer = [*read_labelled(), *read_gold(seed)], Trainer(seed)
    learned, held_out = [one for one in data if not is_held_out(one)], [one for one in data if is_held_out(one)]
    counts = Counter(one.part if one.label else f"{one.part}, gold" for one in learned)
    print(", ".join(f"{part} {count:,}" for part, count in sorted(counts.items())), flush=True)
    if left_out:
        leave_out(trainer, data, left_out.split(","))
        return
    network = trainer.train(learned)
    for part in sorted({one.part for one in held_out}):
        rows = [one for one in held_out if one.part == part]
        tell(part, rows, trainer.judge(network, rows))
    trainer.export(network, TARGET / "model.onnx")
    digest = hashlib.sha256((TARGET / "model.onnx").read_bytes()).hexdigest()
    card = {"name": f"judge {digest[:8]}", "sha256": digest, "seed": seed, "epochs": EPOCHS, "rate": RATE}
    card |= {"statements": dict(sorted(counts.items()))}
    (TARGET / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"{TARGET / 'model.onnx'}: {(TARGET / 'model.onnx').stat().st_size / 1e6:.1f} MB")


def train_pairs(seed: int, share: float, rounds: int, folder: Path) -> None:
    """Train, calibrate and write the judge of pairs, and print its results on held-out pairs."""
    from judge.train import pair_training  # noqa: PLC0415 (PyTorch, which only training needs)

    card = pair_training.train(read_groups(), seed, share, folder, rounds)
    pair_calibration.write_card(card, folder)
    pair_calibration.write_card(card | {"figures": pair_report.report(card, folder)}, folder)


def calibrate_pairs(folder: Path) -> None:
    """Fit the scale and the thresholds of the model in a folder again, and print its results on held-out pairs."""
    card = read_card(folder) | pair_calibration.calibrated(folder)
    pair_calibration.write_card(card, folder)
    pair_report.report(card, folder)


def main() -> int:
    """Train and write, or measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--leave-out", help="groups of data sets, as realmem,locomo+msc")
    parser.add_argument("--seed", type=int, default=1)
    judges = parser.add_subparsers(dest="judge")
    score = judges.add_parser("changes", help="the score that says whether a later statement ends an earlier one")
    score.add_argument("--target", type=Path, default=changes.TARGET, help="the file of the weights")
    score.add_argument("--seed", type=int, default=argparse.SUPPRESS)
    pairs = judges.add_parser("pairs", help="the judge of how two statements relate")
    pairs.add_argument("--report", action="store_true", help="train nothing, measure the model that is there")
    pairs.add_argument("--calibrate", action="store_true", help="train nothing, fit the thresholds of the model again")
    pairs.add_argument("--share", type=float, default=1.0, help="of the groups that are learned")
    pairs.add_argument("--rounds", type=int, default=ROUNDS, help="how often each group is shown")
    pairs.add_argument("--target", type=Path, help="the folder of the model")
    pairs.add_argument("--seed", type=int, default=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge is None:
        train_worth(options.seed, options.leave_out)
    elif options.judge == "changes":
        changes.train_changes(TARGET, options.seed, options.target)
    elif options.report:
        folder = options.target or TARGET
        pair_report.report(read_card(folder), folder)
    elif options.calibrate:
        calibrate_pairs(options.target or TARGET)
    else:
        train_pairs(options.seed, options.share, options.rounds, options.target or BUILD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
