"""Fit how useful a statement is: the weights of domain/extraction/usefulness.json.

Blind readers label piles of memories (bench.pile). The gold labels of MSC and LoCoMo turns count too, each for a small
part of a reader's label, so that short facts about people, which piles of work talk lack, keep their worth. The metrics
first leave out a sixth of the readers' labels at a time.

Run: python -m bench.fit_usefulness PILE.jsonl=LABELS.jsonl … [--write]
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench import labelled, logistic
from bench.pile import auc, read
from bench.samples import key_path
from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.person import UNNAMED
from slowwave_server.domain.extraction.usefulness import features
from slowwave_server.services.evaluation.extraction import AGENT

TARGET = Path(__file__).parent.parent / "domain" / "extraction" / "usefulness.json"
PENALTY = 4.0
ALIKE = 0.35
"""Share of content words from which a statement and a gold memory say the same."""
OF_GOLD_TURN = 0.55
"""The label of another statement of a turn with a gold memory."""
WEAK = 0.05
"""How much the label of a turn counts beside a reader's label."""
FOLDS = 6
VALUE = {"useful": 1.0, "marginal": 0.5, "junk": 0.0}
Row = tuple[Mapping[str, float], float, float]
"""Features, label, and how much the label counts."""


def of_readers(pairs: Sequence[str]) -> list[Row]:
    """Return the labelled memories of all piles, each given as PILE=LABELS."""
    found: list[Row] = []
    for pair in pairs:
        pile, _, labels = pair.partition("=")
        said = {row["id"]: row["label"] for row in read(Path(labels))}
        told = {row["id"]: row for row in read(Path(pile))}
        for key in read(key_path(Path(pile))):
            if key["id"] in said:
                row = told[key["id"]]
                # Keys of earlier piles name no speakers, because these piles contain work talk.
                people = key.get("speakers", (UNNAMED, AGENT))
                names = features(row["memory"], row["type"], key["signals"], (*people, UNNAMED.lower()))
                found.append((dict.fromkeys(names, 1.0), VALUE[said[key["id"]]], 1.0))
    return found


def of_turns() -> Iterator[Row]:
    """Return the statements that the rules make from single turns of people, with the gold label of their turn."""
    rules = RulesExtractor()
    for name in ("msc", "locomo"):
        for turn in labelled.turns(name):
            context = ExtractionContext("agent", preceding=(turn.before,) if turn.before else ())
            speakers = {event.name for event in (turn.event, turn.before) if event is not None and event.name}
            for one in rules.extract(Window((turn.event,)), context, turn.event.happened_at).candidates:
                row = dict.fromkeys(features(one.content, one.type, one.signals, speakers), 1.0)
                yield row, _of_turn(turn, one.content), WEAK


def _of_turn(turn: labelled.Turn, content: str) -> float:
    """Return the label that a turn gives a statement: 1 if its gold memory says the same, less if it says something
    else.
    """
    if not turn.gold:
        return 0.0
    return 1.0 if turn.alike([content])[0] >= ALIKE else OF_GOLD_TURN


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """Return the weights for these labels."""
    return logistic.fit([row for row, _, _ in rows], [y for _, y, _ in rows], [w for _, _, w in rows], PENALTY)


def main() -> None:
    """Print the AUC of useful against junk on labels that were left out, and write the weights on request."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("piles", nargs="+", metavar="PILE=LABELS")
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    options = parser.parse_args()
    judged, weak = of_readers(options.piles), list(of_turns())
    useful: list[float] = []
    junk: list[float] = []
    for fold in range(FOLDS):
        weights = fit([row for at, row in enumerate(judged) if at % FOLDS != fold] + weak)
        for row, label, _ in judged[fold::FOLDS]:
            if label != VALUE["marginal"]:
                (useful if label else junk).append(logistic.score(row, weights))
    print(json.dumps({"labels": len(judged), "AUC": auc(useful, junk)}))
    if options.write:
        logistic.write(TARGET, f"{len(judged)} labels of blind readers; turns of MSC and LoCoMo", fit([*judged, *weak]))


if __name__ == "__main__":
    sys.exit(main())
