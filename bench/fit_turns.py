"""Fit how much a turn of talk with an agent is worth remembering: the weights of domain/extraction/turns.json.

A turn of RealMem counts as positive if a gold memory names it. The metrics first leave out one person at a time.

Run: python -m bench.fit_turns [--write]
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench import logistic, realmem_data
from bench.msc_data import data_file
from slowwave.settings import ExtractorSettings
from slowwave_server.domain.extraction.keeping import WORTH
from slowwave_server.domain.extraction.speech import speeches
from slowwave_server.domain.extraction.turns import features
from slowwave_server.domain.windows import cut_window, most_events

TARGET = Path(__file__).parent.parent / "domain" / "extraction" / "turns.json"
PENALTY = 3.0
PRECEDING = 2
Row = tuple[str, Mapping[str, float], bool]
"""A person, the features of one turn, and whether a gold memory names the turn."""


def rows() -> Iterator[Row]:
    """Return all turns of the development persons, in the windows that a flush cuts."""
    bounds = ExtractorSettings()
    for person in realmem_data.people(data_file(realmem_data.FILE)):
        for session in person.sessions:
            done = 0
            while done < len(session.events):
                window = cut_window(
                    session.events[done : done + most_events(bounds.max_messages_per_flush)],
                    max_messages=bounds.max_messages_per_flush,
                    max_chars=bounds.max_chars_per_flush,
                )
                talk = list(speeches(window.events, session.events[max(0, done - PRECEDING) : done], "agent"))
                for at, speech in enumerate(talk):
                    yield person.name, features(talk, at), speech.event.seq in session.gold
                done = window.to_seq


def f1(data: list[Row], weights: Mapping[str, float]) -> float:
    """Return the F1 of the turns above the threshold of the rules."""
    kept = [gold for _, row, gold in data if logistic.score(row, weights) >= WORTH]
    return 2 * sum(kept) / max(len(kept) + sum(gold for _, _, gold in data), 1)


def fit(data: list[Row]) -> dict[str, float]:
    """Return the weights for these turns."""
    return logistic.fit([row for _, row, _ in data], [float(gold) for *_, gold in data], [1.0] * len(data), PENALTY)


def main() -> None:
    """Print F1 for each person that was left out, and write the weights on request."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    options = parser.parse_args()
    data = list(rows())
    for name in sorted({person for person, _, _ in data}):
        others, own = [row for row in data if row[0] != name], [row for row in data if row[0] == name]
        print(f"{name:<20} F1 {f1(own, fit(others)):.3f} left out, {f1(own, fit(data)):.3f} fitted")
    if options.write:
        logistic.write(TARGET, f"{realmem_data.FILE}: turns with a gold memory", fit(data))


if __name__ == "__main__":
    sys.exit(main())
