"""Standing instructions and the profile: which come first, which value holds, how they read."""

from datetime import UTC, datetime
from typing import Any

from slowwave.recall.briefing import STANDING, Context
from slowwave.recall.fitting import fitted
from slowwave.recall.hits import Hit
from slowwave.recall.instructions import MOST_INSTRUCTIONS, instructions_of, profile_of
from slowwave.recall.trimming import Budget

AT = datetime(2025, 1, 14, tzinfo=UTC)


def said(content: str, name: str = "", scope: int = 1) -> dict[str, Any]:
    return {"id": name or content, "content": content, "valid_from": AT.isoformat(), "scope_id": scope}


def trait(value: str, attribute: str, since: str, again: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": f"{value} {since}",
        "content": f"The user said {value}.",
        "trust": "user",
        "valid_from": f"{since}T00:00:00+00:00",
        "reaffirmed_at": f"{again or since}T00:00:00+00:00",
        "trait": {"person": "the user", "attribute": attribute, "value": value, "ended": False} | more.pop("trait", {}),
    } | more


def lines(*rows: dict[str, Any], person: str | None = None) -> list[str]:
    found, _ = instructions_of(rows, person, {1: None, 2: "room:kitchen"})
    return [one.to_line() for one in found]


def told(*rows: dict[str, Any]) -> list[str]:
    return [one.to_line() for one in profile_of(rows)]


def test_instruction_reads_without_its_speaker() -> None:
    assert lines(said("The user instructs: always answer in German.")) == ["- always answer in German"]
    assert lines(said('The user: "Antworte immer auf Deutsch."')) == ["- Antworte immer auf Deutsch"]
    assert lines(said("Never page Lena.")) == ["- Never page Lena"]
    assert lines(said("Maya instructs: never page Lena."), person="maya") == ["- never page Lena"]
    assert lines(said("Maya instructs: never page Lena.", scope=2)) == ["- (room:kitchen) Maya: never page Lena"]


def test_general_instructions_come_before_conditional_ones() -> None:
    rows = [said(f"The user instructs: {text}.") for text in ("when I send a recipe, convert it", "no emojis")]
    assert lines(*rows) == ["- no emojis", "- when I send a recipe, convert it"]


def test_same_words_are_one_instruction() -> None:
    rows = [said("The user instructs: no emojis.", "new"), said("The user instructs: No emojis!", "old")]
    found, left_out = instructions_of(rows, None, {1: None})
    assert ([one.id for one in found], left_out) == (["new"], 0)


def test_two_hundred_instructions_are_capped_and_counted() -> None:
    rows = [said(f"The user instructs: never touch file {number}.") for number in range(200)]
    found, left_out = instructions_of(rows, None, {1: None})
    assert (len(found), left_out) == (MOST_INSTRUCTIONS, 200 - MOST_INSTRUCTIONS)
    known = fitted(Context(instructions=found, instructions_left_out=left_out), Budget(400))
    assert 0 < len(known.instructions) < MOST_INSTRUCTIONS
    assert known.instructions == found[: len(known.instructions)]
    assert known.instructions_left_out == 200 - len(known.instructions)
    assert f"## Standing instructions ({known.instructions_left_out} more are not shown)" in known.to_text()
    assert known.to_json()["instructions_left_out"] == known.instructions_left_out


def test_instructions_leave_room_for_what_answers_the_question() -> None:
    found, _ = instructions_of(
        [said(f"The user instructs: never touch file {n} of the archive.") for n in range(60)], None, {1: None}
    )
    hits = tuple(Hit(str(n), "memory", f"Maya likes {n}.", 1, "active", AT, (), None, "fact") for n in range(15))
    known = fitted(Context(instructions=found, memories=hits), Budget(800))
    assert known.instructions
    assert known.memories


def test_every_form_has_instructions_and_profile_first() -> None:
    found, _ = instructions_of([said("The user instructs: no emojis.")], None, {1: None})
    hit = Hit("1", "memory", "Maya likes tea.", 1, "active", AT, (), None, "fact")
    context = Context(instructions=found, profile=profile_of([trait("Porto", "home", "2025-01-14")]), memories=(hit,))
    text = context.to_text()
    assert text.index("- no emojis") < text.index("- home: Porto (since 2025-01-14)") < text.index("Maya likes tea")
    system, user = context.to_messages()
    assert STANDING in system["content"]
    assert "no emojis" not in system["content"]
    assert user["content"].index("no emojis") < user["content"].index("tea")
    assert list(context.to_json())[:3] == ["instructions", "instructions_left_out", "profile"]
    assert STANDING not in Context(memories=(hit,)).to_text()


def test_memory_that_says_what_always_stands_is_not_repeated() -> None:
    rows = [said("The user instructs: no emojis.", "1")]
    found, _ = instructions_of(rows, None, {1: None})
    hits = (
        Hit("1", "memory", "The user instructs: no emojis.", 1, "active", AT, (), None, "instruction"),
        Hit("2", "memory", "Maya likes tea.", 1, "active", AT, (), None, "fact"),
    )
    assert [hit.id for hit in fitted(Context(memories=hits, instructions=found), None).memories] == ["2"]


def test_newest_value_of_an_attribute_holds_since_it_was_said() -> None:
    rows = (trait("Bergen", "home", "2025-05-02"), trait("Porto", "home", "2025-01-14"))
    assert told(*rows) == ["- home: Bergen (since 2025-05-02)"]


def test_value_said_again_after_another_holds_since_then() -> None:
    rows = (trait("Porto", "home", "2025-01-14", "2025-06-01"), trait("Bergen", "home", "2025-05-02"))
    assert told(*rows) == ["- home: Porto (since 2025-06-01)"]


def test_attribute_with_several_values_lists_a_few() -> None:
    rows = [trait(f"thing {n}", "likes", f"2025-01-{n:02}") for n in range(9, 0, -1)]
    assert told(*rows) == ["- likes: thing 9, thing 8, thing 7, thing 6"]


def test_value_that_ended_is_not_shown() -> None:
    over = {"trait": {"ended": True}}
    rows = (trait("vegan", "diet", "2025-05-02", **over), trait("vegan", "diet", "2025-01-14"))
    assert told(*rows) == []
    again = (trait("vegan", "diet", "2025-06-01"), *rows)
    assert told(*again) == ["- diet: vegan (since 2025-06-01)"]


def test_note_of_an_assistant_counts_less_than_the_person() -> None:
    rows = (trait("Oslo", "home", "2025-05-02", trust="assistant"), trait("Porto", "home", "2025-01-14"))
    assert told(*rows) == ["- home: Porto (since 2025-01-14)"]
    assert told(rows[0]) == ["- home: Oslo (since 2025-05-02)"]
