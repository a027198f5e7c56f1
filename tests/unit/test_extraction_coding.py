"""Talk with coding agents: what nobody said, what an agent reports, and how much usefulness a memory needs there."""

import pytest

from slowwave_server.domain.extraction import said
from slowwave_server.domain.extraction.machine_text import is_machine_text
from slowwave_server.domain.extraction.outline import outline
from slowwave_server.domain.extraction.standing import is_instruction
from slowwave_server.domain.extraction.tone import is_about_code
from tests.support.judging import Said, even, kept


@pytest.mark.parametrize(
    "text",
    [
        "Sent: Tuesday 4 March 2025 09:12",
        "Von: Karla Ruiz <karla@example.org> An: Verteiler",
        "Copyright 2019 The Authors, all rights reserved.",
        "If you received this message by mistake, please delete it.",
        "Git commit -m 'ready' src/main.py",
        "Iptables -A INPUT -p tcp --dport 443 -j ACCEPT",
        "/* blinks the second light",
        "Date: Tue, 4 Mar 2025 20:51:06 -0700",
        "(show_form Drafting) (alert",
        "at load_all (reader.ts:12:9)",
        "rw [hx, mul_comm] at h1 exact lt_irrefl _ (foo_bar x)",
        "14:02:31.120: pump 7 reached its level",
        "Jul 08, 2024 11:53:22 AM PumpHandler redirects the request",
    ],
)
def test_text_that_nobody_said_is_recognized(text: str) -> None:
    assert is_machine_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "The order went to 12 Mill Lane, 40213 Bonn, on 3 May 2026 at 14:30 for 1,250.00 euros.",
        "Git hooks run ruff and mypy before each commit.",
        "Jul 08 is the day of the tide table.",
        "Docker needs 8 GB of memory for the end-to-end tests.",
        "From: next Monday we start at eight.",
        "The index on events(tenant_id, created_at) made the report of last month fast.",
        "Ich fahre am Freitag mit dem Zug um 7:40 nach Köln.",
    ],
)
def test_a_persons_words_are_no_machine_text(text: str) -> None:
    assert not is_machine_text(text)


def test_ban_until_something_happens_is_no_standing_instruction() -> None:
    assert not is_instruction("Do not contact me again until you have the whole overview.")
    assert not is_instruction("Do not edit the plan file itself.")
    assert is_instruction("Do not edit generated files.")


def test_acronyms_make_no_talk_about_code() -> None:
    assert not is_about_code(["The M&A team meets the LPs about the PPM.", "Send the NDA to legal."])
    assert is_about_code(["Fix `load_all` in reader.py.", "The tests pass."])


CACHE = "The list in DepotCache was keyed without the depot, so reader.py returned parcels of all depots."


def test_a_coding_agents_passage_needs_more_usefulness() -> None:
    coding: tuple[Said, Said] = (("user", None, "Why does `load_all` in reader.py hang?"), ("assistant", None, CACHE))
    travel: tuple[Said, Said] = (
        ("user", None, "When do we leave?"),
        ("assistant", None, "The bus to Graz leaves at 8."),
    )
    assert kept(lambda _: 0.6, *coding, weigh=even) == []
    assert kept(lambda _: 0.8, *coding, weigh=even) == [f'coder: "{CACHE}"']
    assert kept(lambda _: 0.6, *travel, weigh=even) == ['coder: "The bus to Graz leaves at 8."']


def test_an_inference_of_a_coding_agent_is_never_kept() -> None:
    asked: Said = ("user", None, "Why does `load_all` in reader.py hang?")
    guess = f"But {CACHE[0].lower()}{CACHE[1:]}".replace("was keyed", "might be keyed")
    assert kept(lambda _: 0.9, asked, ("assistant", None, guess), weigh=even) == []
    assert kept(lambda _: 0.9, asked, ("assistant", None, CACHE), weigh=even) == [f'coder: "{CACHE}"']


