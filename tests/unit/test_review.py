"""Tiers, expiry and answers of review: rules without a database (mistakes 22 and 41)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.review import (
    TESTIMONY,
    ReviewedMemory,
    Tier,
    accept,
    doubtful,
    ends_at,
    expires,
    keep_both,
    keep_one,
    lapse,
    merge_pair,
    newer_first,
    reject,
    survivor_of,
    tier_of,
)

NOW = datetime(2026, 3, 5, 14, tzinfo=UTC)
moments = st.integers(0, 50).map(lambda days: NOW - timedelta(days=days))


@st.composite
def spoken(draw: st.DrawFn, number: int) -> ReviewedMemory:
    first, last = sorted((draw(moments), draw(moments)))
    return statement(
        number,
        status=draw(st.sampled_from(["inbox", "episode", "active", "review"])),
        trust=draw(st.sampled_from(["hand", "user", "assistant", "task", "import"])),
        importance=draw(st.floats(0, 1)),
        valid_from=first,
        reaffirmed_at=last,
        before_review=draw(st.sampled_from(["inbox", "episode", "active"])),
    )


def statement(number: int, **columns: Any) -> ReviewedMemory:
    values: dict[str, Any] = {
        "status": "inbox",
        "trust": "user",
        "importance": 0.5,
        "valid_from": NOW - timedelta(days=number),
        "reaffirmed_at": NOW - timedelta(days=number),
    }
    return ReviewedMemory(id=UUID(int=number), **(values | columns))


@pytest.mark.parametrize(
    ("trusts", "importance", "tier"),
    [
        (("user", "user"), 0.7, "high"),
        (("user", "user"), 0.69, "medium"),
        (("hand", "import"), 0.1, "high"),
        (("assistant", "user"), 0.9, "low"),
        (("task", "import"), 0.9, "low"),
        (("user",), 0.5, "medium"),
        (("import",), 0.5, "low"),
    ],
)
def test_a_tier_follows_from_whose_words_are_at_stake_and_how_much(
    trusts: tuple[str, ...], importance: float, tier: str
) -> None:
    sides = [statement(n, trust=trust, importance=importance) for n, trust in enumerate(trusts, start=1)]
    assert tier_of(*sides) == tier
    assert tier_of(*reversed(sides)) == tier


def test_mistake_41_every_tier_ends_and_the_graver_the_later() -> None:
    tiers: tuple[Tier, ...] = ("low", "medium", "high")
    ends = [expires(tier, NOW) for tier in tiers]
    assert ends == [NOW + timedelta(days=14), NOW + timedelta(days=30), NOW + timedelta(days=90)]


@given(spoken(1), spoken(2))
def test_only_a_claim_against_a_persons_words_leaves_answers_whichever_came_first(
    a: ReviewedMemory, b: ReviewedMemory
) -> None:
    claim = doubtful(a, b)
    assert claim == doubtful(b, a)
    if claim is None:
        assert (a.trust in TESTIMONY) == (b.trust in TESTIMONY)
    else:
        assert claim.trust not in TESTIMONY


@given(spoken(1), spoken(2))
def test_i9_which_is_newer_and_when_the_older_ended_depend_on_event_time_alone(
    a: ReviewedMemory, b: ReviewedMemory
) -> None:
    newer, older = newer_first(a, b)
    assert (newer, older) == newer_first(b, a)
    assert newer.reaffirmed_at >= older.reaffirmed_at
    assert older.valid_from <= ends_at(older, newer) <= newer.reaffirmed_at
    assert ends_at(older, newer) >= older.reaffirmed_at


@given(spoken(1), spoken(2), st.booleans())
def test_whatever_is_decided_nothing_stays_in_review_and_the_kept_one_is_readable(
    a: ReviewedMemory, b: ReviewedMemory, first: bool
) -> None:
    keep = a.id if first else b.id
    for answer in (keep_one(a, b, keep), keep_both(a, b), merge_pair(a, b, keep)):
        after = {s.id: s.status for s in (a, b)}
        after |= {change.memory: change.fields.get("status", after[change.memory]) for change in answer.changes}
        if answer.merge is not None:
            assert answer.merge[0].id == keep
            after[answer.merge[1].id] = "archived"
        assert "review" not in after.values()
        assert after[keep] != "archived"
        assert len({change.memory for change in answer.changes}) == len(answer.changes)
        assert answer.conflict in {"resolved", "dismissed"}


def test_mistake_22_the_later_value_replaces_the_earlier_from_its_own_time_on() -> None:
    mysql, postgres = statement(1), statement(2)
    (change,) = keep_one(postgres, mysql, mysql.id).changes
    assert (change.memory, change.action, change.successor) == (postgres.id, "superseded", mysql.id)
    assert change.fields == {"valid_to": mysql.valid_from, "superseded_by": mysql.id}


def test_where_the_earlier_value_is_right_the_later_one_was_never_true() -> None:
    wrong, right = statement(1), statement(2)
    (change,) = keep_one(right, wrong, right.id).changes
    assert (change.memory, change.fields) == (wrong.id, {"status": "archived", "archive_reason": "rejected"})


def test_what_was_settled_on_the_way_is_not_done_twice() -> None:
    newer, older = statement(1), statement(2, superseded_by=UUID(int=1), valid_to=NOW)
    assert keep_one(newer, older, newer.id).changes == ()
    assert reject(statement(1, status="archived")).changes == ()
    assert accept(statement(1)).changes == ()


def test_what_is_archived_can_be_neither_kept_nor_merged() -> None:
    gone, there = statement(1, status="archived"), statement(2)
    with pytest.raises(ValueError, match="archived"):
        keep_one(gone, there, gone.id)
    with pytest.raises(ValueError, match="archived"):
        merge_pair(gone, there, there.id)
    with pytest.raises(ValueError, match="neither"):
        keep_one(gone, there, UUID(int=3))


def test_mistake_41_a_claim_that_nobody_judged_is_archived_and_a_conflict_is_no_longer_asked() -> None:
    claim = statement(1, status="review")
    answer = lapse(claim)
    assert (answer.state, answer.conflict) == ("expired", "resolved")
    assert answer.changes[0].fields == {"status": "archived", "archive_reason": "review expired"}
    for nothing in (lapse(None), lapse(statement(1))):
        assert (nothing.state, nothing.conflict, nothing.changes) == ("expired", "open", ())


def test_of_two_that_say_the_same_the_better_witness_stays() -> None:
    said, claimed, waiting = statement(2), statement(1, trust="assistant"), statement(1, status="review")
    assert survivor_of(said, claimed) == survivor_of(claimed, said) == said.id
    assert survivor_of(said, waiting) == said.id
    assert survivor_of(said, statement(1)) == UUID(int=1)
