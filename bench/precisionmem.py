"""Run PrecisionMemBench, its 77 retrieval cases and 12 session turns by its own rules, and compare with published
results.

Every user is an agent, and each scope of a user is a room that only this user reads. A belief is one message in a
session named by the belief's id, so the sources of a hit name the belief. Slowwave gets no other information about a
belief, neither that it is superseded nor that it is a question, as the rules require.

`--share` is the argument `min_share` of each search. `--relevance` omits hits whose relevance (`Hit.relevance`, 0 to 1)
is lower; the table also has the results for a series of such floors. "even" and "odd" are the active passes of the
cases with an even and with an odd index: what was chosen on the even ones is tested on the odd ones.

Run: python -m bench.precisionmem [--relevance 0.3] [--share 0.8] [--failures]
"""

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.msc_data import data_file
from bench.precisionmem_rules import USER, Belief, Verdict, belief_text, build, drift, judge_case, judge_turn
from bench.recall_memories import recall_memories
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave_server.services.evaluation.recall import Recorder

LIMIT = 20
FLOORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BEGUN = datetime(2026, 9, 1, 9, tzinfo=UTC)
PUBLISHED = {
    # active passes of 43, passes of 77, mean precision, mean recall, turns passed of 12, mean drift
    "tenure (its author)": (43, 77, 1.00, 1.00, 12, 0.0),
    "open-knowledge-format": (18, 36, 0.47, 0.91, 2, 0.2153),
    "supermemory": (4, 21, 0.22, 0.71, 1, 0.7493),
    "agentmemory": (0, 7, 0.17, 0.97, 0, 0.8087),
    "yourmemory": (0, 21, 0.17, 0.88, 1, 0.7365),
    "atomicmemory": (0, 9, 0.15, 0.95, 0, 0.8449),
    "gbrain": (5, 34, 0.14, 0.17, 1, 0.0),
    "zep": (0, 9, 0.09, 0.95, 0, 0.8888),
    "vector": (0, 11, 0.09, 1.00, 0, 0.9142),
    "hindsight": (0, 9, 0.06, 1.00, 0, 0.9285),
    "mem0": (0, 9, 0.06, 0.99, 0, 0.9398),
    "a-mem": (0, 9, 0.06, 0.99, 0, 0.9259),
    "cognee": (0, 11, 0.05, 0.92, 1, 0.8459),
}
"""From its README of 27 June 2026 (18c7955)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One case or turn: its query, the beliefs known at the time of the query, and the hits, best first."""

    case: Mapping[str, Any]
    name: str
    user: str
    query: str
    known: Mapping[str, Belief]
    found: tuple[tuple[str, float], ...]


class Store:
    """Beliefs in Slowwave. prefix: the prefix of names of agents and rooms, so that two stores share nothing."""

    def __init__(self, recorder: Recorder, reader: Memory, prefix: str, share: float) -> None:
        self._recorder, self._reader, self._prefix, self._share = recorder, reader, prefix, share
        self.known: dict[str, Belief] = {}
        self._added = 0

    def add(self, *beliefs: Belief) -> None:
        """Record beliefs, each in a separate session, and flush them."""
        for belief in beliefs:
            self.known[belief["_id"]] = belief
            self._added += 1
            at = BEGUN + timedelta(minutes=self._added)
            message = {"role": "user", "content": belief_text(belief), "at": at.isoformat()}
            agent, scope = self._names(belief["user_id"], belief["scope"][0])
            self._recorder.memory.turn_completed(agent, belief["_id"], [message], scope=scope)
            self._recorder.flush(agent, belief["_id"])
        self._recorder.settle()

    def ask(self, case: Mapping[str, Any], name: str, user: str, query: str) -> Asked:
        """Search, in the first scope of the case."""
        agent, scope = self._names(user, case["scope"][0])
        hits = self._reader.search(agent, query, LIMIT, scopes=[scope], min_share=self._share) if query.strip() else []
        found = tuple((session, hit.relevance or 0.0) for hit in hits for session, _ in hit.sources)
        return Asked(case, name, user, query, dict(self.known), found)

    def _names(self, user: str, scope: str) -> tuple[str, str]:
        return f"{self._prefix} {user}", f"room:{self._prefix} {user} {scope}"


def loaded(name: str) -> Any:
    """Return one file of the benchmark."""
    return json.loads(data_file(f"precisionmem-{name}.json").read_text(encoding="utf-8"))


def ask_cases(store: Store) -> list[Asked]:
    """Ask the 77 cases, over the beliefs of the seed."""
    store.add(*loaded("beliefs.seed"))
    cases = loaded("retrieval.cases")
    return [store.ask(case, case["caseId"], case.get("userId", USER), case["query"]) for case in cases]


def ask_sessions(store: Store) -> list[Asked]:
    """Ask the 12 turns; between them, beliefs are added, and recorded again with more aliases."""
    store.add(*loaded("beliefs.seed"))
    asked = []
    for session in loaded("session-retrieval.cases"):
        for turn in session["turns"]:
            asked.append(store.ask(turn, session["caseId"], USER, turn["userMessage"]))
            if made := turn.get("createBeliefAtTurn"):
                store.add(made)
            if more := turn.get("updateBeliefAtTurn"):
                belief = store.known[more["beliefId"]]
                store.add({**belief, "aliases": [*belief["aliases"], *more.get("addAliases", ())]})
    return asked


