"""What a person says to an agent for the moment only, and what an agent says of its work, need more usefulness."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.machine_text import is_machine_text
from slowwave_server.domain.extraction.outline import outline
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.said import of_agent
from tests.support.judging import Judge, even

AT = datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
Said = tuple[EventKind, str]


def kept(useful: float, *turns: Said, **rules: Any) -> list[str]:
    """Return the memories of a talk with an agent whose statements are all equally useful."""
    events = tuple(
        Event(seq, kind, kind, content, AT + timedelta(minutes=seq)) for seq, (kind, content) in enumerate(turns, 1)
    )
    rated = RulesExtractor(Judge(lambda _: useful), **rules)
    found = rated.extract(Window(events), ExtractionContext("helper", "UTC"), AT)
    return [one.content for one in found.candidates]


HELLO: Said = ("assistant", "Welcome back, what is new?")
READY: Said = ("assistant", "The plan of the crew is ready.")
CODE: Said = ("assistant", "`load_all` in reader.py calls `next_page()` of pages.py.")


@pytest.mark.parametrize(
    ("told", "useful", "is_kept"),
    [
        ("Don't make me open the form.", 0.15, False),
        ("Never make me open the form.", 0.15, True),
        ("Don't make me open the form.", 0.25, True),
    ],
)
def test_an_instruction_for_the_moment_needs_more_than_a_lasting_one(told: str, useful: float, is_kept: bool) -> None:
    assert bool(kept(useful, HELLO, ("user", told))) == is_kept


def test_in_a_talk_about_code_no_word_makes_a_fact_about_its_speaker() -> None:
    child = "I live with the child process of a home folder. Is `fork()` in pool.py fine? Does `exec()` work? Or `run`?"
    assert kept(0.4, CODE, ("user", child)) == []
    assert kept(0.6, CODE, ("user", child)) != []
    assert kept(0.4, HELLO, ("user", "I live in Porto with my sister.")) != []


def test_the_best_sentence_to_an_agent_needs_nearly_a_half() -> None:
    said: Said = ("user", "I am following up on the ferry of my crew to Bari. Is it late? Or full? Or gone?")
    assert kept(0.43, HELLO, said) == []
    assert kept(0.47, HELLO, said) != []


def test_a_coding_agents_report_needs_as_much_as_its_passages() -> None:
    report: Said = ("assistant", "I have added the option `--dry-run` to loader.py and updated reader.py.")
    assert kept(0.6, CODE, report) == []
    assert kept(0.8, CODE, report) != []


@pytest.mark.parametrize(
    ("title", "delivers"),
    [
        ("Ferry plan of the Bari crew", True),
        ("Piers of Patras that are open in May", True),
        ("The first process is a shell of the Bari image", False),
        ("Here's the main difference to the Bari crew", False),
    ],
)
def test_a_title_that_states_something_names_no_delivery(title: str, delivers: bool) -> None:
    found = outline(f"## {title}\n\n- Pier 7 in Patras opens at 6:00\n- Pier 9 in Bari closes at 23:00\n")
    assert (found is not None and found.is_specific) == delivers


def test_a_line_of_a_list_without_a_verb_needs_more() -> None:
    line: Said = ("assistant", "- Bus 14: Graz (main station) to Maribor, platform 3")
    assert kept(0.35, ("user", "Which bus?"), line, weigh=even) == []
    assert kept(0.45, ("user", "Which bus?"), line, weigh=even) != []


@pytest.mark.parametrize(
    "told",
    [
        "I'd like to cancel my seat on the ferry to Bari.",
        "I want to call `open_door` in gate.py why does Gate have no such entry",
        "Whats a short word for the keys a lock has left",
        "Best way to shuffle a deck in Lua",
        "In Godot should menus be scenes or nodes",
        "I'm looking to book a ferry from Bari to Patras on 20 May.",
        "gate.cs(12,4): error CS0246: The type 'Door' has no name",
        "KeyError: 'door' at startup of Gate",
    ],
)
def test_a_question_a_request_or_an_error_is_no_memory(told: str) -> None:
    assert kept(0.69, ("assistant", "Hello Rosa."), ("user", told)) == []


def test_anger_at_the_agent_is_left_out_and_the_fact_beside_it_stays() -> None:
    angry = "I explicitly asked for Bari. You are still failing to deliver. My ferry leaves from pier 7 in Patras."
    found = kept(0.9, ("assistant", "Here is the list."), ("user", angry))
    assert any("pier 7" in one for one in found)
    assert not any("explicitly" in one or "failing" in one for one in found)


def test_what_an_agent_says_to_remember_is_no_wish_of_its_own() -> None:
    found = kept(0.9, ("user", "My saving plan?"), ("assistant", "Remember to keep putting 50 euros in the Blue Fund."))
    assert not any("I asked" in one for one in found)


def test_an_agents_account_of_its_steps_is_nobodys_words() -> None:
    told = "We keep 4 doors and a lock in the class Gate of gate.py."
    steps = "Let me check gate.py. I can see that `open_door` is there. I'll implement `close_door` in Gate next. "
    pasted = f"{steps}{told} I should verify the lock. {steps}{steps}"
    own = f"Our game has a class Gate with many doors of all sizes. {told} Sam drew the doors. Kim wrote the lock." * 2
    assert not any(one.startswith("The user") for one in kept(0.9, CODE, ("user", pasted), weigh=even))
    assert any(one.startswith("The user") for one in kept(0.9, CODE, ("user", own), weigh=even))


LATCH = "The class Gate of gate.py keeps 4 doors, a latch and the list of all keys."
PLAN = (
    f"Looking at tasks.md, task 3 is open.\n\n{LATCH}\n\nBecause the key of door 2 is lost, I only need to change Gate."
    "\nAfter that, the build of the gate must be clean, with no warning in build.log.\n"
    "The latch has a test file of its own, which Sam wrote."
)


def test_a_turn_that_repeats_the_agents_plan_is_nobodys_words() -> None:
    handed = kept(0.9, CODE, ("assistant", PLAN), ("user", PLAN), weigh=even)
    assert not any(one.startswith("The user") for one in handed)
    own = "We decided to keep the latch of Gate in latch.py, because Sam tests it alone."
    answered = kept(0.9, CODE, ("assistant", PLAN), ("user", f"{PLAN}\n{own}"), weigh=even)
    assert [one for one in answered if one.startswith("The user")] == [
        one for one in kept(0.9, CODE, ("assistant", PLAN), ("user", own), weigh=even) if one.startswith("The user")
    ]
    assert any("latch.py" in one for one in answered)
    assert any(one.startswith("The user") for one in kept(0.9, CODE, ("user", PLAN), weigh=even))
    asked = PLAN.replace("build.log.\n", "build.log.\nWhere does Sam keep the tests of the latch?\n")
    below = kept(0.9, CODE, ("assistant", asked), ("user", f"{asked}\n{own}"), weigh=even)
    assert any("latch.py" in one for one in below)


def test_the_summary_that_continues_a_session_is_nobodys_words() -> None:
    told = "I have a ferry account in Bari, and my boat lies at pier 7 in Patras. "
    summary = (
        "This session continues a session whose context was full. The user wanted a plan of the crossing to Patras. "
        f"The user then asked for the piers. {told}The user confirmed pier 7. The plan names all piers of both ports. "
        "Continue with the next open task of the plan."
    )
    assert kept(0.9, ("user", summary)) == []
    assert kept(0.9, ("user", told)) != []


def test_a_command_of_the_agents_shell_is_no_memory() -> None:
    assert kept(0.9, HELLO, ("user", "/branch new one called ferry-times")) == []
    assert kept(0.9, HELLO, ("user", "/data is our folder for the times of the ferry to Bari")) != []
    assert kept(0.9, HELLO, ("user", "/ferry refuses all crossings to Bari without a plan of Rosa")) != []


@pytest.mark.parametrize(
    "told",
    [
        "I'll get back to you with the pier of Patras later.",
        "Not sure which of the three piers of Bari this one is",
        "I thought we had agreed on pier 7 in Patras.",
        "You explicitly said that pier 7 in Patras is open.",
    ],
)
def test_promises_to_speak_again_half_questions_and_disputes_are_no_memories(told: str) -> None:
    assert kept(0.9, HELLO, ("user", told)) == []


@pytest.mark.parametrize(
    "told",
    [
        "Reflect on your answer while paying attention to your own thoughts again.",
        "K4 is 10 based on this gibe me right ans.",
        "Ferry notes: While I can describe Bari in theory, I lack the ability to directly modify my own code.",
        "The undersigned acknowledge that we have read the plan of my Bari crew.",
        "Do not share my personal information how do i use the Bari page.",
        '"BariPanel is not defined."',
        "So, a ferry is going towards two people. You have the chance to pull a lever and change its course to Bari.",
        "The completion of the Bari logistics is noted.",
        "Let's start with Ida.",
    ],
)
def test_an_exercise_a_form_and_anothers_words_are_not_what_a_person_says(told: str) -> None:
    assert kept(0.5, READY, ("user", told)) == []


def test_an_exercise_for_the_agent_needs_more_than_its_usefulness() -> None:
    assert kept(0.8, READY, ("user", "Aim for 20 or so questions on the ferries of Bari and Patras.")) == []


def test_lines_that_set_a_variable_are_code() -> None:
    assert is_machine_text("rows = Reader.of(bari, limit) and then the rows of the harbour are printed")
    assert is_machine_text("Read the rows of the harbour all_rows = bari of the harbour and print them")
    assert not is_machine_text("The rows of the harbour are printed and then read again")


def test_the_pasted_reply_of_another_agent_is_not_the_persons() -> None:
    reply = 'this is from Codex: "I read plan.md. It means much to me as a record of what matters to my Bari crew."'
    assert own_words(reply) == []
    assert own_words(f"My ferry leaves Bari at 7. {reply}") == ["My ferry leaves Bari at 7."]


@pytest.mark.parametrize(
    "told",
    [
        "You have just received an urgent note from the Harbour of Bari. A mistake of 40 rows has been found.",
        "This segment will unpack the rise of Ida Holm, from Bari to Patras in 40 years.",
        'Note 2: (e.g., "Key ferry still pending in Bari", "Medium", "Call of Ida at 2 PM").',
    ],
)
def test_an_agents_scenes_samples_and_announcements_are_no_facts(told: str) -> None:
    assert of_agent(told, ()) == []
    assert of_agent("The harbour of Bari has found a mistake of 40 rows.", ()) != []
