"""Talk among people: who speaks, what outsiders understand, and how much usefulness a memory needs there."""

import pytest

from slowwave_server.domain.candidates import ExtractionContext, Window
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor, said
from slowwave_server.domain.extraction.outsiders import is_clear_to_outsiders, is_listing
from slowwave_server.domain.extraction.pasted import without_older_mail
from slowwave_server.domain.extraction.speech import speeches
from slowwave_server.domain.extraction.tone import (
    has_long_turn,
    is_of_channel,
    is_personal,
    is_rambling,
    is_technical,
)
from tests.support.judging import AT, Judge, Said, kept

FRIENDS: tuple[Said, ...] = (
    ("user", "Maya", "I bake bread with my sister every Sunday."),
    ("user", "Jonas", "I moved to a small flat in Leeds with my two cats."),
)
CHANNEL: tuple[Said, ...] = (
    ("user", "wes", "does build_all() still write to /srv/out/logs?"),
    ("user", "ollie", "I always start runner.py with --no-cache on Debian 12."),
)


def test_signature_of_a_mail_is_removed_and_a_list_stays() -> None:
    assert without_older_mail("The flux names are accepted.\n--\nIda Holm\nTel +45 33 00 00").strip() == (
        "The flux names are accepted."
    )
    listed = "We chose two cities.\n-----\nGraz\nLille"
    assert without_older_mail(listed) == listed


def test_talk_of_software_is_technical_and_talk_of_friends_is_not() -> None:
    assert is_technical(content for _, _, content in CHANNEL)
    assert not is_technical(content for _, _, content in FRIENDS)
    assert not is_technical([])


def test_a_personal_talk_with_an_acronym_is_not_technical() -> None:
    assert not is_technical(["I watched the NBA with my brother.", "My dog is ill, the vet at the RSPCA helps us."])


def test_words_of_the_trade_make_a_talk_technical() -> None:
    assert is_technical(["The build fails on my server.", "Then the config is wrong.", "No, the kernel is."])
    assert not is_technical(["My sister works on a server farm.", "I love my dog.", "We watched a show."])


