"""Ordinary sentences from public conversations and from this project: every redaction in them is a false alarm."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from proof.redaction.cases import load
from proof.redaction.values import value_of

DRAWN = 20
"""How often each hard sentence is filled with other numbers."""
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")


def sentences(folder: Path) -> dict[str, list[str]]:
    """Yield the sentences of each data set of the folder, in order; a missing data set is skipped."""
    found = {name: read(folder / file) for name, file, read in _SETS if (folder / file).is_file()}
    return {name: [part for text in texts for part in _parts(text)] for name, texts in found.items()}


def hard(half: str, seed: int) -> Iterator[tuple[str, str]]:
    """Return the language and the text of each hard sentence of a half ("fit" or "held"), with numbers from
    the seed.
    """
    for language, forms in load("hard.toml")[half].items():
        for form in forms:
            random = Random(f"{seed} {form}")
            for _ in range(DRAWN if "<" in form else 1):
                yield language, value_of(form, random)


def _parts(text: str) -> Iterator[str]:
    return (part.strip() for part in _ENDS.split(text) if any(map(str.isalnum, part)))


def _locomo(file: Path) -> list[str]:
    talks = [one["conversation"] for one in json.loads(file.read_text("utf-8"))]
    sessions = [turns for talk in talks for turns in talk.values() if isinstance(turns, list)]
    return [turn["text"] for turns in sessions for turn in turns]


def _realmem(file: Path) -> list[str]:
    people = json.loads(file.read_text("utf-8")).values()
    return [turn["content"] for sessions in people for session in sessions for turn in session["turns"]]


def _lines(file: Path) -> Iterator[Any]:
    return (json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip())


def _tau(file: Path) -> list[str]:
    turns = [turn for trial in _lines(file) for turn in trial["turns"]]
    return list(dict.fromkeys(str(turn["content"]) for turn in turns if turn.get("content")))


def _msc(file: Path) -> list[str]:
    return [turn["text"] for one in _lines(file) for turn in one["dialog"]]


def _sick(file: Path) -> list[str]:
    return list(dict.fromkeys(text for pair in _lines(file) for text in (pair["a"], pair["b"])))


_SETS: tuple[tuple[str, str, Callable[[Path], list[str]]], ...] = (
    ("LoCoMo", "locomo-dev.json", _locomo),
    ("RealMem", "realmem-dev.json", _realmem),
    ("tau-bench", "tau-airline-dev.jsonl", _tau),
    ("MSC", "msc-memories-dev.jsonl", _msc),
    ("SICK", "sick-dev.jsonl", _sick),
)
