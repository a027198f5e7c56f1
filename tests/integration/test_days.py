"""One day at a time: what a summary counts, keeps, survives and leaves alone."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import Engine

from slowwave.identity import SessionRef
from slowwave.settings import Days
from slowwave_server.domain.events import Event
from slowwave_server.services.days.book import ended_days
from slowwave_server.services.days.due import due_days, due_days_of_sessions
from slowwave_server.services.days.store import begin_attempt, read_day
from tests.support.summarizing import NOON, Diary, Interrupted, Killed

pytestmark = pytest.mark.servers

TODAY = NOON.date()
YESTERDAY = TODAY - timedelta(days=1)
A_DAY_AGO = NOON - timedelta(days=1)
LINES = (
    "I want to move the release to Friday.",
    "We decided to keep Postgres for the archive.",
    "My sister Lena works as a nurse in Oslo.",
)


@pytest.fixture
def diary(engine: Engine) -> Diary:
    return Diary(engine)


def test_a_summary_is_a_snapshot_with_a_version_and_says_what_was_said_and_where(diary: Diary) -> None:
    diary.say("s1", *LINES)
    report = diary.summarize(TODAY)
    assert (report.outcome, report.status, report.version, report.messages) == ("summarized", "open", 1, 3)
    diary.say("s2", "The invoice for Jonas was paid this morning.")
    assert diary.summarize(TODAY).version == 2
    first, second = diary.summaries(TODAY)
    assert (first.messages, second.messages, second.final) == (3, 4, False)
    assert "Oslo" in first.text
    assert {(line["session"], line["seq"]) for line in second.lines} <= {("s1", 1), ("s1", 2), ("s1", 3), ("s2", 1)}
    assert all(line["text"] in second.text for line in second.lines)
    diary.check()


def test_nothing_new_makes_no_new_version(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    assert [diary.summarize(YESTERDAY).outcome for _ in range(3)] == ["summarized", "unchanged", "unchanged"]
    final = diary.summarize(YESTERDAY, final=True)
    assert (final.outcome, final.status, final.version, final.read) == ("summarized", "final", 2, 0)
    assert diary.summarize(YESTERDAY, final=True).outcome == "unchanged"
    assert diary.summarize(YESTERDAY).outcome == "unchanged"
    assert diary.entry(YESTERDAY).status == "final"


def test_i5_a_day_that_goes_on_is_never_final(diary: Diary) -> None:
    diary.say("s1", *LINES)
    assert diary.summarize(TODAY, final=True).status == "open"
    diary.say("early", "It is already tomorrow here.", agent="priya", zone="Pacific/Auckland")
    assert diary.summarize(TODAY + timedelta(days=1), "priya", final=True).status == "open"
    diary.say("late", "Still yesterday here.", agent="jonas", zone="Pacific/Honolulu", cutoff=4)
    assert diary.summarize(YESTERDAY, "jonas", final=True).status == "open"


def test_i5_a_late_event_reopens_a_final_day_without_a_word_to_it(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    diary.summarize(YESTERDAY, final=True)
    diary.say("s2", "One more thing: the key lies under the mat.", at=A_DAY_AGO)
    reopened = diary.entry(YESTERDAY)
    assert (reopened.status, reopened.messages_since_last_summary) == ("open", 1)
    assert diary.sql("SELECT status FROM slowwave.days")[0].status == "final"
    assert diary.summarize(YESTERDAY).status == "settling"
    again = diary.summarize(YESTERDAY, final=True)
    assert (again.status, again.version, again.messages) == ("final", 3, 4)


def test_mistake_09_what_arrives_meanwhile_is_not_counted_as_summarised(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    meanwhile = Interrupted(before_merge=lambda: diary.say("s1", "And Tomas has arrived.", at=A_DAY_AGO))
    report = diary.summarize(YESTERDAY, final=True, summarizer=meanwhile)
    assert (report.outcome, report.status, report.messages) == ("summarized", "settling", 3)
    entry = diary.entry(YESTERDAY)
    assert (entry.total_messages, entry.last_summarized_total, entry.messages_since_last_summary) == (4, 3, 1)
    assert diary.summarize(YESTERDAY, final=True).status == "final"
    assert any("Tomas" in line["text"] for line in diary.summaries(YESTERDAY)[-1].lines)
    diary.check()


def test_mistake_09_a_session_that_is_new_meanwhile_stays_pending(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    meanwhile = Interrupted(before_segment=lambda _events: diary.say("s9", "A second conversation.", at=A_DAY_AGO))
    assert diary.summarize(YESTERDAY, final=True, summarizer=meanwhile).status == "settling"
    pending = diary.sql(
        "SELECT s.name FROM slowwave.session_days d JOIN slowwave.sessions s ON s.id = d.session_id WHERE d.pending"
    )
    assert [row.name for row in pending] == ["s9"]


def test_mistake_08_a_summary_that_was_killed_blocks_nothing_and_leaves_nothing_half(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(before_merge=die))
    assert diary.summaries(YESTERDAY) == []
    assert diary.entry(YESTERDAY).messages_since_last_summary == 3
    with diary.engine.connect() as connection:
        assert [day.day for day in ended_days(connection, now=diary.now, limit=9)] == [YESTERDAY]
    assert diary.summarize(YESTERDAY, final=True).status == "final"
    assert diary.entry(YESTERDAY).attempts == 0


def test_a_day_that_kills_its_workers_again_and_again_waits_longer_each_time(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)

    def die() -> None:
        raise Killed

    waits = []
    for _ in range(4):
        with pytest.raises(Killed):
            diary.summarize(YESTERDAY, summarizer=Interrupted(before_merge=die))
        until = diary.entry(YESTERDAY).not_before
        waits.append(None if until is None else (until - diary.now).total_seconds())
    assert waits[0] is None
    assert waits[1:] == sorted(waits[1:])
    assert waits[-1] > waits[1] > 0


def test_an_attempt_behind_another_summary_is_not_counted_on_a_final_day(diary: Diary) -> None:
    # Retention leaves a day alone while somebody is at it, and no sweep looks at a final day again.
    diary.say("s1", *LINES, at=A_DAY_AGO)
    ref = diary.ref(YESTERDAY)
    read = read_day(diary.engine, ref, diary.now)
    assert read is not None
    assert diary.summarize(YESTERDAY, final=True).status == "final"
    assert not begin_attempt(diary.engine, ref, read, diary.now)
    assert diary.entry(YESTERDAY).attempts == 0


def test_a_failure_is_noted_without_words_and_the_day_waits_its_turn(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)

    def fail() -> None:
        raise OSError("no room left for: My sister Lena works as a nurse")

    report = diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(before_merge=fail))
    assert (report.outcome, report.error) == ("failed", "OSError")
    entry = diary.entry(YESTERDAY)
    assert (entry.attempts, entry.last_error, entry.version) == (1, "OSError", 0)
    with diary.engine.connect() as connection:
        assert ended_days(connection, now=diary.now, limit=9) == []
        assert due_days(connection, diary.settings, now=diary.now, limit=9) == []
        later = diary.now + timedelta(minutes=6)
        assert len(ended_days(connection, now=later, limit=9)) == 1
    assert diary.summarize(YESTERDAY, final=True).status == "final"
    settled = diary.entry(YESTERDAY)
    assert (settled.attempts, settled.not_before, settled.last_error) == (0, None, None)


def test_mistake_16_one_event_that_the_rules_cannot_read_stands_for_itself(diary: Diary) -> None:
    diary.say("s1", *LINES, "password: hunter2horse and a knot in the rules", *LINES)

    def stumble(events: Sequence[Event]) -> None:
        if any("knot" in event.content for event in events):
            raise ValueError("a knot")

    assert diary.summarize(TODAY, summarizer=Interrupted(before_segment=stumble)).outcome == "summarized"
    (stored,) = diary.sql("SELECT lines FROM slowwave.day_segments")
    plain = [line for line in stored.lines if line["seq"] == 4]
    assert [(line["facet"], line["speaker"]) for line in plain] == [("said", "Maya")]
    assert "knot in the rules" in plain[0]["text"]
    assert "hunter2horse" not in str(stored.lines)
    assert {line["seq"] for line in stored.lines} - {4}


def test_full_segments_are_read_once_and_the_last_one_as_long_as_it_grows(diary: Diary) -> None:
    lines = [f"We decided that ticket {n} goes to Jonas." for n in range(230)]
    for at in range(0, 230, 50):
        diary.say("s1", *lines[at : at + 50])
    assert diary.summarize(TODAY).read == 230
    segments = diary.segments(TODAY)
    assert sum(messages for _, _, messages in segments) == 230
    diary.say("s1", "We decided that ticket 231 waits.")
    watch = Interrupted()
    report = diary.summarize(TODAY, summarizer=watch)
    assert watch.segments[0][0] == segments[-1][0]
    assert report.read == segments[-1][2] + 1
    assert diary.segments(TODAY)[: len(segments) - 1] == segments[:-1]


def test_lines_of_another_summariser_are_made_anew(diary: Diary) -> None:
    diary.say("s1", *LINES)
    diary.summarize(TODAY, summarizer=Interrupted(name="older/1"))
    diary.say("s2", "Something new.")
    assert diary.summarize(TODAY).read == 4
    assert {row.summarizer for row in diary.sql("SELECT summarizer FROM slowwave.day_segments")} == {"rules/2"}


def test_events_that_retention_took_away_are_still_told_by_their_segments(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    diary.summarize(YESTERDAY, final=True)
    diary.sql("DELETE FROM slowwave.events WHERE seq < 4")
    diary.sql("UPDATE slowwave.session_days SET removed = 3")
    assert diary.entry(YESTERDAY).status == "final"
    diary.say("s1", "Late: the train to Bergen leaves at nine.", at=A_DAY_AGO)
    report = diary.summarize(YESTERDAY, final=True, summarizer=Interrupted(name="newer/1"))
    assert (report.status, report.messages, report.read) == ("final", 4, 1)
    told = str(diary.summaries(YESTERDAY)[-1].lines)
    assert "Oslo" in told
    assert "Bergen" in told
    diary.check()


def test_segments_that_do_not_add_up_are_thrown_away_and_made_again(diary: Diary) -> None:
    diary.say("s1", *LINES)
    diary.summarize(TODAY)
    diary.sql("UPDATE slowwave.day_segments SET messages = 17")
    diary.say("s1", "And one more.")
    report = diary.summarize(TODAY)
    assert (report.outcome, report.messages) == ("summarized", 4)
    assert diary.segments(TODAY) == [(1, 4, 4)]


def test_two_summaries_at_once_make_one_version_each_and_take_nothing_back(diary: Diary) -> None:
    diary.say("s1", *LINES)

    def overtake() -> None:
        diary.say("s1", "Said in between.")
        assert diary.summarize(TODAY).messages == 4

    tried = Interrupted()
    tried.before_merge = lambda: overtake() if not diary.summaries(TODAY) else None
    assert diary.summarize(TODAY, summarizer=tried).outcome == "unchanged"
    assert [row.messages for row in diary.summaries(TODAY)] == [4]
    diary.check()


def test_i10_what_is_forgotten_meanwhile_is_not_written(diary: Diary) -> None:
    diary.say("s1", *LINES)

    def forget() -> None:
        diary.sql("UPDATE slowwave.agents SET epoch = epoch + 1")
        diary.sql("DELETE FROM slowwave.day_segments")

    before = Interrupted(before_segment=lambda _events: forget())
    assert diary.summarize(TODAY, summarizer=before).outcome == "forgotten"
    assert diary.segments(TODAY) == []
    late = Interrupted(before_merge=forget)
    assert diary.summarize(TODAY, summarizer=late).outcome == "forgotten"
    assert (diary.segments(TODAY), diary.summaries(TODAY)) == ([], [])


def test_a_day_without_events_any_more_becomes_final_and_is_left_alone(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    diary.summarize(YESTERDAY)
    ref = diary.ref(YESTERDAY)
    for table in ("day_segments", "day_summaries", "session_days", "events"):
        diary.sql(f"DELETE FROM slowwave.{table}")
    assert diary.summarize(ref, final=True).outcome == "empty"
    with diary.engine.connect() as connection:
        assert ended_days(connection, now=diary.now, limit=9) == []


def test_i8_a_room_has_days_of_its_own(diary: Diary) -> None:
    diary.say("s1", *LINES)
    diary.say("r1", "The kitchen is booked for Priya.", room="kitchen")
    diary.say("s1", "Somebody else's secret garden.", tenant="other")
    assert sorted((entry.ref.scope or "", entry.total_messages) for entry in diary.book()) == [
        ("", 3),
        ("room:kitchen", 1),
    ]
    diary.summarize(diary.ref(TODAY, scope="room:kitchen"))
    diary.summarize(TODAY)
    room, own = (str(row.lines) for row in diary.summaries(TODAY))
    assert "kitchen" in room
    assert "kitchen" not in own
    assert "garden" not in room + own
    assert diary.book(tenant="nobody") == []


def test_due_are_days_with_enough_new_events_and_those_that_went_quiet(diary: Diary) -> None:
    settings = Days(realtime_summary_turn_threshold=4, quiet_seconds=600)
    diary.say("s1", "one", "two", "three")
    diary.say("a", "one", "two", agent="jonas")

    def due(after: float = 0) -> list[str]:
        with diary.engine.connect() as connection:
            now = diary.now + timedelta(seconds=after)
            return [day.agent for day in due_days(connection, settings, now=now, limit=9)]

    def due_of(session: str) -> list[date]:
        with diary.engine.connect() as connection:
            ref = SessionRef("default", "maya", session)
            return [day.day for day in due_days_of_sessions(connection, [ref], settings, now=diary.now)]

    assert (due(), due(599), due(600)) == ([], [], ["maya", "jonas"])
    assert due_of("s1") == []
    diary.say("s2", "four")
    assert due() == ["maya"]
    assert due_of("s1") == due_of("s2") == [TODAY]
    diary.summarize(TODAY)
    assert (due(), due(600), due_of("s1")) == ([], ["jonas"], [])


def test_ended_is_a_day_in_its_agents_own_zone(diary: Diary) -> None:
    at = datetime(2024, 5, 10, 11, 30, tzinfo=UTC)
    for agent, zone, cutoff in (("kiri", "Pacific/Kiritimati", 0), ("maya", "UTC", 0), ("noa", "Pacific/Pago_Pago", 5)):
        diary.say("s1", "Hello there.", agent=agent, zone=zone, cutoff=cutoff, at=at)

    def ended(hours: float) -> list[tuple[str, str]]:
        with diary.engine.connect() as connection:
            days = ended_days(connection, now=at + timedelta(hours=hours), limit=9)
        return [(day.agent, str(day.day)) for day in days]

    assert ended(0) == []
    assert ended(4.4) == []
    assert ended(4.5) == [("noa", "2024-05-09")]  # 05:00 in Pago Pago
    assert sorted(ended(12.5)) == [("maya", "2024-05-10"), ("noa", "2024-05-09")]
    assert sorted(ended(22.5)) == [("kiri", "2024-05-11"), ("maya", "2024-05-10"), ("noa", "2024-05-09")]


def test_a_tick_looks_again_only_at_days_that_may_be_due_by_then(diary: Diary) -> None:
    settings = Days(realtime_summary_turn_threshold=4, quiet_seconds=600)

    def tick(after: float = 0) -> list[str]:
        with diary.engine.begin() as connection:
            now = diary.now + timedelta(seconds=after)
            return [day.agent for day in due_days(connection, settings, now=now, limit=9)]

    def looks() -> list[float]:
        rows = diary.sql("SELECT d.look_at FROM slowwave.session_days d WHERE d.pending ORDER BY d.look_at")
        return [(row.look_at - diary.now).total_seconds() for row in rows]

    diary.say("s1", "one", "two")
    diary.say("a", "one", agent="jonas")
    assert (tick(), looks()) == ([], [600, 600])
    # What is said meanwhile leaves that time alone, and is seen then.
    diary.now += timedelta(seconds=300)
    diary.say("s1", "three")
    assert looks() == [300, 300]
    assert tick(300) == ["jonas"]
    assert looks() == [300, 600]
    assert sorted(tick(600)) == ["jonas", "maya"]
    # Another conversation of the day has not been looked at.
    diary.say("s2", "four")
    assert "maya" in tick()


def test_i3_a_day_that_a_wrong_clock_put_off_is_looked_at(diary: Diary) -> None:
    diary.say("s1", *LINES, at=A_DAY_AGO)
    diary.sql("UPDATE slowwave.session_days SET look_at = now() + interval '100 years'")
    with diary.engine.begin() as connection:
        later = diary.now + timedelta(days=1)
        assert [day.day for day in due_days(connection, diary.settings, now=later, limit=9)] == [YESTERDAY]
