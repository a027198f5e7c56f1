"""Instructions in other languages: what lifts one, and what takes its place."""

import pytest

from slowwave_server.domain.endings import tongues
from slowwave_server.domain.endings.recognise import recognise_lift
from slowwave_server.domain.endings.wording import ending_of, told


@pytest.mark.parametrize(
    ("said", "direction", "words"),
    [
        ("Du darfst wieder Emojis benutzen.", "prohibition", {"emoji"}),
        ("Meetings vor 9 Uhr sind wieder okay.", "prohibition", {"meeti", "9", "uhr"}),
        ("Vergiss die Regel mit den Schweizer Franken.", "either", {"schwe", "frank"}),
        ("Du musst die Quellen nicht mehr angeben.", "demand", {"quell", "angeb"}),
        ("Tu peux de nouveau mettre des emojis.", "prohibition", {"emoji"}),
        ("Tu n'as plus besoin de citer tes sources.", "demand", {"citer", "sourc"}),
        ("Oublie la règle sur les factures.", "either", {"factu"}),
        ("Ya puedes volver a usar emojis.", "prohibition", {"emoji"}),
        ("Olvida la regla de resumir los correos.", "either", {"resum", "corre"}),
        ("Ya no hace falta que cites las fuentes.", "demand", {"cites", "fuent"}),
        ("你可以再用表情符号了。", "prohibition", set("表情符号")),
        ("忘掉周五不部署的规则吧。", "either", set("周五部署")),
        ("不用再把总结控制在一百字以内了。", "demand", set("总结控制百字内")),
    ],
)
def test_sentence_lifts_an_instruction(said: str, direction: str, words: set[str]) -> None:
    found = recognise_lift(said)
    assert found is not None
    assert (found.direction, tongues.words(found.what)) == (direction, words)
    assert ending_of(told(found, "Maya")) == found


@pytest.mark.parametrize(
    "said",
    [
        "Darfst du wieder Emojis benutzen?",
        "Für heute darfst du wieder Emojis benutzen.",
        "Ich darf wieder Sport machen.",
        "Mir geht es wieder okay.",
        "Peux-tu de nouveau mettre des emojis ?",
        "Je peux de nouveau courir.",
        "¿Puedes volver a usar emojis?",
        "Por hoy puedes volver a usar emojis.",
        "你可以再用表情符号吗？",
        "我可以再吃辣了。",
    ],
)
def test_question_exception_or_other_matter_lifts_nothing(said: str) -> None:
    assert recognise_lift(said) is None


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Ab sofort verwende für Datumsangaben JJJJ-MM-TT.", "Verwende für Datumsangaben immer TT.MM.JJJJ."),
        ("Désormais, utilise des espaces au lieu des tabulations.", "Utilise toujours des tabulations."),
        ("Usa espacios en lugar de tabuladores.", "Usa siempre tabuladores para la sangría."),
        ("从现在开始，代码注释改用中文写。", "从现在开始，代码注释都用英文写。"),
        ("Réponds-moi désormais en français.", "Antworte mir bitte immer auf Deutsch."),
        ("Llámame Ana.", "Call me Dr. Okafor."),
        ("Benutze Emojis.", "Benutze keine Emojis."),
    ],
)
def test_newer_instruction_replaces_the_older_one(newer: str, older: str) -> None:
    assert tongues.replaces(newer, older) is not None


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Verwende in Rechnungen das Format JJJJ-MM-TT.", "Verwende in E-Mails das Format TT.MM.JJJJ."),
        ("Buche niemals Hotels.", "Buche niemals Flüge."),
        ("N'envoie jamais de devis.", "N'envoie jamais de facture."),
        ("Usa siempre el sistema métrico.", "Usa siempre tabuladores."),
        ("永远不要在周一部署到生产。", "代码注释都用英文写。"),
    ],
)
def test_another_matter_replaces_nothing(newer: str, older: str) -> None:
    assert tongues.replaces(newer, older) is None