def test_a_turn_that_calls_a_speaker_shows_a_channel() -> None:
    assert is_of_channel(["Otavio: done"], {"otavio", "ray"})
    assert is_of_channel(["@ray done"], {"otavio", "ray"})
    assert not is_of_channel(["Otavio, are you there?"], {"Otavio", "Ray"})


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("The pumps of port 7 catch up within 15 minutes since firmware 3.2.", True),
        ("It catches up within 15 minutes since firmware 3.2 of the pumps.", False),
        ("The pumps would catch up within 15 minutes with firmware 3.2.", False),
        ("The pumps catch up soon after the tide of the morning ends.", False),
        ("Firmware 3.2 works.", False),
        ("Ida Holm, Harbour Office, Quay 7. The pumps catch up within 15 minutes.", False),
        ("Review of the pumps (10 min, Ida) follows after the report on firmware 3.2.", False),
        ("So the pumps of port 7 catch up within 15 minutes since firmware 3.2.", False),
        ("So far the pumps of port 7 catch up within 15 minutes since firmware 3.2.", True),
        ("The four steel wheels of the 1968 bus are in good condition, £80 plus postage.", False),
        ("I am facing an issue with the pumps of port 7 after the update to firmware 3.2.", False),
        ("The pumps of port 7 crash each night at 3, and the panel refuses my code.", False),
        ("The pumps of port 7 crash each night at 3 because the tide table ends there.", True),
        ("The pumps of port 7 had a problem with firmware 3.2; version 3.3 fixes it.", True),
        ("The four steel wheels of the 1968 bus cost Ida Holm £80 in 1990.", True),
        ("Ida agreed on firmware 3.2. KB (on chat): The pumps of port 7 catch up within 15 minutes.", False),
        ("Ida agreed on firmware 3.2. PR 44: the pumps of port 7 catch up within 15 minutes.", True),
        ("The minutes of firmware 3.2 are ready, I hand it over to Ida for the pumps of port 7.", False),
        ("We approved firmware 3.2 for the pumps of port 7 after a coffee break with Ida.", False),
        ("The pumps of port 7 catch up within 15 minutes, because our.", False),
        ("The pumps of port 7 catch up within 15 minutes (see the report on firmware 3.2.", False),
        ("Port 7 has firmware 3.2 and Ida likes it, the pumps catch up within 15 minutes.", True),
        ("The pumps of port 7 run firmware 3.2 and Ida has tested it. They catch up.", False),
        ("Sounds good, the pumps of port 7 catch up within 15 minutes since firmware 3.2.", False),
        ("Check firmware 3.2 of the pumps of port 7, which catch up within 15 minutes.", False),
        ("update-pumps.sh installs firmware 3.2, with which port 7 catches up within 15 minutes.", True),
        ("Ida is about to leave port 7 with the pumps and firmware 3.2.", False),
        ("The PR makes the pumps of port 7 catch up within 15 minutes.", False),
        ("The PR #41 makes the pumps of port 7 catch up within 15 minutes.", True),
        ("Fixed the pumps of port 7, which catch up within 15 minutes with firmware 3.2.", False),
        ("Thus the pumps of port 7 catch up within 15 minutes with firmware 3.2.", False),
        ("I move to adopt items 3A to 3C on the pumps of port 7 as Ida Holm presented them.", False),
        ("Our next speaker on the pumps of port 7 and firmware 3.2 is Ida Holm.", False),
        ("Ida moved the old pumps to port 7 and keeps firmware 3.2.", True),
        ("I recognize Ida Holm of port 7, who presents the pumps with firmware 3.2.", False),
        ("We will now move on to group 4, the pumps of port 7 with firmware 3.2.", False),
        ("The pumps of port 7 that are listed here have firmware 3.2.", False),
        ("All pumps of port 7 passed with firmware 3.2: 412 passed, 3 failed.", False),
        ("Firmware 3.2 for the pumps of port 7 is docs-only, +40/-7 in one file.", False),
        ("Firmware 3.2 for the pumps of port 7 builds on Debian 12, make test PASS.", False),
        ("The pumps of port 7 passed the test of firmware 3.2 in Lund.", True),
        ("The pumps of port 7 have firmware 3.2, that's not supported by the new panel.", False),
        ("In Lund, this is without the pumps of port 7 and firmware 3.2.", False),
        ("Other ports will need firmware 3.2 for the pumps, as port 7 does.", False),
        ("The pumps of port 7 -- so, yes -- had firmware 3.2 at the point of the test.", False),
        ("The panel of port 7 shows Lund and Bari Both pumps have firmware 3.2.", False),
        ("Discussed the pumps of port 7 with Ida, who has firmware 3.2.", False),
        ("Pump meeting, rebasing firmware 3.2 of port 7, which has panels and reviews.", False),
        ("Visit of Ida at port 7, learned firmware 3.2 of the pumps has a panel.", False),
        ("Offset one, one, two, into the list of the pumps that port 7 has in Lund.", False),
        ("Ida: stepping back, we have firmware 3.2 on the pumps of port 7.", False),
        ("The panel works for both Ida: the pumps of port 7 have two modes in firmware 3.2.", False),
        ("Problem: the pumps of port 7 had firmware 3.2, which has no panel.", True),
    ],
)
def test_what_outsiders_do_not_understand(text: str, clear: bool) -> None:
    assert is_clear_to_outsiders(text) is clear


def test_an_answer_with_its_question_is_clear() -> None:
    assert is_clear_to_outsiders("Quay 7, behind the mill.", "Where does the ferry to Lille leave?")
    assert not is_clear_to_outsiders("Quay 7, behind the mill.")


