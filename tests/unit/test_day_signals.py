"""What of a day's events reaches its summary: what people and assistants mean, how runs ended, nothing of machines."""

from datetime import UTC, datetime, timedelta

import pytest

from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.noise import ENDINGS, MILESTONES
from slowwave_server.domain.summaries import summarize_segment

AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
WISH = "I want to learn how to sail before summer."


def said(content: str, kind: EventKind = "user", role: str | None = None, /, **metadata: object) -> Event:
    return Event(1, kind, role or kind, content, AT, "Maya" if kind == "user" else None, metadata)


def summary_of(*events: Event) -> str:
    """The lines of a day on which a wish was said, too, as text."""
    numbered = [
        Event(n, e.kind, e.role, e.content, AT + timedelta(minutes=n), e.name, e.metadata)
        for n, e in enumerate((said(WISH), *events), start=1)
    ]
    return " ".join(line.text for line in summarize_segment(numbered, session="monday"))


@pytest.mark.parametrize(
    "noise",
    [
        said("Zephyr worker 3 picked up job 17 from the internal queue.", "task", event="worker_started"),
        said("Zephyr heartbeat is fine.", "task"),
        said("Zephyr planner chose route 7 for this request.", "assistant", "debug"),
        said("Zephyr routed the request to planner two.", "assistant", debug={"route": "planner-2"}),
        said("I am calling Zephyr to look that up.", "assistant", tool_calls=[{"name": "zephyr"}]),
        said('{"zephyr": {"rows": 4}}', "assistant", "tool"),
        said("Zephyr tokens 512, latency 80 ms.", "assistant", telemetry=True),
        said("You are Zephyr, a helpful assistant.", "assistant", "system"),
        said("2024-03-04 09:00:01 INFO zephyr started in 3 ms", "assistant"),
        said("DEBUG zephyr cache miss for key 7", "assistant"),
        said("Zephyr likes tea.", recalled=True),
    ],
)
def test_machinery_leaves_no_trace_in_a_summary(noise: Event) -> None:
    told = summary_of(noise)
    assert "sail" in told
    assert "zephyr" not in told.casefold()


@pytest.mark.parametrize("courtesy", ["Hi!", "Thanks, bye :)", "Ok great, thank you so much!", "Sounds good."])
def test_chatter_leaves_no_trace_in_a_summary(courtesy: str) -> None:
    assert summary_of(said(courtesy), said(courtesy, "assistant")) == summary_of()


@pytest.mark.parametrize("milestone", sorted(MILESTONES))
def test_a_milestone_reaches_the_summary(milestone: str) -> None:
    assert "Fjord import" in summary_of(said("Fjord import of the spring tables", "task", event=milestone))


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_a_run_that_was_queued_and_ended_is_told_by_its_end(ending: str) -> None:
    run = "Fjord import of the spring tables"
    told = summary_of(said(run, "task", event="run_queued"), said(f"{run}: 40 rows", "task", event=ending))
    assert "40 rows" in told
