"""Do the times in questions help search? LoCoMo's dev conversations, by category, with and without them.

Questions are asked at the time of the last session. The parameters of `slowwave.recall.timing` were chosen on the
conversations CHOSEN_ON of bench/locomo.py; the others are held out. Category 2 is about time; no other category may
lose. The second table repeats the questions that name a date, in words relative to a later day ("three days ago", "last
month"): without times such a question finds texts with these words; with times it finds what was said then.

    .venv/bin/python -m bench.locomo_times        (data: $SLOWWAVE_SHARED or ../shared, data/locomo-dev.json)
"""

import os
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from bench.locomo import CHOSEN_ON, DEPTHS, Conversation, Source, conversations, flush, flusher_of, record, servers
from bench.locomo_hybrid import categories
from bench.report import Row, note
from slowwave.memory import Memory
from slowwave.recall import search
from slowwave.recall.times import read_times
from slowwave_server.services.search.statistics import refresh_statistics, scopes_to_refresh

ABOUT_TIME = 2
GAIN = 0.04
"""The required gain of category 2 in its first ten."""
_NAMED = re.compile(
    r"\s*\b(?:in|on|during)\s+(?:(?:the )?\d{1,2} )?(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)(?: \d{1,2})?,? (?:20\d\d)\b",
    re.IGNORECASE,
)
Counted = dict[str, list[list[bool]]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question about an agent's conversation, at a time or without one."""

    agent: str
    text: str
    evidence: frozenset[Source]
    now: datetime | None


def found(connection: psycopg.Connection[TupleRow], asked: Asked) -> list[bool]:
    """Whether evidence is among the first 5, 10, 20."""
    hits = search(connection, "default", asked.agent, asked.text, limit=max(DEPTHS), now=asked.now)
    return [any(asked.evidence & set(hit.sources) for hit in hits[:depth]) for depth in DEPTHS]


def respelled(conversation: Conversation) -> Iterator[tuple[Asked, Asked]]:
    """Questions that name a day or a month, with their date and relative to a day soon after it."""
    end = max(turn.at for turn in conversation.turns)
    for question, evidence in conversation.questions:
        match = _NAMED.search(question)
        interval = read_times(match[0], end).interval if match else None
        if match is None or interval is None or interval.begin is None or interval.end is None:
            continue
        single = interval.end - interval.begin == timedelta(days=1)
        said, later = ("three days ago", 3) if single else ("last month", 35)
        text = f"{question[: match.start()]} {said}{question[match.end() :]}"
        now = (interval.begin + timedelta(days=later)).astimezone(UTC)
        yield Asked(conversation.name, question, evidence, end), Asked(conversation.name, text, evidence, now)


def tell(title: str, counted: Counted) -> None:
    """Print a table."""
    print(f"\n{title:<44}any@5 any@10 any@20")
    for what, rows in counted.items():
        shares = "  ".join(f"{statistics.mean(column):.3f}" for column in zip(*rows, strict=True))
        print(f"{what:<44}{shares}   of {len(rows)}")


def first_ten(rows: Sequence[Sequence[bool]]) -> float:
    """The share of any@10."""
    return statistics.mean(row[DEPTHS.index(10)] for row in rows)


def main() -> None:
    """Ingest, flush, search, print."""
    folder = Path(os.environ.get("SLOWWAVE_SHARED", Path(__file__).parent.parent.parent / "shared")) / "data"
    kinds, counted, spellings = categories(folder), defaultdict(list), defaultdict(list)
    with (
        servers() as settings,
        psycopg.connect(settings.database_url, autocommit=True) as connection,
        flusher_of(settings) as flusher,
        Memory(settings) as memory,
    ):
        for conversation in conversations(folder):
            flush(flusher, conversation.name, record(memory, conversation))
            with flusher.engine.begin() as counting:
                for scope_id in scopes_to_refresh(counting):
                    refresh_statistics(counting, scope_id, datetime.now(UTC))
            part = "chosen on" if conversation.name in CHOSEN_ON else "others"
            end = max(turn.at for turn in conversation.turns)
            for (text, evidence), kind in zip(conversation.questions, kinds[conversation.name], strict=True):
                for way, now in (("without times", None), ("with times", end)):
                    row = found(connection, Asked(conversation.name, text, evidence, now))
                    counted[f"category {kind}, {part}, {way}"].append(row)
                    counted[f"category {kind}, all, {way}"].append(row)
            for dated, relative in respelled(conversation):
                spellings["a date"].append(found(connection, dated))
                spellings["counted from today, with times"].append(found(connection, relative))
                timeless = Asked(relative.agent, relative.text, relative.evidence, None)
                spellings["counted from today, without times"].append(found(connection, timeless))
    tell("any evidence in the first 5 / 10 / 20", dict(sorted(counted.items())))
    tell("the same questions", dict(spellings))
    for kind in (1, 2, 3, 4):
        ours, before = (first_ten(counted[f"category {kind}, all, {way}"]) for way in ("with times", "without times"))
        required = before + GAIN * (kind == ABOUT_TIME)
        bound = "" if kind == ABOUT_TIME else ">= 1"
        note(Row("LoCoMo, times", f"category {kind}, first 10", ours, "wanted", required, "", ours / required, bound))


if __name__ == "__main__":
    main()