def judged(asked: Asked, floor: float, pinned: frozenset[str]) -> Verdict:
    """Return the verdict without hits below a relevance."""
    names = [name for name, relevant in asked.found if relevant >= floor]
    built = build(asked.known, lambda *_: names, asked.user, asked.case, asked.query)
    if "turnIndex" in asked.case:
        return judge_turn(asked.name, asked.case, built)
    return judge_case(asked.case, built, pinned)


@dataclass(frozen=True, slots=True)
class Score:
    """The metrics of the benchmark, as defined in its README."""

    active: int
    passed: int
    precision: float
    recall: float
    turns: int
    drift: float
    of_others: int = 0
    halves: str = ""

    def line(self) -> str:
        """Return one line of the table."""
        cases = f"{self.active:>6} {self.passed:>6} {self.precision:>9.3f} {self.recall:>6.3f}"
        return f"{cases} {self.turns:>5} {self.drift:>6.3f} {self.of_others:>6}  {self.halves}"


def score(cases: Sequence[Verdict], turns: Sequence[Verdict], known: Mapping[str, Belief]) -> Score:
    """Compute the metrics. of_others: the number of cases with a hit from another user; halves: the active passes of
    the even and of the odd cases.
    """

    def passes(half: Sequence[Verdict]) -> str:
        return f"{sum(one.kind == 'active' for one in half)} of {sum(bool(one.expected) for one in half)}"

    return Score(
        active=sum(one.kind == "active" for one in cases),
        passed=sum(not one.failures for one in cases),
        precision=statistics.mean(one.precision for one in cases if one.precision is not None),
        recall=statistics.mean(one.recall for one in cases if one.recall is not None),
        turns=sum(not one.failures for one in turns),
        drift=statistics.mean(drift(one) for one in turns),
        of_others=sum(any(known[name]["user_id"] != USER for name in one.built.relevant) for one in cases),
        halves=f"{passes(cases[::2])}, {passes(cases[1::2])}",
    )


def measure(share: float) -> dict[str, tuple[list[Asked], list[Asked]]]:
    """Return the hits of search by words and with vectors for every case and turn."""
    with recall_memories() as (words, vectors, recorder, _):
        return {
            way: (
                ask_cases(Store(recorder, reader, f"{way} cases", share)),
                ask_sessions(Store(recorder, reader, way, share)),
            )
            for way, reader in (("words", words), ("vectors", vectors))
        }


def tell_failures(cases: Sequence[Verdict]) -> None:
    """Print the failures by class: the kinds of failures of a case, and its category."""
    classes: dict[tuple[str, str], list[Verdict]] = {}
    for one in cases:
        kinds = " and ".join(sorted({failure.partition(":")[0] for failure in one.failures}))
        if kinds:
            classes.setdefault((kinds, one.category), []).append(one)
    for (kinds, category), failed in sorted(classes.items(), key=lambda item: -len(item[1])):
        print(f"\n{len(failed)} of {category}: {kinds}")
        for one in failed:
            found = len(one.built.relevant)
            print(f"    {one.name}: {found} returned, {len(one.expected)} expected; {'; '.join(one.failures)}")


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--relevance", type=float, default=0.3, help="the floor whose figures are noted")
    parser.add_argument("--share", type=float, default=0.8, help="the lowest share of the strongest hit's evidence")
    parser.add_argument("--failures", action="store_true", help="print what fails, by class")
    options = parser.parse_args()
    found = measure(options.share)
    pinned = frozenset(b["_id"] for b in loaded("beliefs.seed") if b["pinned"] and b["user_id"] == USER)
    print(f"{'':<28}active passed precision recall turns  drift others  even, odd")
    for way, (cases, turns) in found.items():
        for floor in sorted({*FLOORS, options.relevance}):
            verdicts = [judged(one, floor, pinned) for one in cases]
            ours = score(verdicts, [judged(one, floor, pinned) for one in turns], cases[-1].known)
            print(f"{f'Slowwave, {way}, from {floor:.2f}':<28}{ours.line()}")
            if floor == options.relevance:
                tell(way, ours)
                if options.failures:
                    tell_failures(verdicts)
    for name, (active, passed, precision, recall, turns_passed, drifted) in PUBLISHED.items():
        print(f"{name:<28}{Score(active, passed, precision, recall, turns_passed, drifted).line()}")
    return 0


def tell(way: str, ours: Score) -> None:
    """Note the rows of the common table, with the best published system by other authors than the benchmark's."""
    name, best = list(PUBLISHED.items())[1]
    figures = (
        ("active passes of 43", ours.active, best[0], 30, ">= 1"),
        ("mean precision", ours.precision, best[2], 0.6, ">= 1"),
        ("mean drift", ours.drift, best[5], 0.1, "<= 1"),
    )
    for what, mine, theirs, required, bound in figures:
        note(Row("PrecisionMemBench", f"{way}: {what}", mine, name, theirs, "", mine / theirs))
        note(Row("PrecisionMemBench", f"{way}: {what}", mine, "required", required, "", mine / required, bound))
    note(
        Row(
            "PrecisionMemBench",
            f"{way}: beliefs of other users",
            ours.of_others,
            "required",
            0,
            "",
            ours.of_others,
            "<= 0",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