@pytest.mark.parametrize(
    ("text", "rambles"),
    [
        ("Made some clean-up, and, more tests with, theirs and ours.", True),
        ("It is is the same, so so we leave it.", True),
        ("We measured, like, the pumps of port 7, sort of, twice.", True),
        ("Um the pumps catch up uh within 15 minutes.", True),
        ("Kim Kim and Lee Lee, e.g., measured the pumps of port 7.", False),
        (" ".join(["word"] * 31), True),
        ("The pumps catch up within 15 minutes since firmware 3.2; before that, it took two hours.", False),
    ],
)
def test_speech_without_sentences_rambles(text: str, rambles: bool) -> None:
    assert is_rambling(text) is rambles


LETTER = "The ferry to the island leaves at eight on weekdays, and the harbour master asks that " * 7
DRY = (
    "The hall of the club has 40 seats.",
    "The old one had 60.",
    "The caretaker opens it at five.",
    "The key hangs in the office.",
    "Monday is taken by the choir.",
    "The choir pays 20 euros.",
    "The stage lights are broken.",
    "A man from Lund repairs them.",
    "He comes in the second week of May.",
    "The bill goes to the town.",
)


def test_letters_have_long_turns() -> None:
    assert has_long_turn([LETTER, "Agreed."])
    assert not has_long_turn(DRY)


def test_ten_sentences_without_a_personal_word_are_impersonal() -> None:
    assert not is_personal(DRY)
    assert is_personal(DRY[:4])
    assert is_personal([*DRY, "I love that hall.", "My sister sings there, too."])
    assert is_personal([])


def test_an_impersonal_talk_of_two_needs_more_usefulness() -> None:
    turns: list[Said] = [("user", ("Nora", "Emil")[at % 2], text) for at, text in enumerate(DRY)]
    lights = "The caretaker of the Lund town hall opens the old stage for the choir."
    turns[2] = ("user", "Nora", lights)
    assert kept(lambda _: 0.6, *turns) == []
    assert kept(lambda text: 0.96 if "Lund town" in text else 0.0, *turns) == [f'Nora: "{lights}"']


def test_a_letter_after_other_speakers_is_no_chat() -> None:
    before = (Event(1, "user", "user", "When does the ferry leave?", AT, name="Emil"),)
    told = f"{LETTER}. The Lund harbour office sells 40 tickets a day to the old island."
    window = Window((Event(2, "user", "user", told, AT, name="Nora"),))
    judge = RulesExtractor(Judge(lambda _: 0.6))
    assert judge.extract(window, ExtractionContext("coder", "UTC", before), AT).candidates == ()


def test_a_named_persons_first_letter_is_impersonal_and_a_diary_is_not() -> None:
    letter = f"{LETTER}. {' '.join(DRY)} The Lund harbour office sells 40 tickets a day to the old island."
    diary = f"{LETTER}. I love my sister Ida in Lund. My dog is ill. I hope she gets well. I miss my mother."
    assert kept(lambda _: 0.6, ("user", "Nora", letter)) == []
    assert kept(lambda _: 0.6, ("user", None, letter)) != []
    assert kept(lambda _: 0.6, ("user", "Nora", diary)) != []


def test_a_speech_in_short_turns_is_as_impersonal_as_a_letter() -> None:
    told = "The Lund harbour office sells 40 tickets a day to the old island."
    turns: list[Said] = [("user", "Nora", f"{text} {text}") for text in (*DRY, *DRY)]
    assert kept(lambda _: 0.6, *turns, ("user", "Nora", told)) == []
    assert kept(lambda _: 0.6, ("user", "Nora", told), ("user", "Nora", "I love it.")) != []


def test_the_end_of_a_talk_is_as_impersonal_as_what_was_said_before() -> None:
    before = tuple(Event(at, "user", "user", text, AT, name=("Nora", "Emil")[at % 2]) for at, text in enumerate(DRY, 1))
    end = Event(len(before) + 1, "user", "user", "I sold 40 tickets to the old island on Monday.", AT, name="Nora")
    judge = RulesExtractor(Judge(lambda _: 0.6))
    alone = (Event(1, "user", "user", "Hello Nora.", AT, name="Emil"),)
    assert judge.extract(Window((end,)), ExtractionContext("coder", "UTC", before), AT).candidates == ()
    assert judge.extract(Window((end,)), ExtractionContext("coder", "UTC", alone), AT).candidates != ()


