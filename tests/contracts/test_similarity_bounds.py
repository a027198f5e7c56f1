"""What must hold of the similarity on labelled pairs, at the default thresholds and in one run."""

import json
from collections import Counter
from pathlib import Path

import pytest

from slowwave_server.domain.similarity import judge, read

Counts = dict[str, Counter[str]]


def counted(path: Path) -> Counts:
    """For each label, how often each verdict was given."""
    counts: Counts = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        counts.setdefault(pair["label"], Counter())[judge(read(pair["a"]), read(pair["b"])).verdict] += 1
    return counts


@pytest.fixture(scope="module")
def swaps(shared_data: Path) -> Counts:
    return counted(shared_data / "value-swaps.jsonl")


@pytest.fixture(scope="module")
def sick(shared_data: Path) -> Counts:
    return counted(shared_data / "sick-dev.jsonl")


def merged(counts: Counter[str]) -> int:
    return counts["duplicate"] + counts["merge"]


def test_mistake_22_swapped_values_are_conflicts_and_never_merged(swaps: Counts) -> None:
    assert merged(swaps["conflict"]) == 0
    assert swaps["conflict"]["conflict"] / swaps["conflict"].total() >= 0.8


def test_duplicates_are_found_and_other_subjects_are_not_merged(swaps: Counts) -> None:
    assert merged(swaps["duplicate"]) / swaps["duplicate"].total() >= 0.6
    assert merged(swaps["distinct"]) == 0


def test_mistake_21_contradictions_are_seen_and_hardly_ever_merged(sick: Counts) -> None:
    counts = sick["contradiction"]
    assert merged(counts) / counts.total() <= 1 / 200
    assert counts["conflict"] / counts.total() >= 0.8


def test_few_pairs_are_called_a_conflict_wrongly(sick: Counts) -> None:
    others = sick["neutral"] + sick["entailment"]
    assert others["conflict"] / others.total() <= 0.015
