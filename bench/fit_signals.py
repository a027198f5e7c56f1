"""Fit the weights of the signals that decide which sentences are kept; print the table of
`domain/extraction/weights.py`.

The model is a logistic regression over the named signals, with one row per sentence. People judged utterances, not
sentences, so the loss has two halves: an utterance is kept if any of its sentences is kept (noisy or); within a kept
utterance, a sentence counts as kept if it shares words with the memory that the person wrote. L2 keeps the weights
small; the signals set by hand keep their weights.

Run: python -m bench.fit_signals. It first fits on each half of the dialogues and measures on the other, then fits on
all.
"""

import sys

import numpy as np

from bench.msc_data import data_file, dialogues
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.weights import HAND_SET, THRESHOLD

PENALTY = 4.0
STEPS = 400
ALIKE = 0.3
"""ROUGE-1 F with one written memory from which a sentence counts as the one that says it."""

Row = tuple[list[tuple[str, ...]], list[float], bool]
"""One utterance: the signals of each sentence, its similarity to the memory, and whether a person kept it."""


def rows(dialogue: list) -> list[Row]:
    """Return the utterances of one dialogue in the form for the fit."""
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415 (with nltk, for each process of the test suite)

    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    found: list[Row] = []
    previous: str | None = None
    for turn in dialogue:
        parts = list(sentences(turn.text))
        seen = [Seen.after(previous) if at == 0 else Seen() for at in range(len(parts))]
        written = [part for part in turn.memory.split(". ") if part]
        like = [max((scorer.score(m, p)["rouge1"].fmeasure for m in written), default=0.0) for p in parts]
        found.append(([signals(p, s) for p, s in zip(parts, seen, strict=True)], like, turn.memory != ""))
        previous = turn.text
    return found


def fit(data: list[Row], names: list[str]) -> np.ndarray:
    """Return weights in the order of `names`, the bias last."""
    column = {name: at for at, name in enumerate(names)}
    x, offset, owner, wanted = [], [], [], []
    for at, (parts, like, kept) in enumerate(data):
        for fired, alike in zip(parts, like, strict=True):
            row = np.zeros(len(names) + 1)
            row[-1] = 1.0
            row[[column[name] for name in fired if name in column]] = 1.0
            x.append(row)
            offset.append(sum(HAND_SET.get(name, 0.0) for name in fired))
            owner.append(at)
            wanted.append(float(kept and (alike >= ALIKE or alike == max(like))))
    kept_by_people = np.array([float(kept) for _, _, kept in data])
    return descend(np.array(x), np.array(offset), np.array(owner), np.array(wanted), kept_by_people)


def descend(x: np.ndarray, offset: np.ndarray, owner: np.ndarray, wanted: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Minimise the mean of both losses with Adam."""
    weights, mean, square = (np.zeros(x.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):
        p = 1 / (1 + np.exp(-(x @ weights + offset)))
        none = np.zeros(len(kept))
        np.add.at(none, owner, np.log1p(-np.clip(p, 0, 1 - 1e-9)))
        any_kept = np.clip(1 - np.exp(none), 1e-6, 1 - 1e-6)[owner]
        by_utterance = np.where(kept[owner] == 1, -(1 - any_kept) / any_kept * p, p)
        gradient = x.T @ (0.5 * by_utterance + 0.5 * (p - wanted))
        gradient[:-1] += PENALTY * weights[:-1]
        gradient /= len(kept)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights


def judge(data: list[Row], names: list[str], weights: np.ndarray, threshold: float) -> tuple[float, float, float]:
    """Return precision, recall and F1 of "an utterance is kept if one of its sentences reaches the threshold"."""
    weigh = dict(zip(names, weights[:-1], strict=True)) | HAND_SET
    hits = kept = people = 0
    for parts, _, by_people in data:
        ours = any(sum(weigh.get(name, 0.0) for name in fired) + weights[-1] >= threshold for fired in parts)
        hits += ours and by_people
        kept += ours
        people += by_people
    precision, recall = hits / kept, hits / people
    return precision, recall, 2 * precision * recall / (precision + recall)


def main() -> None:
    """Print both held-out measurements, then the table of all dialogues."""
    every = [rows(dialogue) for dialogue in dialogues(data_file("msc-memories-dev.jsonl"))]
    halves = [[row for one in every[start::2] for row in one] for start in (0, 1)]
    whole = halves[0] + halves[1]
    names = sorted({name for parts, _, _ in whole for fired in parts for name in fired} - HAND_SET.keys())
    for label, seen, unseen in (("even → odd", *halves), ("odd → even", *halves[::-1])):
        weights = fit(seen, names)
        for threshold in (THRESHOLD - 0.25, THRESHOLD, THRESHOLD + 0.25):
            fitted, held = judge(seen, names, weights, threshold), judge(unseen, names, weights, threshold)
            print(
                f"{label}  threshold {threshold:5.2f}  seen F1 {fitted[2]:.3f}  unseen P {held[0]:.3f} R "
                f"{held[1]:.3f} F1 {held[2]:.3f}"
            )
    weights = fit(whole, names)
    print(f"BIAS = {weights[-1]:.2f}")
    for weight, name in sorted(zip(weights[:-1], names, strict=True), reverse=True):
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    sys.exit(main())
