"""Failures: an outage waits and uses nothing up; poison is found by halving; nothing loops for ever (I3)."""

from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.failures import LONGEST_DELAY_SECONDS, Action, FailureKind, backoff, decide


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_back_off_grows_to_a_bound_and_never_to_zero(failures: int, jitter: float) -> None:
    delay = backoff(failures, jitter)
    assert 1 <= delay <= LONGEST_DELAY_SECONDS
    assert backoff(failures + 1, jitter) >= delay or delay == LONGEST_DELAY_SECONDS


def test_a_server_that_names_a_time_is_obeyed() -> None:
    assert backoff(1, 0.0, retry_after=900) == 900


@given(st.integers(1, 100), st.integers(1, 1000), st.integers(1, 50), st.booleans(), st.floats(0, 1))
def test_mistake_10_an_outage_only_ever_waits(
    attempts: int, failures: int, events: int, bisecting: bool, jitter: float
) -> None:
    decision = decide(
        FailureKind.TRANSIENT,
        attempts=attempts,
        failures=failures,
        window_events=events,
        bisecting=bisecting,
        max_retries=3,
        jitter=jitter,
    )
    assert decision.action is Action.WAIT
    assert decision.delay_seconds > 0


@given(st.integers(1, 1000), st.integers(0, 5), st.data())
def test_mistake_16_whichever_event_is_poison_it_alone_is_quarantined_in_a_bounded_number_of_tries(
    count: int, max_retries: int, data: st.DataObject
) -> None:
    poison = data.draw(st.integers(1, count))
    watermark, limit, attempts, tries = 0, None, 0, 0
    quarantined = []
    while watermark < count:
        tries += 1
        attempts += 1
        size = min(limit or count, count - watermark)
        if not watermark < poison <= watermark + size:
            watermark, attempts, limit = watermark + size, 0, (limit * 2 if limit else None)
            continue
        decision = decide(
            FailureKind.POISON,
            attempts=attempts,
            failures=attempts,
            window_events=size,
            bisecting=limit is not None,
            max_retries=max_retries,
            jitter=0.5,
        )
        if decision.action is Action.HALVE:
            limit, attempts = decision.window_limit, 0
            assert limit is not None
            assert 1 <= limit < size
        elif decision.action is Action.QUARANTINE:
            assert size == 1
            quarantined.append(watermark + 1)
            watermark, attempts = watermark + 1, 0
    assert quarantined == [poison]
    assert tries <= 4 * (max_retries + 2) + 4 * count.bit_length() ** 2
