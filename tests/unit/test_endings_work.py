"""Open work: what tells it, what settles it, and when it expires."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave_server.domain.endings.work import expires_at, settles, work_of

SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("work", "outcome"),
    [
        ("The user is trying to fix the login bug.", "The user fixed the login bug by clearing the cache."),
        ("The user is working on the tax return for 2025.", "The tax return for 2025 is done."),
        ("Maya needs to book the ferry to Gotland.", "Book ferry succeeded: the ferry to Gotland was booked."),
        ("The user will send the contract to Lena.", "The user sent the contract to Lena."),
        ("The user is migrating the billing service.", "The billing service has been migrated."),
        ("The user has to choose a wedding photographer.", "The user decided: the wedding photographer is Ana Ruiz."),
        ("The user is trying to renew the passport of Jonas.", "The user managed to renew the passport of Jonas."),
    ],
)
def test_outcome_settles_its_work(work: str, outcome: str) -> None:
    found = work_of(work)
    assert found is not None
    assert settles(outcome, found)


@pytest.mark.parametrize(
    ("work", "outcome"),
    [
        ("The user is trying to fix the login bug.", "The user has not fixed the login bug."),
        ("The user is trying to fix the login bug.", "The user will have the login bug fixed tomorrow."),
        ("The user is trying to fix the login bug.", "The user fixed the search bug."),
        ("The user is trying to fix the login bug.", "The user described the login bug."),
        ("The user is working on the tax return for 2025.", "The tax return for 2024 is done."),
        ("The user will call the bank.", "The bank called."),
        ("The user is working on the marketing plan for Acme.", "The marketing lead of Acme has been promoted."),
        ("The user will send the contract to Lena.", "Zoe sent the contract to Lena."),
        ("The user is working on it.", "It is done."),
        ("The user needs to book the ferry to Gotland.", "The user almost booked the ferry to Gotland."),
    ],
)
def test_other_statements_settle_nothing(work: str, outcome: str) -> None:
    found = work_of(work)
    assert found is None or not settles(outcome, found)


@pytest.mark.parametrize(
    "said", ["The user likes tea.", "The user was trying to sleep.", "The user works at the harbour.", ""]
)
def test_other_statements_are_no_open_work(said: str) -> None:
    assert work_of(said) is None


def test_work_expires_some_days_after_it_was_last_said() -> None:
    assert expires_at("The user is trying to fix the login bug.", SAID, 30) == SAID + timedelta(days=30)


def test_work_of_a_later_day_expires_after_that_day() -> None:
    day = datetime(2027, 1, 9, tzinfo=UTC)
    assert expires_at("The user will move to Turin (2027-01-09).", SAID, 30) == day + timedelta(days=30)
    assert expires_at("The user will move to Turin (2027-13-45).", SAID, 30) == SAID + timedelta(days=30)
