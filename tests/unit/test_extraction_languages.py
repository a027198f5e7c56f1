"""Other languages than English: what is kept, of which type, and that nobody's words are changed."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave_server.domain.candidates import Candidate, Extraction, ExtractionContext, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.foreign import KeptSentence, kept
from slowwave_server.domain.extraction.languages import CODES, language
from slowwave_server.domain.extraction.languages.splitting import sentences
from slowwave_server.domain.extraction.person import Speaker
from slowwave_server.domain.extraction.speech import Speech
from tests.support.tables import for_each

AT = datetime(2026, 11, 23, 9, tzinfo=UTC)  # a Monday
Turn = tuple[EventKind, str | None, str]
AGENT: Turn = ("assistant", None, "Okay.")

INSTRUCTIONS = {
    "de": "Bitte schreib mir Rechnungen immer auf Papier.",
    "es": "A partir de ahora confírmame siempre los pedidos.",
    "fr": "À partir de maintenant, écris toujours les montants en euros.",
    "it": "D'ora in poi scrivimi sempre in italiano.",
    "ja": "これからは必ず敬語で書いてください。",
    "nl": "Stuur mij voortaan altijd een kopie van de factuur.",
    "pt": "De agora em diante, mande sempre o resumo por e-mail.",
    "zh": "以后请一律用表格回复我。",
}
FACTS = {
    "de": "Mein Bruder Ole arbeitet als Imker in Husum.",
    "es": "Mi abuela Carmen tiene diabetes.",
    "fr": "Ma tante Solange habite à Brest.",
    "it": "Mio zio Renzo alleva due cavalli a Lucca.",
    "ja": "弟は札幌で獣医をしています。",
    "nl": "Mijn opa Wim woont op een boerderij in Drenthe.",
    "pt": "Meu tio Joaquim tem uma padaria em Évora.",
    "zh": "我弟弟在青岛当兽医。",
}
TASTES = {
    "de": "Am liebsten esse ich Grünkohl mit Kartoffeln.",
    "es": "Me encanta el queso de cabra.",
    "fr": "Je préfère le train à l'avion.",
    "it": "Mi piacciono molto i funghi porcini.",
    "ja": "抹茶のアイスが大好きです。",
    "nl": "Ik hou heel erg van haring.",
    "pt": "Adoro bolo de cenoura.",
    "zh": "我最喜欢吃糖醋鱼。",
}
DECISIONS = {
    "de": "Wir haben uns für die Ziegel aus Ton entschieden.",
    "es": "Al final hemos decidido comprar el horno grande.",
    "fr": "On a décidé de peindre la façade en blanc.",
    "it": "Abbiamo deciso di vendere il forno grande.",
    "ja": "窯は新しいものに買い替えることにしました。",
    "nl": "We hebben besloten de oude oven te verkopen.",
    "pt": "Decidimos comprar o forno maior.",
    "zh": "我们决定买那台大的烤箱。",
}
OUTCOMES = {
    "de": "Die Lieferung LF-3390 wurde auf Donnerstag verschoben.",
    "es": "El pedido LF-3390 ha sido enviado.",
    "fr": "La commande LF-3390 a été expédiée.",
    "it": "L'ordine LF-3390 è stato spedito.",
    "ja": "注文LF-3390を発送しました。",
    "nl": "Bestelling LF-3390 is verzonden.",
    "pt": "O pedido LF-3390 foi enviado.",
    "zh": "订单LF-3390已经发货。",
}
LEFT_OUT = {
    "de": ["Kannst du mir bitte ein Rezept suchen?", "Danke, das klingt gut!", "Hm, vielleicht."],
    "es": ["¿Puedes buscarme una receta?", "¡Gracias, qué bien!", "Mmm, quizás."],
    "fr": ["Tu peux me chercher une recette ?", "Merci, c'est parfait !", "Peut-être."],
    "it": ["Puoi cercarmi una ricetta?", "Grazie, che bello!", "Mah, forse."],
    "ja": ["レシピを探してもらえますか？", "ありがとうございます、いいですね。", "うーん、どうしよう。"],
    "nl": ["Kun je een recept voor me zoeken?", "Bedankt, dat klinkt goed!", "Hm, misschien."],
    "pt": ["Você pode procurar uma receita?", "Obrigada, que bom!", "Hum, talvez."],
    "zh": ["你能帮我找个菜谱吗？", "谢谢，太好了！", "嗯，也许吧。"],
}


def extract(*turns: Turn) -> Extraction:
    events = tuple(
        Event(seq, kind, kind, content, AT + timedelta(seconds=seq), name=name)
        for seq, (kind, name, content) in enumerate(turns, 1)
    )
    return RulesExtractor().extract(Window(events), ExtractionContext("helper"), AT)


def of_turn(code: str, said: str, *, agent: bool = False, before: str | None = None) -> list[KeptSentence]:
    spoken = language(code)
    assert spoken is not None
    kind: EventKind = "assistant" if agent else "user"
    speech = Speech(Event(2, kind, kind, said, AT), Speaker("helper" if agent else "The user"), agent, before, 1)
    return kept(speech, said, spoken, to_agent=True)


def only(turns: Sequence[Turn]) -> Candidate:
    (candidate,) = extract(*turns).candidates
    return candidate


@pytest.mark.parametrize("code", CODES)
def test_a_fact_is_kept_word_for_word(code: str) -> None:
    told = only([("user", None, FACTS[code]), AGENT])
    assert told.content == f'The user: "{FACTS[code]}"'
    assert (told.type, told.trust, told.sources) == ("fact", "user", (1,))


@for_each(
    ("said", "kind"),
    [
        *((said, "instruction") for said in INSTRUCTIONS.values()),
        *((said, "preference") for said in TASTES.values()),
        *((said, "decision") for said in DECISIONS.values()),
    ],
)
def test_a_statement_has_the_type_of_its_signals(said: str, kind: str) -> None:
    told = only([("user", "Maya", said), AGENT])
    assert told.type == kind
    assert said in told.content


@pytest.mark.parametrize("code", CODES)
def test_an_agents_outcome_is_a_result(code: str) -> None:
    told = extract(("user", None, TASTES[code]), ("assistant", None, OUTCOMES[code])).candidates[-1]
    assert (told.type, told.content, told.trust) == ("result", f'helper: "{OUTCOMES[code]}"', "assistant")


@pytest.mark.parametrize("code", CODES)
def test_only_people_instruct(code: str) -> None:
    assert of_turn(code, INSTRUCTIONS[code], agent=True) == []


@for_each(("code", "said"), [(code, said) for code, every in LEFT_OUT.items() for said in every])
def test_requests_reactions_and_hedges_are_left_out(code: str, said: str) -> None:
    assert of_turn(code, said) == []


@pytest.mark.parametrize("code", CODES)
def test_named_people_among_themselves_are_read_too(code: str) -> None:
    told = extract(("user", "Ada", FACTS[code]), ("user", "Ben", TASTES[code]))
    assert [one.content for one in told.candidates] == [f'Ada: "{FACTS[code]}"', f'Ben: "{TASTES[code]}"']


def test_a_sentence_that_needs_its_neighbour_is_joined_to_it() -> None:
    (one,) = of_turn("de", "Wir haben einen Hund. Er heißt Bruno und ist vier.")
    assert one.said == "Wir haben einen Hund. Er heißt Bruno und ist vier."
    assert of_turn("de", "Das ist bei ihm so.") == []


def test_a_short_answer_is_kept_with_its_question() -> None:
    told = only([("assistant", None, "Combien d'enfants avez-vous ?"), ("user", "Maya", "Deux, dont un bébé.")])
    assert told.content == 'Maya, asked "Combien d\'enfants avez-vous ?": "Deux, dont un bébé."'
    assert told.sources == (1, 2)


def test_a_fact_before_a_question_is_kept_without_it() -> None:
    (one,) = of_turn("es", "Soy vegetariana y vivo en Cádiz, ¿qué restaurante me recomiendas?")
    assert one.said == "Soy vegetariana y vivo en Cádiz"


@pytest.mark.parametrize(
    ("code", "said", "dated"),
    [
        ("de", "Ich fliege übermorgen nach Lissabon.", "übermorgen (2026-11-25)"),
        ("fr", "Je pars en voyage la semaine prochaine.", "la semaine prochaine (week of 2026-11-30)"),
        ("es", "Mi hermana se casó el año pasado.", "el año pasado (2025)"),
        ("it", "Tre giorni fa mia figlia ha rotto il braccio.", "Tre giorni fa (2026-11-20)"),
        ("nl", "Volgende week vrijdag ga ik naar de tandarts.", "Volgende week vrijdag (2026-12-04)"),
        ("pt", "Ontem minha mãe comprou um carro novo.", "Ontem (2026-11-22)"),
        ("zh", "我下周五要去上海出差。", "下周五 (2026-12-04)"),
        ("ja", "来月から大阪で働く予定です。", "来月 (2026-12)"),
    ],
)
def test_a_relative_date_gets_its_day(code: str, said: str, dated: str) -> None:
    assert dated in only([("user", "Maya", said), ("user", "Ben", FACTS[code])][:1]).content


@pytest.mark.parametrize(
    "said",
    [
        "Ich gehe jeden Morgen mit dem Hund in den Wald.",
        "Meine Tochter hat nächsten Samstag eine Prüfung in Bremen.",
        "Mein Vater hatte am 3. April eine Operation.",
    ],
)
def test_an_uncertain_date_stays_as_it_was_said(said: str) -> None:
    assert f'"{said}"' in only([("user", "Maya", said)]).content


def test_a_language_without_rules_makes_no_memory() -> None:
    told = extract(("user", "Ola", "Moja siostra mieszka w Krakowie i pracuje w szpitalu."))
    assert told.candidates == ()


def test_english_among_another_language_goes_the_english_way() -> None:
    told = extract(
        ("user", "Maya", "Meine Schwester wohnt in Kiel und hat zwei Katzen."),
        ("user", "Jonas", "I adopted a dog from the shelter in Leeds and I have named him after my brother."),
    )
    assert told.candidates[0].content.startswith('Maya: "Meine')
    assert "Jonas adopted a dog" in told.candidates[1].content


def test_secrets_are_redacted() -> None:
    told = extract(("user", None, "Merk dir bitte, mein Passwort ist password=hunter2xyz und ich wohne in Ulm."))
    assert "hunter2xyz" not in repr(told.candidates)


@pytest.mark.parametrize(
    ("code", "text", "parts"),
    [
        ("de", "Am 3. Mai kommt Dr. Vogt. Er hat z. B. Obst!", ["Am 3. Mai kommt Dr. Vogt.", "Er hat z. B. Obst!"]),
        ("fr", "M. Roux arrive. On mange.", ["M. Roux arrive.", "On mange."]),
        ("zh", "我叫王芳。你呢？很好！", ["我叫王芳。", "你呢？", "很好！"]),
        ("ja", "バージョンは3.5です。「はい。」と言った。", ["バージョンは3.5です。", "「はい。」", "と言った。"]),
    ],
)  # fmt: skip
def test_sentences_end_where_readers_end_them(code: str, text: str, parts: list[str]) -> None:
    spoken = language(code)
    assert spoken is not None
    assert list(sentences(text, spoken)) == parts


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=300), st.sampled_from(CODES))
def test_any_text_is_read_the_same_way_twice(text: str, code: str) -> None:
    assert of_turn(code, text) == of_turn(code, text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("junk", ["a ", "ich ", "1.", "我", "、", "-_", "Aa ", "mein "])
def test_hostile_text_is_read_in_bounded_time(code: str, junk: str) -> None:
    started = time.process_time()
    of_turn(code, junk * (20_000 // len(junk)))
    assert time.process_time() - started < 20
