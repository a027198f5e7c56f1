"""Search in other languages than English, in scripts without spaces, and by parts of names."""

import pytest

from slowwave_server.domain.languages import LANGUAGES
from tests.support.recalling import Shelf, reading, search

pytestmark = pytest.mark.servers


def found(shelf: Shelf, query: str, agent: str = "maya") -> list[str]:
    return [hit.id for hit in search(shelf.connection, "default", agent, query)]


def lexemes(shelf: Shelf, text: str, language: str = "en") -> set[str]:
    (row,) = shelf.sql("SELECT tsvector_to_array(slowwave.search_vector(%s, 40000, %s)) AS found", text, language)
    return set(row["found"])


def terms(shelf: Shelf, question: str, *languages: str) -> dict[str, set[str]]:
    rows = shelf.sql("SELECT t.lexemes FROM slowwave.question_terms(%s, %s) AS t", question, list(languages))
    return {row["lexemes"][0]: set(row["lexemes"][1:]) for row in rows}


def test_a_word_that_another_language_drops_is_still_found(shelf: Shelf) -> None:
    shelf.say("diary", "Vi køber altid brød hos bageren på hjørnet om søndagen.", "The dog sleeps in the kitchen.")
    assert "diary#2" in found(shelf, "dog")


def test_database_and_code_name_the_same_configurations(shelf: Shelf) -> None:
    rows = shelf.sql(
        "SELECT l AS code, slowwave.search_configuration(l)::text AS name FROM unnest(%s::text[]) AS l", [*LANGUAGES]
    )
    assert {row["code"]: row["name"] for row in rows} == {c: known.configuration for c, known in LANGUAGES.items()}


INFLECTED = [
    ("Unsere Lieferanten wohnten früher in Häusern am Fluss.", "Welches Haus?"),
    ("Nous avons déplacé les réunions hebdomadaires au jeudi matin.", "Quelle réunion hebdomadaire ?"),
    ("Mi hermana compró dos bicicletas usadas en Sevilla.", "¿Qué bicicleta usada?"),
    ("A nossa equipa testou as impressoras novas na segunda-feira.", "Que impressora nova?"),
    ("Abbiamo spostato le riunioni settimanali al giovedì mattina.", "Quale riunione settimanale?"),
    ("Wij hebben de vergaderingen naar donderdagochtend verplaatst.", "Welke vergadering?"),
    ("Jag köpte två begagnade cyklar av grannarna i Lund.", "Vilken granne?"),
    ("Моя сестра купила два старых велосипеда у соседа.", "Какой велосипед?"),
]


@pytest.mark.parametrize(("said", "question"), INFLECTED)
def test_question_finds_other_forms_of_its_words(shelf: Shelf, said: str, question: str) -> None:
    shelf.say("talk", said)
    assert found(shelf, question) == ["talk#1"]


@pytest.mark.parametrize(("said", "question"), INFLECTED)
def test_question_finds_other_forms_beside_english_text(shelf: Shelf, said: str, question: str) -> None:
    shelf.say("work", *(f"We moved the printers and bicycles of house {n} to the river." for n in range(20)))
    shelf.say("talk", said)
    assert found(shelf, question)[0] == "talk#1"


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("我们决定用Superset做销售看板。", "销售看板用什么工具？"),
        ("我们决定用Superset做销售看板。", "superset"),
        ("毎週木曜日の朝に定例会議をします。", "定例会議はいつですか？"),
        ("新しい画面はReactで書きます。", "React で何を書く？"),
        ("저는 매주 목요일에 수영장에 갑니다.", "수영장은 언제 가요?"),
        ("ฉันทำงานที่โรงพยาบาลในเชียงใหม่", "โรงพยาบาลอยู่ที่ไหน"),
        ("我家的猫叫阿福。", "猫"),
        ("阿福是一只猫", "猫"),
    ],
)
def test_text_without_spaces_is_found_by_pairs_of_characters(shelf: Shelf, said: str, question: str) -> None:
    shelf.say("talk", "今日は雨です。", said, "天气很好。")
    assert found(shelf, question)[0] == "talk#2"


