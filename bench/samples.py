"""Draw memories for a blind reading: the text of a memory and its source turns, without the extractor's version.

A reader gets FILE.jsonl. FILE.key.jsonl has the version, kind, speakers, importance and confidence of each id. `python
-m bench.pile` shuffles several files into one and counts the labels.

Run: python -m bench.samples --seed 7 --kind realmem --count 60 --extractor present --out FILE.jsonl
     [--only PATTERN]: sessions to draw from, such as people whom the judge never saw: Oliver_Smith or conv-48
     [--transcripts DIR]: JSON lines as `slowwave import events` takes them; --kind is then any name
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bench.replay import compared
from bench.session_data import Talk, talks
from slowwave_server.domain.candidates import Candidate
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.speech import name_of

SHOWN = 900
SHOWN_BEFORE = 300
COLUMNS = {"present": "present", "signals": "signals", "v1": "version 1"}
WORD = re.compile(r"\w{3,}")


def around(text: str, words: frozenset[str], size: int) -> str:
    """Return at most `size` characters of a text, around the part that shares most words with `words`."""
    if len(text) <= size:
        return text
    starts = range(0, len(text) - size // 2, size // 4)
    best = max(starts, key=lambda at: len(words & set(WORD.findall(text[at : at + size].lower()))))
    cut = text[best : best + size]
    return f"{'… ' if best else ''}{cut}{' …' if best + size < len(text) else ''}"


def shown(event: Event, words: frozenset[str], size: int) -> str:
    """Return a turn as a reader sees it."""
    return f"{event.name or event.role}: {around(event.content, words, size)}"


def entry(talk: Talk, memory: Candidate, sources: Sequence[Event]) -> dict[str, Any]:
    """Return one memory with its turns and the turn before the first one."""
    words = frozenset(WORD.findall(memory.content.lower()))
    first = sources[0].seq
    return {
        "memory": memory.content,
        "type": memory.type,
        "date": f"{memory.valid_from:%Y-%m-%d}",
        "before": shown(talk.events[first - 2], words, SHOWN_BEFORE) if first > 1 else "",
        "sources": [shown(event, words, SHOWN) for event in sources],
    }


def key_path(path: Path) -> Path:
    """Return the path of the key of a file of samples."""
    return path.with_suffix(".key.jsonl")


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> int:
    """Draw, and write the sample and its key. Return 2 if no memory is available."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--kind", required=True, help="realmem, tau, locomo, msc, or any name with --transcripts")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--extractor", choices=[*COLUMNS], default="present")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--transcripts", type=Path, help="a folder of *.jsonl as `slowwave import events` takes them")
    parser.add_argument("--only", default="", help="a pattern that AGENT/SESSION has to match, such as 'conv-48/'")
    options = parser.parse_args()
    chosen = compared()[COLUMNS[options.extractor]]
    try:
        every = [
            (talk, memory, sources)
            for talk in talks(options.kind, options.transcripts)
            if re.search(options.only, f"{talk.agent}/{talk.session}")
            for memory, sources in talk.remembered(chosen)
        ]
    except ValueError as error:
        parser.error(str(error))
    if not every:
        sys.stderr.write(f"no memories of {options.kind}: nothing to draw from\n")
        return 2
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    rows, keys = [], []
    for place, (talk, memory, sources) in enumerate(drawn):
        told = f"{options.kind} {options.extractor} {options.seed} {place} {talk.session} {memory.content}"
        named = {"id": blake2b(told.encode(), digest_size=6).hexdigest()}
        rows.append(named | entry(talk, memory, sources))
        about = {"kind": options.kind, "extractor": options.extractor, "session": talk.session}
        scores = {"importance": memory.importance, "confidence": memory.confidence, "signals": memory.signals}
        people = sorted({name_of(event, talk.agent) for event in talk.events if event.is_spoken})
        keys.append(named | about | scores | {"speakers": people})
    write(options.out, rows)
    write(key_path(options.out), keys)
    print(f"{len(rows)} of {len(every):,} memories of {options.kind} are in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
