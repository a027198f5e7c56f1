"""Load the same data twice: RealMem, its sessions captured and flushed from the first to the last, and in reverse.

It reports the share of questions with the same first ten hits in the same order, the share with the same scores, and
any@10 of both. Here a question sees all sessions. The search uses words only.

Run: python -m bench.recall_twice [--agents 1]
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby

from bench.recall_sets import SETS
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import Hit
from slowwave.settings import Settings
from slowwave_server.services.evaluation.recall import Recorder
from slowwave_server.services.evaluation.recall_data import RecallAgent, RecallEvent, read_recall
from slowwave_server.workers.scratch import rules_flusher, scratch_servers

FIRST = 10


def load(recorder: Recorder, agent: RecallAgent, sessions: Sequence[Sequence[RecallEvent]]) -> list[list[Hit]]:
    """Record sessions in this order, count words, and ask every question."""
    for session in sessions:
        recorder.record(agent.name, session)
    return [recorder.memory.search(agent.name, question.text, FIRST) for question in agent.questions]


def found(agent: RecallAgent, answers: Sequence[Sequence[Hit]]) -> list[bool]:
    """Return for each question True if its evidence is among the hits. Ids have the form SESSION#NUMBER."""
    return [
        any(f"{session}#{seq}" in question.evidence for hit in hits for session, seq in hit.sources)
        for question, hits in zip(agent.questions, answers, strict=True)
    ]


def said(hit: Hit) -> tuple[object, ...]:
    """Return a hit without the fields that differ between loads."""
    return hit.kind, hit.content, hit.valid_from, sorted(hit.sources)


def main() -> int:
    """Measure, print, note."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=100, help="so many persons")
    options = parser.parse_args()
    same, alike, forth_found, back_found = [], [], list[bool](), list[bool]()
    with ExitStack() as opened:
        settings = opened.enter_context(scratch_servers(Settings()))
        memory = opened.enter_context(Memory(settings))
        # Memories contain the name of the agent, so both loads use the same name.
        other_tenant = memory.for_tenant("reversed")
        recorder = Recorder(memory, opened.enter_context(rules_flusher(settings)))
        for agent in read_recall(json.dumps(line) for line in SETS["RealMem"](options.agents)):
            sessions = [list(run) for _, run in groupby(agent.events, key=lambda event: event.session)]
            forth = load(recorder, agent, sessions)
            back = load(replace(recorder, memory=other_tenant), agent, sessions[::-1])
            same += [list(map(said, one)) == list(map(said, two)) for one, two in zip(forth, back, strict=True)]
            alike += [
                [round(hit.score, 6) for hit in one] == [round(hit.score, 6) for hit in two]
                for one, two in zip(forth, back, strict=True)
            ]
            forth_found += found(agent, forth)
            back_found += found(agent, back)
            print(f"{agent.name}: {statistics.mean(same):.3f} the same so far", file=sys.stderr, flush=True)
    any_forth, any_back = statistics.mean(forth_found), statistics.mean(back_found)
    print(f"{len(same)} questions: the same hits in the same order {statistics.mean(same):.3f}, the same scores")
    print(f"{statistics.mean(alike):.3f}; any@{FIRST} {any_forth:.4f} and {any_back:.4f}")
    part = "RealMem, loaded twice"
    note(Row(part, "the same ten hits", statistics.mean(same), "required", 1, "", statistics.mean(same), ">= 1"))
    note(Row(part, "the same scores", statistics.mean(alike), "required", 1, "", statistics.mean(alike), ">= 1"))
    note(Row(part, f"any@{FIRST}", any_forth, "reversed", any_back, "", any_forth / (any_back or 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
