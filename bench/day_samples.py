"""Draw days for a blind reading: the conversation of a day and its summary by the rules.

A day of tau-bench is one dialogue of a customer and an airline's agent; a day of RealMem is all sessions of one person
on one date. Long turns are shortened for the reader.

Run: python -m bench.day_samples --set tau|realmem --seed 7 --number 10 --out FILE.md [--summaries]
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from bench import realmem_data, tau_data
from bench.msc_data import data_file
from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import cut_segments, merge_lines, summarize_segment

MAX_WORDS = 220
"""The default of `memory.days.max_summary_words`."""
SHOWN_TURN = 1500
SHOWN_TOOL = 600
END_MARK = "###STOP###"


@dataclass(frozen=True, slots=True)
class SampleDay:
    """One day. sessions: the name and the events of each, in the order of their starts."""

    title: str
    sessions: tuple[tuple[str, tuple[Event, ...]], ...]

    def summary(self, max_words: int = MAX_WORDS) -> str:
        """The summary that `slowwave` stores with its default settings."""
        parts = []
        for session, events in self.sessions:
            preceding: tuple[Event, ...] = ()
            for segment in cut_segments(events):
                parts.append(summarize_segment(segment.events, session=session, preceding=preceding))
                preceding = segment.events[-1:]
        return merge_lines(parts, max_words=max_words).text

    def told(self) -> str:
        """Return the conversation in readable form."""
        parts: list[str] = []
        for session, events in self.sessions:
            parts.append(f"#### Session {session}")
            parts += [f"**{event.role}:** {_shortened(event)}" for event in events]
        return "\n\n".join(parts)


def tau_days() -> list[SampleDay]:
    """Yield each dialogue as a day, without the mark with which the simulated customer ends it."""
    days: list[SampleDay] = []
    for dialogue in tau_data.dialogues(data_file(tau_data.FILE)):
        said = (replace(event, content=event.content.replace(END_MARK, "").strip()) for event in dialogue.events)
        days.append(SampleDay(dialogue.name, ((dialogue.name, tuple(event for event in said if event.content)),)))
    return days


def realmem_days() -> list[SampleDay]:
    """The sessions of each person and date."""
    days: list[SampleDay] = []
    for person in realmem_data.people(data_file(realmem_data.FILE)):
        for date, group in groupby(person.sessions, key=lambda session: session.events[0].happened_at.date()):
            sessions = tuple((session.name, session.events) for session in group)
            days.append(SampleDay(f"{person.name} {date}", sessions))
    return days


def _shortened(event: Event) -> str:
    size = SHOWN_TOOL if event.kind == "tool" else SHOWN_TURN
    text = event.content
    return text if len(text) <= size else f"{text[: size * 2 // 3]}\n[…]\n{text[-size // 3 :]}"


def report(days: Sequence[SampleDay], *, summaries_only: bool) -> str:
    """The days as Markdown."""
    parts: list[str] = []
    for number, day in enumerate(days, 1):
        parts.append(f"## {number}. {day.title}")
        if not summaries_only:
            parts += ["### The conversation", day.told()]
        parts += ["### The summary", day.summary().replace("### ", "#### ")]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Draw days and write them to a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--set", choices=("tau", "realmem"), required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--number", type=int, default=10)
    parser.add_argument("--summaries", action="store_true", help="leave the conversations out")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    days = tau_days() if options.set == "tau" else realmem_days()
    chosen = random.Random(options.seed).sample(days, options.number)
    options.out.write_text(report(chosen, summaries_only=options.summaries), encoding="utf-8")


if __name__ == "__main__":
    main()
