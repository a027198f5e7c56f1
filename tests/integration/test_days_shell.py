"""`slowwave day list | day | finalize | agent` on a real database, as a person and as a script use them."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Engine, text

from slowwave import Memory
from slowwave.settings import Settings
from tests.integration.test_reports_shell import Shell
from tests.support.midday import TODAY, YESTERDAY, ZONE, at
from tests.support.summarizing import poison

pytestmark = pytest.mark.servers

IN_TOKYO = datetime.combine(TODAY, time(5), ZoneInfo("Asia/Tokyo"))
KEY = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


@pytest.fixture
def shell(database_url: str, valkey_url: str, tmp_path: Path) -> Shell:
    return Shell(database_url, valkey_url, tmp_path)


@pytest.fixture
def memory(database_url: str, valkey_url: str, tmp_path: Path) -> Iterator[Memory]:
    days: Any = {"days": {"timezone": ZONE}}
    settings = Settings(database_url=database_url, broker_url=valkey_url, spool=tmp_path / "spool", memory=days)
    with Memory(settings) as memory:
        yield memory


def yesterday(memory: Memory, agent: str = "atlas", scope: str | None = None, session: str = "monday") -> None:
    """A wish, a reply, a milestone: three events of yesterday."""
    memory.turn_completed(
        agent,
        session,
        [
            {
                "role": "user",
                "name": "Maya",
                "content": "I want to take the ferry to Bergen on Friday.",
                "at": at(YESTERDAY, 9),
            },
            {"role": "assistant", "content": f"I will book it with {KEY}.", "at": at(YESTERDAY, 9, 1)},
            {
                "role": "task",
                "content": "Reservation 4711 is confirmed and paid.",
                "at": at(YESTERDAY, 9, 5),
                "metadata": {"event": "run_finished"},
            },
        ],
        scope=scope,
    )


def test_a_day_is_listed_made_final_and_shown_with_its_traces(shell: Shell, memory: Memory) -> None:
    assert shell("day", "list").stdout == "No day matches.\n"
    yesterday(memory)
    (before,) = shell.json("day", "list", "atlas")
    assert (before["day"], before["scope"], before["total_messages"], before["messages_since_last_summary"]) == (
        YESTERDAY.isoformat(), None, 3, 3,
    )  # fmt: skip
    assert "There is no summary yet" in shell("day", "show", "atlas", str(YESTERDAY)).stdout
    (done,) = shell.json("day", "finalize", "atlas", str(YESTERDAY))
    assert (done["outcome"], done["status"], done["version"], done["messages"]) == ("summarized", "final", 1, 3)
    assert "final (1)" in shell("day", "list").stdout
    story = shell.json("day", "show", "atlas", str(YESTERDAY))
    assert (story["status"], story["versions"], story["summary"]["final"]) == ("final", [1], True)
    facets = {line["facet"]: (line["session"], line["seq"]) for line in story["summary"]["lines"]}
    assert (facets["wanted"], facets["executed"]) == (("monday", 1), ("monday", 3))
    shown = shell("day", "show", "atlas", str(YESTERDAY)).stdout
    assert "Wanted" in shown
    assert f"monday#3 · {at(YESTERDAY, 9, 5).astimezone(UTC):%Y-%m-%d %H:%M} UTC" in shown
    assert KEY not in shown + str(story)
    again = shell("day", "finalize", "atlas", str(YESTERDAY))
    assert again.stdout == f"atlas/{YESTERDAY}: nothing new since version 1, final.\n"


def test_i5_a_late_event_opens_a_final_day_and_its_first_version_stays_readable(shell: Shell, memory: Memory) -> None:
    yesterday(memory)
    shell("day", "finalize", "--ended")
    late = {"role": "user", "content": "And please book a cabin, too.", "at": at(YESTERDAY, 22)}
    memory.turn_completed("atlas", "tuesday", [late])
    assert "open (1)" in shell("day", "list").stdout
    assert "4 messages, 1 of them not summarised yet" in shell("day", "show", "atlas", str(YESTERDAY)).stdout
    told = shell("day", "finalize", "--ended", "--dry-run")
    assert told.stdout == f"atlas/{YESTERDAY} would be made final.\n"
    assert shell("day", "finalize", "--ended").stdout == f"atlas/{YESTERDAY}: final, version 2, of 4 messages.\n"
    assert shell("day", "finalize", "--ended").stdout == "Every past day is final.\n"
    first = shell.json("day", "show", "atlas", str(YESTERDAY), "--version", "1")
    assert (first["version"], first["versions"], first["summary"]["messages"]) == (2, [1, 2], 3)
    gone = shell("day", "show", "atlas", str(YESTERDAY), "--version", "7")
    assert (gone.exit_code, "there is 1, 2" in gone.stderr) == (1, True)


def test_a_room_s_day_is_asked_for_by_its_name_and_is_none_of_the_agent_s_own(shell: Shell, memory: Memory) -> None:
    yesterday(memory, scope="room:office", session="standup")
    own = shell("day", "show", "atlas", str(YESTERDAY))
    assert own.exit_code == 1
    assert "there is one in room:office" in own.stderr
    assert shell.json("day", "finalize", "atlas", str(YESTERDAY))[0]["scope"] == "room:office"
    assert shell.json("day", "show", "atlas", str(YESTERDAY), "--scope", "room:office")["status"] == "final"
    assert shell("day", "show", "atlas", str(YESTERDAY), "--scope", "office").exit_code == 2


def test_a_day_that_goes_on_is_summarised_only_by_force_and_stays_open(shell: Shell, memory: Memory) -> None:
    memory.turn_completed("atlas", "now", [{"role": "user", "content": "I want to sail to Bergen.", "at": at(TODAY)}])
    refused = shell("day", "finalize", "atlas", str(TODAY))
    assert refused.exit_code == 1
    assert "is not over" in refused.stderr
    assert "--force" in refused.stderr
    forced = shell("day", "finalize", "atlas", str(TODAY), "--force")
    assert forced.stdout == f"atlas/{TODAY}: version 1, of 1 message; the day is not over.\n"
    assert shell.json("day", "list")[0]["status"] == "open"


def test_mistake_36_a_day_that_fails_is_told_with_exit_1_and_the_others_become_final(
    shell: Shell, memory: Memory, engine: Engine
) -> None:
    yesterday(memory)
    yesterday(memory, agent="boreas")
    poison(engine, "atlas")
    swept = shell("day", "finalize", "--ended")
    assert swept.exit_code == 1
    assert f"atlas/{YESTERDAY}: failed with RaiseException (P0001); it will be retried." in swept.stdout
    assert f"boreas/{YESTERDAY}: final, version 1, of 3 messages." in swept.stdout
    status = {entry["agent"]: entry for entry in shell.json("day", "list")}
    assert (status["atlas"]["status"], status["boreas"]["status"]) == ("settling", "final")
    assert status["atlas"]["last_error"] == "RaiseException (P0001)"
    assert "RaiseException" in shell("day", "show", "atlas", str(YESTERDAY)).stdout
    cure(engine)
    assert shell.json("day", "finalize", "atlas", str(YESTERDAY))[0]["status"] == "final", "a person does not wait"


def cure(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("DROP TRIGGER poison ON slowwave.day_summaries"))


def test_the_maintenance_job_makes_ended_days_final_too(shell: Shell, memory: Memory) -> None:
    yesterday(memory)
    told = shell.json("job", "run", "finalize-days", "--dry-run")
    assert told["summary"] == "1 day would be made final"
    done = shell.json("job", "run", "finalize-days")
    assert (done["status"], done["summary"]) == ("completed", "1 day of 1 made final")
    assert shell.json("day", "list")[0]["status"] == "final"


def test_finalising_what_has_ended_touches_no_other_tenant(shell: Shell, memory: Memory) -> None:
    """I8: the shell speaks for one tenant, though workers sweep for all."""
    yesterday(memory)
    yesterday(memory.for_tenant("acme"))
    assert len(shell.json("day", "finalize", "--ended")) == 1
    other = shell("--tenant", "acme", "day", "list")
    assert "open" in other.stdout
    assert "final" not in other.stdout


WRONG = [
    (("day", "finalize"), 2, "give AGENT and DAY, or --ended"),
    (("day", "finalize", "atlas"), 2, "give AGENT and DAY, or --ended"),
    (("day", "finalize", "atlas", "2026-03-05", "--ended"), 2, "--ended does not combine with an agent"),
    (("day", "finalize", "atlas", "2026-03-05", "--dry-run"), 2, "--dry-run needs --ended"),
    (("day", "finalize", "atlas", "5 March"), 2, "day must be written like 2026-03-05"),
    (("day", "finalize", "atlas", "2026-03-05", "--scope", "office"), 2, "scope must be room:NAME or team:NAME"),
    (("day", "finalize", "atlas", "2026-03-05"), 1, f"its newest day is {YESTERDAY}"),
    (("day", "finalize", "atlsa", "2026-03-05"), 1, "did you mean 'atlas'?"),
    (("day", "list", "--since", "March"), 2, "day must be written like 2026-03-05"),
    (("day", "list", "atlsa"), 1, "did you mean 'atlas'?"),
    (("day", "show", "atlas", "2026-03-05"), 1, "'atlas' has no day 2026-03-05"),
    (("agent", "clock", "atlsa"), 1, "did you mean 'atlas'?"),
    (("agent", "clock", "atlas", "--timezone", "Europe/Berln"), 2, "did you mean 'Europe/Berlin'?"),
    (("agent", "clock", "atlas", "--cutoff-hour", "24"), 2, "equal to 23"),
]


def test_a_call_that_fails_says_what_was_wrong(shell: Shell, memory: Memory) -> None:
    yesterday(memory)
    for call, code, words in WRONG:
        result = shell(*call)
        assert (result.exit_code, result.stdout) == (code, ""), call
        assert words in " ".join(result.stderr.split()), call
        assert "Traceback" not in result.output


def test_a_new_agent_s_day_is_set_before_its_first_turn(shell: Shell, memory: Memory) -> None:
    assert shell("agent", "clock", "nova").exit_code == 1
    assert shell("agent", "clock", "a\nb", "--timezone", "Asia/Tokyo").exit_code == 2
    assert shell("agent", "clock", "nova", "--timezone", "Asia/Nowhere").exit_code == 2
    assert shell("agent", "clock", "nova").exit_code == 1, "nothing was made of a call that was refused"
    set_ = shell.json("agent", "clock", "nova", "--timezone", "Asia/Tokyo")
    assert (set_["timezone"], set_["cutoff_hour"]) == ("Asia/Tokyo", 0)
    memory.turn_completed("nova", "old", [{"role": "user", "content": "Hello.", "at": IN_TOKYO}])
    assert [day["day"] for day in shell.json("day", "list", "nova")] == [TODAY.isoformat()], "it is tomorrow in Tokyo"


def test_an_agent_s_day_begins_when_it_is_told_to(shell: Shell, memory: Memory) -> None:
    yesterday(memory)
    before = shell.json("agent", "clock", "atlas")
    assert (before["timezone"], before["cutoff_hour"], before["today"]) == (ZONE, 0, TODAY.isoformat())
    after = shell.json("agent", "clock", "atlas", "--timezone", "Asia/Tokyo", "--cutoff-hour", "4")
    assert (after["timezone"], after["cutoff_hour"]) == ("Asia/Tokyo", 4)
    assert after["since"].endswith("19:00:00+00:00"), "four in the morning in Tokyo"
    shown = shell("agent", "clock", "atlas").stdout
    assert "day begins  04:00" in shown
    memory.turn_completed("atlas", "late", [{"role": "user", "content": "One more.", "at": IN_TOKYO}])
    days = {entry["day"]: entry["total_messages"] for entry in shell.json("day", "list", "atlas")}
    assert days == {YESTERDAY.isoformat(): 3, TODAY.isoformat(): 1}, "what was said before keeps its day"