@pytest.mark.parametrize(
    ("name", "is_kept"), [("Councillor Ida Holm", False), ("Josip Braun", True), ("braunj7", True)]
)
def test_a_name_that_is_not_the_speakers_shows_a_mistaken_transcript(name: str, is_kept: bool) -> None:
    told = "I'm Josip Braun, and my house stands at 4111 Harbour Road in Lund."
    found = kept(lambda _: 0.99, ("user", name, told), ("user", "Nora Vik", "Thanks."), ("user", "Emil Ek", "Next."))
    assert bool(found) == is_kept


def test_a_fact_about_a_groups_member_needs_more_than_one_of_two_friends() -> None:
    told = "My sister Ida is allergic to the walnuts of our garden in Lund."
    friends: tuple[Said, ...] = (("user", "Nora", told), ("user", "Emil", "Oh no!"))
    group: tuple[Said, ...] = (*friends, ("user", "Kim", "So sorry."))
    assert kept(lambda _: 0.6, *friends) != []
    assert kept(lambda _: 0.6, *group) == []
    assert kept(lambda _: 0.9, *group) != []


def test_two_people_at_work_need_more_usefulness_than_friends() -> None:
    assert kept(lambda _: 0.6, *FRIENDS) != []
    assert kept(lambda _: 0.6, *CHANNEL) == []
    assert kept(lambda text: 0.9 if "--no-cache" in text else 0.0, *CHANNEL) == []
    assert kept(lambda text: 0.97 if "--no-cache" in text else 0.0, *CHANNEL) != []


def test_a_remark_in_a_channel_needs_more_than_a_rule_or_several_names() -> None:
    asked: Said = ("user", "wes", "does build_all() still write to /srv/out/logs?")
    remark: Said = ("user", "ollie", "The runner of Lund writes 40 lines of logs for each pump.")
    rule: Said = ("user", "ollie", "The runner of Lund must write 40 lines of logs for each pump.")
    names: Said = ("user", "ollie", "The runner of Lund writes logs of Bari, Malmo and Patras for each pump.")
    assert kept(lambda _: 0.955, asked, remark) == []
    assert kept(lambda _: 0.97, asked, remark) != []
    assert kept(lambda _: 0.955, asked, rule) != []
    assert kept(lambda _: 0.955, asked, names) != []


@pytest.mark.parametrize(
    ("names", "shown"),
    [(("ray", "ollie"), True), (("Ray", "BJ1"), True), (("Ray", "mum"), False), (("bot_0", "bot_1"), False)],
)
def test_nicknames_show_a_channel(names: tuple[str, str], shown: bool) -> None:
    talk = [Event(at, "user", "user", "I bake bread.", AT, name=name) for at, name in enumerate(names, 1)]
    assert [one.in_group for one in speeches(talk, [], "coder")] == [shown, shown]


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Summary", False),
        ("Video recording", False),
        ("Unknown Speaker", False),
        ("Unknown (F)", False),
        ("Unknown Mortal", True),
        ("All interested members", False),
        ("For later versions", False),
        ("-ChanServ-", False),
        ("GitHub12", False),
        ("pump-bot", False),
        ("pumps-git", False),
        ("Ida Holm", True),
        ("ida holm", True),
        ("Maria de la Cruz", True),
        ("In Young", True),
        ("talbot", True),
        ("Kim (in Lille)", True),
    ],
)
def test_headings_and_programs_are_no_speakers(name: str, person: bool) -> None:
    talk = [Event(1, "user", "user", "The pumps catch up.", AT, name=name)]
    assert [one.is_person for one in speeches(talk, [], "coder")] == [person]