@pytest.mark.parametrize(
    "question", ["/srv/jobs/tail_wrapper.sh", "srv/jobs/tail_wrapper.sh", "tail_wrapper.sh", "tail_wrapper", "wrapper"]
)
def test_path_is_found_by_its_parts(shelf: Shelf, question: str) -> None:
    shelf.say(
        "ops", "The night job restarts every hour.", "I moved /srv/jobs/tail_wrapper.sh to the new host.", "Fine."
    )
    assert found(shelf, question)[0] == "ops#2"


@pytest.mark.parametrize(
    ("said", "questions"),
    [
        ("It calls getUserName twice.", ["getUserName", "getusername", "user name"]),
        ("The column session_id is indexed.", ["session_id", "session id"]),
        ("Ticket HX-2291 is closed.", ["HX-2291", "hx-2291", "2291"]),
        ("We dropped @clack/prompts last week.", ["@clack/prompts", "clack/prompts", "clack", "prompts"]),
        (r"Start C:\jobs\tail.ps1 by hand.", [r"C:\jobs\tail.ps1", "tail.ps1", "tail"]),
        ("See https://wiki.example.org/teams/on-call for it.", ["wiki.example.org", "example", "on-call"]),
        ("Use std::optional here.", ["std::optional", "optional"]),
    ],
)
def test_name_is_found_whole_and_by_its_parts(shelf: Shelf, said: str, questions: list[str]) -> None:
    shelf.say("dev", "Nothing to see.", said)
    assert [question for question in questions if found(shelf, question)[:1] != ["dev#2"]] == []


def test_whole_name_ranks_before_its_parts_elsewhere(shelf: Shelf) -> None:
    shelf.say(
        "dev", "The wrapper of the tail is in the sh folder.", "Look at tail_wrapper.sh.", "A tail wrapper is sh."
    )
    assert found(shelf, "tail_wrapper.sh")[0] == "dev#2"


def test_numbers_and_hyphenated_words_are_indexed_as_before(shelf: Shelf) -> None:
    (row,) = shelf.sql(
        "SELECT slowwave.search_vector(%s, 40000) = to_tsvector('english', %s) AS same",
        *["On 2024-05-10 the well-known ratio was 3.14, and 10:30 is fine; don't worry."] * 2,
    )
    assert row["same"]


def test_marks_beyond_ascii_are_no_part_of_words(shelf: Shelf) -> None:
    assert lexemes(shelf, "¿Quién vive aquí? “Marta”… «bien»→", "es") == lexemes(
        shelf, "Quién vive aquí Marta bien", "es"
    )
    assert lexemes(shelf, "I don\u2019t know") == lexemes(shelf, "I don't know")


def test_emoji_are_words_without_the_color_of_skin(shelf: Shelf) -> None:
    assert lexemes(shelf, "Fine \U0001f44d\U0001f3fd\U0001f44d") == {"fine", "\U0001f44d"}
    assert lexemes(shelf, "\u2764\ufe0f") == lexemes(shelf, "\u2764") == {"\u2764"}
    assert lexemes(shelf, "\U0001f1f3\U0001f1f4\U0001f1eb\U0001f1f7") == {
        "\U0001f1f3\U0001f1f4",
        "\U0001f1eb\U0001f1f7",
    }
    assert terms(shelf, "What is \U0001f98a?") == {"\U0001f98a": set()}


def test_words_with_accents_have_lexemes_without_them_and_keep_their_own(shelf: Shelf) -> None:
    assert lexemes(shelf, "The café of Zoë") == {"café", "cafe", "zoë", "zoe"}
    assert lexemes(shelf, "La habitación está lista", "es") == {"habit", "habitacion", "list"}
    assert lexemes(shelf, "Мой новый ёж", "ru") >= {"нов", "еж"}
    assert terms(shelf, "cafés") == {"café": {"cafe", "cafés", "cafes"}}
    assert terms(shelf, "cafes") == {"cafe": set()}


def test_exact_accents_rank_first(shelf: Shelf) -> None:
    shelf.say("plain", "Her resume is on the desk of Amanda.")
    shelf.say("accent", "Her résumé is on the desk of Amanda.")
    assert found(shelf, "résumé") == ["accent#1", "plain#1"]


def test_long_german_words_are_found_by_their_parts(shelf: Shelf) -> None:
    assert lexemes(shelf, "Urlaubsfotos liegen hier", "de") == {
        "urlaubsfotos",
        "lieg",
        ">urlaubsfotos",
        "<sotofsbualru",
    }
    assert terms(shelf, "Urlaub", "de")["urlaub"] == {">urlaub*", "<bualru*", "url aub"}
    assert "strom rechnung" in terms(shelf, "Wann kommt die Stromrechnung?", "de")["stromrechn"]
    assert "strom rechnung" not in terms(shelf, "Stromrechnung").get("stromrechnung", set())


