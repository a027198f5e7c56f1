"""Promotion: evidence, kind and importance decide; a confident idiom said once does not."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from slowwave_server.domain.consolidation.promotion import Bounds, evidence_for
from tests.support.revising import revision

BOUNDS = Bounds(confidence=0.7, importance=0.5)
AT = datetime(2026, 3, 2, tzinfo=UTC)
FACT = revision("Maya teaches chemistry.", AT, confidence=0.9, importance=0.9)


def test_statement_of_one_witness_waits() -> None:
    assert evidence_for(FACT, 1, BOUNDS) is None
    assert evidence_for(FACT, 2, BOUNDS) == "2 independent sources say it"


def test_unimportant_statement_waits_however_often_it_is_said() -> None:
    assert evidence_for(replace(FACT, importance=0.4), 9, BOUNDS) is None


@pytest.mark.parametrize(("kind", "trust"), [("instruction", "user"), ("decision", "user"), ("result", "task")])
def test_wish_decision_and_tool_need_one_witness(kind: str, trust: str) -> None:
    asked = replace(FACT, type=kind, trust=trust, importance=0.1)
    assert evidence_for(asked, 1, BOUNDS) is not None
    assert evidence_for(replace(asked, confidence=0.6), 1, BOUNDS) is None


@pytest.mark.parametrize(("kind", "trust"), [("result", "assistant"), ("decision", "assistant"), ("fact", "task")])
def test_agents_own_words_need_witnesses(kind: str, trust: str) -> None:
    said = replace(FACT, type=kind, trust=trust)
    assert evidence_for(said, 1, BOUNDS) is None
    assert evidence_for(said, 2, BOUNDS) is not None


def test_written_by_hand_is_promoted() -> None:
    assert evidence_for(replace(FACT, trust="hand", importance=0.1), 1, BOUNDS) == "written by hand"
