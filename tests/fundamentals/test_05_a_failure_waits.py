"""Chapter 5. A failure waits, and never moves the watermark.

Two kinds of failure are told apart. Where the *surroundings* fail (a rate limit, a network), waiting helps: the session
backs off, for as long as it takes, and nothing is used up. Where the *window itself* fails again and again, waiting
does not help: the window is halved until the guilty event stands alone. That event is set aside and shown to people,
and the rest of the conversation goes on.
"""

from dataclasses import dataclass, field
from datetime import datetime

from slowwave.identity import SessionRef
from slowwave_server.domain.candidates import Extraction, ExtractionContext, Window
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.failures import TransientError
from slowwave_server.services.dead_letters.quarantine import retry_quarantined
from tests.fundamentals.stage import Stage


@dataclass
class Troubled:
    """The rules, but for a sign that they can't digest, or a service that is down."""

    down: bool = False
    rules: RulesExtractor = field(default_factory=RulesExtractor)
    name: str = "troubled"
    version: str = "1"

    def extract(self, window: Window, context: ExtractionContext, now: datetime) -> Extraction:
        if self.down:
            raise TransientError("the model answers 429")
        if any("~" in event.content for event in window.events):
            raise ValueError("can't digest '~'")
        return self.rules.extract(window, context, now)


def say(stage: Stage, *lines: str) -> None:
    stage.memory.turn_completed(
        "atlas", "monday", [{"role": "user", "name": "Maya", "content": line} for line in lines]
    )
    stage.memory.session_idle("atlas", "monday")


def test_mistake_10_trouble_around_a_window_is_waited_out(stage: Stage) -> None:
    stage.extractor = Troubled(down=True)
    say(stage, "I live in Oslo.")
    for _ in range(6):  # more often than a bad window would be tried
        assert stage.work_until_idle() == [("monday", "failed")]
        (session,) = stage.rows("SELECT processed_until, not_before, last_error FROM slowwave.sessions")
        assert (session.processed_until, session.last_error) == (0, "the model answers 429")
        stage.clock.now = session.not_before
        assert stage.sweep().enqueued == 1, "the wait is a time in Postgres, and the sweep reads it"

    stage.extractor = Troubled()
    assert stage.work_until_idle() == [("monday", "stored")]


def test_mistake_16_one_bad_event_is_set_aside_and_the_rest_goes_on(stage: Stage) -> None:
    stage.extractor = Troubled()
    say(stage, "I live in Oslo.", "I love ~ very much.", "My favourite tea is oolong.", "I am allergic to nuts.")
    while stage.windows("monday")[-1:] != [(3, 4, "stored")]:
        stage.work_until_idle()
        stage.clock.pass_time(300)
        stage.sweep()

    # The windows stand one behind the other, and one holds the guilty event alone.
    assert stage.windows("monday") == [(1, 1, "stored"), (2, 2, "quarantined"), (3, 4, "stored")]

    # Once the extractor can read it, a person has it tried again (`slowwave queue retry`).
    maya = SessionRef("default", "atlas", "monday")
    result = retry_quarantined(stage.engine, RulesExtractor(), maya, 2, stage.clock())
    assert result.outcome == "stored"
    assert (2, 2, "stored") in stage.windows("monday")
