import pytest

from slowwave_server.domain.languages import LANGUAGES, detect, detect_each

SENTENCES = [
    ("en", "My sister runs a small bakery in Leeds."),
    ("de", "Meine Schwester hat seit Mai eine Bäckerei in Kassel."),
    ("fr", "Ma sœur tient une petite boulangerie à Nantes."),
    ("es", "Mi hermana tiene una panadería pequeña en Cádiz."),
    ("pt", "A minha irmã tem uma pequena padaria em Braga."),
    ("it", "Mia sorella ha un piccolo panificio a Parma."),
    ("nl", "Mijn zus heeft een kleine bakkerij in Breda."),
    ("sv", "Min syster har ett litet bageri i Lund."),
    ("pl", "Moja siostra prowadzi małą piekarnię w Toruniu."),
    ("tr", "Kız kardeşimin Bursa'da küçük bir fırını var."),
    ("ru", "У моей сестры маленькая пекарня в Туле."),
    ("uk", "Моя сестра має невелику пекарню у Львові."),
    ("el", "Η αδελφή μου έχει έναν μικρό φούρνο στον Βόλο."),
    ("zh", "我姐姐在成都开了一家小面包店。"),
    ("ja", "姉は奈良で小さなパン屋をやっています。"),
    ("ko", "언니는 대구에서 작은 빵집을 해요."),
    ("th", "พี่สาวของฉันเปิดร้านขนมปังเล็ก ๆ ที่เชียงใหม่"),
]


@pytest.mark.parametrize(("language", "sentence"), SENTENCES)
def test_one_sentence_is_enough_to_know_its_language(language: str, sentence: str) -> None:
    assert detect(sentence) == language


@pytest.mark.parametrize("text", ["Ok!", "Danke, super", "", "12:30", "src/app/main.py", "```\nfür = das(ist)\n```"])
def test_text_that_says_too_little_takes_the_fallback(text: str) -> None:
    assert [detect(text), detect(text, "nl"), detect(text, "ja")] == ["en", "nl", "ja"]


@pytest.mark.parametrize(
    "text",
    [
        "Run pytest -q tests/unit/test_bakery.py",
        "git rebase --onto main",
        "Deploy failed: ImagePullBackOff",
        "Booked flight KQ-2291 to Lima, July 4",
        "Ana moved to São Paulo in 2021.",
    ],
)
def test_names_and_code_do_not_make_english_text_foreign(text: str) -> None:
    assert detect(text) == "en"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "我们用 Superset 做看板，不用 Grafana。"),
        ("ja", "React の画面を TypeScript で書き直します。"),
        ("de", "Der Build läuft nicht, weil `import os` fehlt: https://example.org/the-one-that-you-want"),
        ("en", "What does the word 安全 mean in that contract?"),
    ],
)
def test_mixed_text_has_the_language_of_its_sentences(language: str, text: str) -> None:
    assert detect(text) == language


def test_short_turns_take_the_language_of_their_conversation() -> None:
    texts = ["Danke!", "Ich wohne in Bonn und arbeite bei der Post.", "ok", "I think the build is fine now."]
    assert detect_each(texts) == ["de", "de", "de", "en"]
    assert detect_each(["ok", "gracias"], before=["Mi hermana tiene una panadería pequeña."]) == ["es", "es"]
    assert detect_each(["ok", "gracias"]) == ["en", "en"]


def test_every_answer_is_a_known_language() -> None:
    assert {detect(sentence) for _, sentence in SENTENCES} <= LANGUAGES.keys()