def test_lines_of_headings_and_programs_become_no_memories() -> None:
    told = "Our firmware 3.2 makes the pumps of port 7 catch up within 15 minutes."
    hello: tuple[Said, Said] = (("user", "Ray", "hi"), ("user", "Ida", "hello"))
    assert kept(lambda _: 0.99, *hello, ("user", "Meeting minutes", told)) == []
    assert kept(lambda _: 0.99, *hello, ("user", "pump-bot", told)) == []
    assert kept(lambda _: 0.99, *hello, ("user", "Petr", told)) != []
    assert kept(lambda _: 0.99, hello[0], ("user", "pump-bot", told)) == []
    assert kept(lambda _: 0.99, ("user", "Notes", told), ("assistant", None, "Noted.")) != []


POSTER = (
    "Harbour Night\nSaturday 9 May\nThe Gull\nIda Holm Trio\nDJ Bright\nPetr & Kim\nHall 2\nFrom 7 pm\nFree entry\n"
)


def test_a_poster_in_a_talk_among_people_becomes_no_memory() -> None:
    assert is_listing(POSTER)
    assert not is_listing(" ".join(DRY))
    hello: tuple[Said, Said] = (("user", "Ray", "hi"), ("user", "Ida", "hello"))
    told = f"{POSTER}Harbour Night has 3 bands in Hall 2."
    assert kept(lambda _: 0.99, *hello, ("user", "Petr", told)) == []
    assert kept(lambda _: 0.99, ("user", None, told)) != []


def test_a_long_turn_in_another_language_is_no_listing() -> None:
    told = "Meine Tochter Ida ist gegen Haselnuss allergisch. "
    talk = told + " ".join(f"Der Hof im Dorf hat {at} Pferd und {at} Kuh." for at in range(2, 12))
    assert kept(lambda _: 0.9, ("user", "Nora", talk), ("user", "Emil", "Das tut mir leid, wirklich.")) != []


def test_a_rambling_transcript_is_never_kept() -> None:
    told = "Our firmware 3.2 makes the pumps catch up, and, also with, the tide table of port 7."
    plain = told.replace(", and, also with,", " with")
    hello: tuple[Said, Said] = (("user", "a", "hi"), ("user", "b", "hello"))
    assert kept(lambda _: 0.99, *hello, ("user", "Petr", told)) == []
    assert kept(lambda _: 0.99, *hello, ("user", "Petr", plain)) == [f'Petr: "{plain}"']


def test_a_pasted_list_of_features_is_no_passage() -> None:
    listed = "Tide Map: Shows all ports of the region. Pump Report: Lists the hours of each pump."
    talk = list(speeches([Event(1, "user", "user", listed, AT)], [], "coder"))
    assert said.among_people(talk, 0, listed, ()) == []
    assert said.among_people(talk, 0, listed.replace(": Lists", " lists"), ()) != []


def test_foreign_musings_in_technical_talk_are_dropped() -> None:
    turns: tuple[Said, ...] = (
        ("user", "P", "¿Qué tamaño tiene el mensaje INV en la versión v2 del protocolo P2P?"),
        ("user", "R", "Yo preferiría mi código MAC de 32 bytes en Poly1305, como en mi casa, porque me gusta."),
        ("user", "P", "Hemos decidido usar Poly1305 con MAC de 16 bytes a partir del 3 de mayo de 2027."),
    )
    found = kept(lambda _: 0.9, *turns)
    assert not any("preferiría" in one for one in found)
    assert any("decidido" in one for one in found)


def test_foreign_musings_in_a_group_are_dropped() -> None:
    turns: tuple[Said, ...] = (
        ("user", "Inès", "J'adore les concerts de Mathieu Vasseur, mon chanteur préféré, et ma sœur aussi."),
        ("user", "Luc", "Moi, je préfère écouter mes disques à la maison avec mon chien et ma famille."),
        ("user", "Zoé", "Nous avons décidé de prendre les billets du 22 avril 2027 pour le concert de Lyon."),
    )
    found = kept(lambda _: 0.9, *turns)
    assert not any("disques" in one or "adore" in one for one in found)
    assert any("décidé" in one for one in found)
    assert any("disques" in one for one in kept(lambda _: 0.9, *turns[:2]))
