"""The counts by which memories are compared with what people keep."""

from slowwave_server.domain.evaluation import Agreement, agreement


def test_shares_follow_from_the_counts() -> None:
    found = agreement(frozenset((1, 2, 3, 4)), frozenset((2, 3, 9)))
    assert found == Agreement(kept=4, gold=3, both=2)
    assert (found.precision, found.recall) == (0.5, 2 / 3)
    assert found.f1 == 4 / 7


def test_counts_of_conversations_add_up() -> None:
    assert Agreement(4, 3, 2) + Agreement(1, 0, 0) == Agreement(5, 3, 2)


def test_nothing_kept_and_nothing_gold_is_zero() -> None:
    assert (Agreement().precision, Agreement().recall, Agreement().f1) == (0.0, 0.0, 0.0)