def passages(text: str) -> list[str]:
    return [one.said for one in said.of_agent(text, ())]


def test_steps_of_an_agent_are_no_passages() -> None:
    assert passages(f"Let me read reader.py and DepotCache first. {CACHE} Now I'll add a test to tests/depot.py.") == [
        CACHE
    ]


def test_plans_of_an_agent_are_no_passages() -> None:
    assert passages(f"{CACHE} However, I need to check tests/depot.py for the same list.") == [CACHE]


def test_receipts_advice_and_reactions_of_an_agent_are_no_passages() -> None:
    receipt = "I have received the list of DepotCache and the log of 4 May."
    advice = "Update the list of DepotCache and the log of Bremen on 4 May."
    reaction = "Excellent, the list of DepotCache is what Bremen needs on 4 May."
    assert passages(f"{receipt}\n\n{advice}\n\n{reaction}\n\n{CACHE}") == [CACHE]


def test_a_field_of_a_thing_in_the_heading_is_no_passage() -> None:
    text = "### Ferry\n- Example: Ida Holm crossed to Lund with 3 cars.\n- Source: forum of the Lund harbour, 2024.\n"
    assert passages(text) == []
    assert passages("- Ferry to Lund: 3 cars cross at 8.") == ["Ferry to Lund: 3 cars cross at 8."]


def test_parts_of_sentences_are_no_points_of_an_outline() -> None:
    answer = (
        "## Move the tide screenshots\n- should be moved to\n- Choose port 8 if\n"
        "- **Port 7**: \u2014 keeps 12 images\n- Port 9 has none\n"
    )
    found = outline(answer)
    assert found is not None
    assert found.points == ("Port 7: keeps 12 images", "Port 9 has none")


def test_items_of_a_list_do_not_merge_with_what_follows() -> None:
    items = ("Depot Bremen starts on 4 May with flag depot_v2.", "Depot Lille has scanners with Android 10.")
    text = "\n".join(f"- {one}" for one in items)
    assert passages(f"{text}\n\n{CACHE}\nIt is keyed by depot and day since version 3.") == [
        *items,
        f"{CACHE} It is keyed by depot and day since version 3.",
    ]


def test_an_order_that_answers_an_offer_is_no_fact() -> None:
    turns: tuple[Said, ...] = (
        ("user", None, "Cambia el título de la ventana de palabras guardadas, por favor."),
        ("assistant", None, "El título ha cambiado en la ventana. ¿Quieres que compile el trabajo de la familia?"),
        ("user", None, "Desarrolla el botón"),
    )
    assert not any("Desarrolla" in one for one in kept(lambda _: 0.9, *turns))


def test_who_speaks_alone_of_technical_things_needs_no_more_usefulness() -> None:
    assert kept(lambda _: 0.6, ("user", None, "The build uses webpack 5.4; run `npm run build` for it."))


@pytest.mark.parametrize(
    "told", ["Bread bakes well in a hot oven with steam.", "Walks before breakfast clear heads of all ages."]
)
def test_what_a_person_only_states_to_an_agent_is_judged(told: str) -> None:
    reply: Said = ("assistant", None, "Okay, noted.")
    assert kept(lambda _: 0.75, ("user", None, told), reply)
    assert not kept(lambda _: 0.65, ("user", None, told), reply)
    assert not kept(lambda _: 0.75, ("user", None, f"{told} Can you draw me a chart of that?"), reply)


def test_what_follows_an_offer_of_help_is_no_answer_to_it() -> None:
    def likes(text: str) -> float:
        return 0.9 if "(asked" in text else 0.8

    told: Said = ("user", None, "Quay 7 in Lund, near the old mill.")
    offered = kept(likes, ("assistant", None, "Would you like me to help with anything else?"), told)
    asked = kept(likes, ("assistant", None, "Where does the ferry leave?"), told)
    assert offered == ['The user: "Quay 7 in Lund, near the old mill."']
    assert any("(asked" in one for one in asked)