def test_memories_are_stemmed_in_their_own_language(shelf: Shelf) -> None:
    memory = shelf.keep("Der Kunde bevorzugt gedruckte Rechnungen.")
    shelf.keep("The customer prefers the phone to letters.")
    assert found(shelf, "Welche Rechnung bevorzugen die Kunden?") == [memory]


def test_words_of_all_languages_find_what_is_not_flushed_yet(shelf: Shelf) -> None:
    shelf.say("alt", "Wir haben uns gestern über die neuen Verträge unterhalten.")
    shelf.say("neu", "Die Rechnungen an die Müller GmbH gehen immer mit der Post.", flushed=False)
    shelf.say("zh", "销售看板已经上线了。", flushed=False)
    assert found(shelf, "Wie geht eine Rechnung an Müller?") == ["neu#1"]
    assert found(shelf, "看板") == ["zh#1"]


def test_english_questions_find_names_in_other_languages(shelf: Shelf) -> None:
    shelf.say("de", "Wir haben die Auswertungen auf Superset und Kubernetes umgestellt.")
    assert found(shelf, "What runs on Kubernetes?") == ["de#1"]


def test_english_scope_has_one_stem_for_each_word(shelf: Shelf) -> None:
    shelf.say("talk", "My whippet is called Biscuit.")
    assert shelf.sql("SELECT slowwave.scope_languages(%s) AS found", [shelf.scope()]) == [{"found": []}]
    assert terms(shelf, "When did the whippets arrive?") == {"whippet": set(), "arriv": set()}


def test_looking_for_languages_reads_no_english_rows(shelf: Shelf) -> None:
    shelf.say("talk", *(f"My whippet ran {n} miles." for n in range(300)))
    with reading(shelf, "passages") as read:
        assert shelf.sql("SELECT slowwave.scope_languages(%s) AS found", [shelf.scope()]) == [{"found": []}]
        assert read() == (0, 0)


def test_languages_of_a_scope_do_not_reach_another(shelf: Shelf) -> None:
    shelf.say("de", "Wir haben die Auswertungen gestern auf Superset umgestellt.", agent="atlas")
    shelf.keep("Le client préfère les factures imprimées en couleur.")
    rows = shelf.sql(
        "SELECT k.name, slowwave.scope_languages(ARRAY[k.id]) AS found FROM slowwave.scopes k"
        " WHERE k.name IN ('atlas', 'maya') ORDER BY 1"
    )
    assert rows == [{"name": "atlas", "found": ["de"]}, {"name": "maya", "found": ["fr"]}]


def test_question_loses_the_stop_words_of_its_own_language_alone(shelf: Shelf) -> None:
    assert set(terms(shelf, "Wo steht die alte Presse?", "de", "fr")) == {"steht", "alt", "press"}
    assert "die" in terms(shelf, "Did the die of the press break?", "de", "fr")


def test_question_without_spaces_keeps_what_carries_meaning(shelf: Shelf) -> None:
    assert set(terms(shelf, "销售看板用什么工具？", "zh")) == {"销售", "售看", "看板", "板用", "工具"}
    assert set(terms(shelf, "定例会議はいつですか？", "ja")) == {"定例", "例会", "会議"}
    assert set(terms(shelf, "です", "ja")) == {"です"}


def test_i8_text_without_spaces_of_another_scope_is_not_found(shelf: Shelf) -> None:
    shelf.say("zh", "我家的猫叫阿福。", agent="atlas")
    shelf.say("zh", "天气很好。")
    assert found(shelf, "猫") == []
    assert found(shelf, "阿福") == []


def test_hostile_names_and_marks_raise_nothing(shelf: Shelf) -> None:
    texts = [
        "a'b/c'd.e",
        "x\\'y/z",
        "猫'|猫",
        "a/:*b",
        "::a::b::",
        "/" * 300 + "a/b",
        "ab/" * 500,
        "\u3099\u3099か",
        "𠮷野家",
    ]
    shelf.say("odd", *texts)
    for text in texts:
        found(shelf, text)
    assert found(shelf, "𠮷野家") == ["odd#9"]
