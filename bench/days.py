"""Compare Slowwave's summaries of days with people's: ROUGE against LoCoMo's own session summaries.

Every session is a separate day (no two sessions of a conversation share a calendar day). In a second run, three
consecutive sessions are one day, and their summaries are joined. The baselines have exactly the same number of words:
the first sentences (lead), a random pick (mean of five seeds) and a plain LexRank (TF-IDF cosine, PageRank of
networkx), each with and without the speaker's name before the sentence; for each metric the better of the two counts.
Slowwave's summary is measured as rendered, including headings. Weights were chosen on three conversations; the other
two are held out.

    .venv/bin/python -m bench.days        (data: $SLOWWAVE_SHARED or ../shared, data/locomo-dev.json)
"""

import json
import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

import networkx as nx
from rouge_score.rouge_scorer import RougeScorer

from bench.msc_data import data_file
from bench.report import Row, note
from slowwave_server.domain.events import Event
from slowwave_server.domain.summaries import cut_segments, merge_lines, summarize_segment

CHOSEN_ON = ("conv-26", "conv-30", "conv-42")
LENGTHS = (110, 220)
TOGETHER = 3
METRICS = ("rouge1", "rouge2", "rougeL")
SEEDS = range(5)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
Scores = tuple[float, float, float]
Pick = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Day:
    """Sessions of one day with their summaries from the data set, as one text."""

    conversation: str
    day: date
    sessions: tuple[tuple[str, tuple[Event, ...]], ...]
    reference: str


def sessions_as_days() -> list[Day]:
    """Return every session as a day."""
    loaded = json.loads(data_file("locomo-dev.json").read_text(encoding="utf-8"))
    return [day for entry in loaded for day in _days_of(entry)]


