"""Standing instructions in other languages: each sentence below is one only because of a phrase of its data file."""

from datetime import UTC, datetime

from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.foreign import kept
from slowwave_server.domain.extraction.languages import CODES, language
from slowwave_server.domain.extraction.person import Speaker
from slowwave_server.domain.extraction.speech import Speech
from tests.support.tables import for_each

AT = datetime(2026, 11, 23, 9, tzinfo=UTC)

INSTRUCTIONS = {
    "de": [
        "Nenn mich Lu.",
        "Siez mich bitte.",
        "Antworte mir in Stichpunkten.",
        "Verwende keine Emojis.",
        "Bitte künftig mit Quelle.",
        "Achte darauf, dass Namen stimmen.",
        "Rechne bitte in Euro.",
        "Frag mich vorher.",
        "Keine Buchung ohne meine Zustimmung.",
        "Du darfst nie Mails weiterleiten.",
        "Fass dich kurz.",
        "Sprich mit mir auf Deutsch.",
        "Bitte keine Hotels in Bahnhofsnähe buchen.",
        "Grundsätzlich Termine vorher prüfen.",
    ],
    "es": [
        "Tutéame, por favor.",
        "Llámame Lu.",
        "Trátame de usted.",
        "Respóndeme en inglés.",
        "De ahora en adelante, las facturas en PDF.",
        "Nunca me mandes enlaces.",
        "Por favor, siempre avisa un día antes.",
        "No agendes reuniones antes de las diez.",
        "Quiero respuestas cortas.",
        "Sé breve.",
        "No pagues nada sin mi permiso.",
        "Consúltame antes de comprar.",
        "Nada de emojis.",
        "Usa siempre el sistema métrico.",
    ],
    "fr": [
        "Tutoie-moi.",
        "Vous pouvez me tutoyer.",
        "On se dit tu.",
        "Réponds-moi en anglais.",
        "À partir de maintenant, les montants en euros.",
        "N'invite jamais personne avant midi.",
        "Jamais de réunion avant dix heures.",
        "Donne-moi des réponses courtes.",
        "Sois bref.",
        "Consulte-moi avant de payer.",
        "N'achète rien sans mon accord.",
        "Pas d'emojis.",
        "Utilise plutôt le système métrique.",
    ],
    "it": [
        "Chiamami Lu.",
        "Diamoci del tu.",
        "Rispondi in inglese.",
        "D'ora in poi le fatture in PDF.",
        "Mai prenotare hotel lontani.",
        "Non mandarmi mai link.",
        "Usa solo il sistema metrico.",
        "Voglio risposte brevi.",
        "Sii conciso.",
        "Non pagare nulla senza il mio permesso.",
        "Consultami prima.",
        "Niente emoji.",
    ],
    "ja": [
        "ルウと呼んでね。",
        "必ず一言お願い。",
        "会議の前には資料を送ってほしい。",
        "朝に電話をかけないでください。",
        "返事は短めで。",
        "英語で答えて。",
        "タメ口でいいよ。",
        "絵文字はいらない。",
        "許可なしで買わないこと。",
        "先に確認して。",
        "十時より前に予定を入れるのは避けて。",
    ],
    "nl": [
        "Noem me Lu.",
        "Je mag tutoyeren.",
        "Je kunt me gewoon Lu noemen.",
        "Antwoord in het Engels.",
        "Vanaf nu de facturen als PDF.",
        "Deel alleen cijfers van dit jaar.",
        "Nooit hotels bij het station kiezen.",
        "Hou het kort.",
        "Ik wil korte antwoorden.",
        "Betaal niets zonder mijn toestemming.",
        "Overleg eerst.",
        "Geen emoji's.",
        "Wees beknopt.",
    ],
    "pt": [
        "Me chame de Lu.",
        "Responda em inglês.",
        "De agora em diante, as faturas em PDF.",
        "Nunca me mande links.",
        "Sempre marque um dia antes.",
        "Não marque reuniões antes das dez.",
        "Quero respostas curtas.",
        "Seja breve.",
        "Não pague nada sem a minha permissão.",
        "Me consulte antes de comprar.",
        "Nada de emojis.",
        "Use apenas o sistema métrico.",
    ],
    "zh": [
        "叫我小鹿。",
        "称呼我鹿老师。",
        "往后务必准时。",
        "不要给我发链接。",
        "回答请简短。",
        "永远不能迟到。",
        "用英文回答我。",
        "没有我的允许就不能付款。",
        "凡是出差都要高铁票。",
        "默认用人民币。",
        "请务必核对姓名。",
        "先问我一下。",
        "回复短一点。",
    ],
}


def test_every_language_has_instructions() -> None:
    assert set(INSTRUCTIONS) == set(CODES)


@for_each(("code", "said"), [(code, said) for code, every in INSTRUCTIONS.items() for said in every])
def test_a_standing_phrase_makes_an_instruction(code: str, said: str) -> None:
    spoken = language(code)
    assert spoken is not None
    speech = Speech(Event(1, "user", "user", said, AT), Speaker("The user"), False, None, 1)
    (one,) = kept(speech, said, spoken, to_agent=True)
    assert "standing" in one.fired
