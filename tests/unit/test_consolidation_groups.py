"""Groups and values are functions of the set: no order of arrival matters, and no chain of likenesses is one memory."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.consolidation.groups import connected, groups, survivor
from slowwave_server.domain.consolidation.known import TRUSTS, MemoryRevision
from slowwave_server.domain.consolidation.values import Valued, settle_values, valued
from tests.support.revising import revision

BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
LATER = BEGAN + timedelta(days=100)


def known(
    number: int, content: str = "", *, day: int = 0, trust: str = "user", again: int | None = None
) -> MemoryRevision:
    return revision(
        content or f"statement {number}",
        BEGAN + timedelta(days=day),
        trust=trust,
        id=UUID(int=number),
        reaffirmed_at=BEGAN + timedelta(days=day if again is None else again),
    )


def next_to_each_other(a: MemoryRevision, b: MemoryRevision) -> bool:
    return abs(a.id.int - b.id.int) <= 1


def test_mistake_20_a_chain_of_likenesses_makes_no_mega_memory() -> None:
    chain = [known(number, day=number) for number in range(20)]
    found = groups(chain, next_to_each_other)
    assert max(len(group) for group in found) == 2
    assert sorted(memory.id for group in found for memory in group) == [memory.id for memory in chain]


@given(
    st.integers(2, 9).flatmap(
        lambda size: st.tuples(
            st.permutations(range(size)),
            st.sets(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))),
            st.lists(st.integers(0, 3), min_size=size, max_size=size),
        )
    )
)
def test_every_pair_of_a_group_may_merge_and_the_order_of_arrival_decides_nothing(
    drawn: tuple[Sequence[int], set[tuple[int, int]], list[int]],
) -> None:
    order, alike, days = drawn
    members = [known(number, day=days[number]) for number in range(len(days))]

    def mergeable(a: MemoryRevision, b: MemoryRevision) -> bool:
        return (a.id.int, b.id.int) in alike or (b.id.int, a.id.int) in alike

    found = groups([members[place] for place in order], mergeable)
    assert {frozenset(group) for group in found} == {frozenset(group) for group in groups(members, mergeable)}
    for group in found:
        assert all(mergeable(a, b) for a in group for b in group if a.id != b.id)
        assert survivor(group) == survivor(group[::-1])


def test_connected_finds_the_whole_of_what_edges_join_and_nothing_else() -> None:
    ids = [UUID(int=number) for number in range(6)]
    edges = [(ids[0], ids[1]), (ids[1], ids[2]), (ids[3], ids[4])]
    assert connected(ids[:1], edges) == [frozenset(ids[:3])]
    assert connected(ids, edges) == [frozenset(ids[:3]), frozenset(ids[3:5])]


def employers(*said: tuple[str, int, str]) -> list[Valued]:
    found = [
        valued(known(number, f"Maya works at {name}", day=day, trust=trust))
        for number, (name, day, trust) in enumerate(said)
    ]
    return [value for value in found if value is not None]


def never(_a: UUID, _b: UUID) -> bool:
    return False


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Northwind", "Contoso", "Fabrikam"]),
            st.integers(0, 50),
            st.sampled_from(["hand", "user", "assistant"]),
        ),
        min_size=1,
        max_size=7,
        unique_by=lambda one: (one[0], one[1]),
    ),
    st.randoms(use_true_random=False),
)
def test_i9_what_ends_what_is_a_function_of_the_set(said: list[tuple[str, int, str]], dice: Random) -> None:
    group = employers(*said)
    shuffled = list(group)
    dice.shuffle(shuffled)
    one, other = settle_values(group, never, LATER), settle_values(shuffled, never, LATER)
    assert {(e.older.id, e.newer and e.newer.id, e.valid_to) for e in one[0]} == {
        (e.older.id, e.newer and e.newer.id, e.valid_to) for e in other[0]
    }
    for ended in one[0]:
        if ended.newer is not None:
            assert ended.newer.reaffirmed_at > ended.older.reaffirmed_at
            assert TRUSTS.index(ended.newer.trust) <= TRUSTS.index(ended.older.trust)
            assert ended.valid_to is not None
            assert ended.valid_to >= ended.older.valid_from
    assert any(ended.newer is None for ended in one[0]), "the last one holds"


def test_a_less_trusted_witness_ends_nothing_and_is_asked_about() -> None:
    ended, unclear = settle_values(employers(("Northwind", 0, "user"), ("Contoso", 9, "assistant")), never, LATER)
    assert [one.newer for one in ended] == [None, None]
    assert len(unclear) == 1


def test_two_values_of_one_moment_are_unclear_and_both_hold() -> None:
    ended, unclear = settle_values(employers(("Northwind", 3, "user"), ("Contoso", 3, "user")), never, LATER)
    assert [one.newer for one in ended] == [None, None]
    assert len(unclear) == 1


def test_a_pair_that_was_decided_for_good_is_left_alone() -> None:
    group = employers(("Northwind", 0, "user"), ("Contoso", 9, "user"))
    ended, unclear = settle_values(group, lambda _a, _b: True, LATER)
    assert [one.newer for one in ended] == [None, None]
    assert unclear == []


def test_a_value_that_holds_only_later_ends_nothing_yet() -> None:
    group = employers(("Northwind", 0, "user"), ("Contoso", 9, "user"), ("Fabrikam", 400, "user"))
    now, much_later = LATER, BEGAN + timedelta(days=400)
    before, _ = settle_values(group, never, now)
    assert [one.newer and one.newer.content for one in before] == ["Maya works at Contoso", None, None]
    after, _ = settle_values(group, never, much_later)
    assert [one.newer and one.newer.content for one in after] == [
        "Maya works at Contoso",
        "Maya works at Fabrikam",
        None,
    ]


def test_a_value_in_more_detail_ends_nothing() -> None:
    said = enumerate(
        ["Maya lives in Oslo", "Maya lives in Oslo Norway", "Maya is a trained cook", "Maya is a good cook"]
    )
    group = [value for day, text in said if (value := valued(known(day, text, day=day))) is not None]
    assert len(group) == len(["Oslo", "Norway", "trained", "good"])
    ended, unclear = settle_values(group[:2], never, LATER)
    ended += settle_values(group[2:], never, LATER)[0]
    assert [one.newer for one in ended] == [None] * len(group)
    assert unclear == []