def _days_of(entry: dict[str, Any]) -> Iterator[Day]:
    said = entry["conversation"]
    for session in sorted((k for k in said if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
        begun = datetime.strptime(said[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        events = tuple(
            Event(
                seq,
                "user" if line["speaker"] == said["speaker_a"] else "assistant",
                "user" if line["speaker"] == said["speaker_a"] else "assistant",
                line["text"],
                begun + timedelta(minutes=seq),
                name=line["speaker"],
            )
            for seq, line in enumerate(said[session], 1)
        )
        reference = entry["session_summary"].get(f"{session}_summary")
        if reference:
            yield Day(entry["sample_id"], begun.date(), ((session, events),), reference)


def joined(days: Sequence[Day]) -> list[Day]:
    """Return three consecutive sessions of a conversation as one day; the rest of a conversation is excluded."""
    found: list[Day] = []
    for _, group in groupby(days, key=lambda day: day.conversation):
        own = list(group)
        for at in range(0, len(own) - TOGETHER + 1, TOGETHER):
            some = own[at : at + TOGETHER]
            sessions = tuple(session for day in some for session in day.sessions)
            found.append(replace(some[0], sessions=sessions, reference=" ".join(day.reference for day in some)))
    return found


def ours(day: Day, max_words: int) -> str:
    """Return the summary of a day as a reader sees it."""
    parts = [
        summarize_segment(segment.events, session=session, agent=day.conversation)
        for session, events in day.sessions
        for segment in cut_segments(events)
    ]
    return merge_lines(parts, max_words=max_words).text


def said_in(day: Day, *, names: bool) -> list[str]:
    """The sentences of a day in order."""
    return [
        f"{event.name}: {sentence}" if names else sentence
        for _, events in day.sessions
        for event in events
        for sentence in _END.split(event.content)
        if sentence.strip()
    ]


def lead(sentences: Sequence[str]) -> Sequence[int]:
    """The sentences in their order."""
    return range(len(sentences))


def at_random(seed: int) -> Pick:
    """The sentences in random order."""
    return lambda sentences: random.Random(seed).sample(range(len(sentences)), len(sentences))


def lexrank(sentences: Sequence[str]) -> Sequence[int]:
    """Return the sentences sorted by PageRank in the graph of similar sentences."""
    counts = [Counter(re.findall(r"\w+", sentence.lower())) for sentence in sentences]
    frequency = Counter(word for count in counts for word in count)
    units = [_unit(count, frequency, len(counts)) for count in counts]
    graph = nx.Graph()
    graph.add_nodes_from(range(len(units)))
    for a, one in enumerate(units):
        for b in range(a):
            alike = sum(value * units[b].get(word, 0.0) for word, value in one.items())
            if alike > 0.1:
                graph.add_edge(a, b, weight=alike)
    ranks = nx.pagerank(graph, weight="weight")
    return sorted(ranks, key=lambda at: (-ranks[at], at))


def _unit(count: Counter[str], frequency: Counter[str], total: int) -> dict[str, float]:
    weighed = {word: n * math.log(total / frequency[word]) for word, n in count.items()}
    norm = math.sqrt(sum(value * value for value in weighed.values())) or 1.0
    return {word: value / norm for word, value in weighed.items()}


def picked(sentences: Sequence[str], pick: Pick, words: int) -> str:
    """Return sentences in the order of `pick` until there are `words` words (the last one cut), in the order of the
    day.
    """
    chosen: list[tuple[int, str]] = []
    for at in pick(sentences):
        if words <= 0:
            break
        chosen.append((at, " ".join(sentences[at].split()[:words])))
        words -= len(sentences[at].split())
    return "\n".join(text for _, text in sorted(chosen))


class Judge:
    """ROUGE-1, -2 and -L F1 with stemming."""

    def __init__(self) -> None:
        self._scorer = RougeScorer(list(METRICS), use_stemmer=True)

    def __call__(self, reference: str, text: str) -> Scores:
        scores = self._scorer.score(reference, text)
        one, two, longest = (scores[metric].fmeasure for metric in METRICS)
        return one, two, longest


def mean(scores: Sequence[Scores]) -> Scores:
    """The mean of each metric."""
    one, two, longest = (statistics.mean(column) for column in zip(*scores, strict=True))
    return one, two, longest


def scores_of(day: Day, max_words: int, judge: Judge) -> dict[str, Scores]:
    """Return the scores of Slowwave's summary, and of the baselines at the same length, with and without names."""
    text = ours(day, max_words)
    words = len(text.split())
    found = {"ours": judge(day.reference, text)}
    ways: dict[str, list[Pick]] = {"lead": [lead], "random": [at_random(s) for s in SEEDS], "LexRank": [lexrank]}
    for names in (False, True):
        sentences = said_in(day, names=names)
        for way, picks in ways.items():
            found[f"{way}{' with names' if names else ''}"] = mean(
                [judge(day.reference, picked(sentences, pick, words)) for pick in picks]
            )
    return found


def show(title: str, scored: Sequence[dict[str, Scores]]) -> list[tuple[float, str, float]]:
    """Print the means. Return for each metric Slowwave's score, the best baseline and its score."""
    means = {way: mean([scores[way] for scores in scored]) for way in scored[0]}
    print(f"\n{f'{len(scored)} {title}':<46}" + "".join(f"{name:>10}" for name in METRICS))
    for way, figures in means.items():
        print(f"  {way:<44}" + "".join(f"{figure:>10.3f}" for figure in figures))
    beside = []
    for at, figure in enumerate(means["ours"]):
        best = max((way for way in means if way != "ours"), key=lambda way: means[way][at])
        beside.append((figure, best, means[best][at]))
    print(f"  {'ours over the best of the others':<44}" + "".join(f"{own / other:>10.2f}" for own, _, other in beside))
    return beside


def main() -> None:
    """Compare at two lengths, on all conversations and on the held-out ones, and note the rows."""
    judge, days = Judge(), sessions_as_days()
    for length in LENGTHS:
        scored = [scores_of(day, length, judge) for day in days]
        for metric, (own, best, other) in zip(METRICS, show(f"sessions, {length} words", scored), strict=True):
            note(Row("day summaries", f"{metric} at {length} words", own, best, other, "", own / other, ">= 1"))
        for title, tuned in (("sessions tuned on", True), ("sessions apart", False)):
            part = [s for s, day in zip(scored, days, strict=True) if (day.conversation in CHOSEN_ON) is tuned]
            show(f"{title}, {length} words", part)
    show("days of three sessions, 220 words", [scores_of(day, 220, judge) for day in joined(days)])


if __name__ == "__main__":
    main()
