"""Secrets that people announce in their own language or in an odd spelling go; ordinary sentences stay as they are."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proof.redaction.__main__ import main
from proof.redaction.cases import LANGUAGES, PASSING, SPELLINGS, Case, cases, kinds, left
from proof.redaction.measure import measure_alarms, measure_recall
from proof.redaction.ordinary import hard
from slowwave.redaction import find, replace
from slowwave.redaction.folding import despaced, fold
from slowwave.redaction.numbers import iban, luhn
from slowwave_server.domain.redaction import redact
from tests.support.bounded import at_most

CARD = "4539 1488 0343 6467"
IBAN = "DE89 3704 0044 0532 0130 00"


@pytest.fixture(scope="module")
def held() -> list[Case]:
    return list(cases("held", 11))


@pytest.mark.parametrize("language", LANGUAGES)
def test_core_kinds_are_found_in_each_language(held: list[Case], language: str) -> None:
    """With values of another seed than the page's, by wordings that no rule was fitted on."""
    mine = [case for case in held if case.core and case.language == language]
    assert len(mine) > 300
    assert measure_recall(mine, lambda text: redact(text).text).rate("core", "core") >= 0.95


def test_secrets_told_in_passing_are_found(held: list[Case]) -> None:
    mine = [case for case in held if case.spelling == PASSING]
    assert {case.language for case in mine} == {*LANGUAGES}
    assert measure_recall(mine, lambda text: redact(text).text).rate("all", "all") >= 0.95


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The shed opens with Harrow-7-Pine, mind the step", "Harrow-7-Pine"),
        ("smbclient //nas/scans -U scanner%Toner4all -c ls", "Toner4all"),
        ("jdbc:oracle:thin:stock/crate9box@db.example.org:1521/XE", "crate9box"),
        ("the account at the library is ida@example.org / Heron_Marsh5", "Heron_Marsh5"),
        ("log in with ida and then Copper7kettle", "Copper7kettle"),
        ("the pass, without the dots: k.e.s.t.r.e.l.4", "k.e.s.t.r.e.l.4"),
        ("das Handy geht mit dem Muster 1-2-5-8-9 auf", "1-2-5-8-9"),
        ("если банк спросит, рябина и якорь это те самые слова", "рябина и якорь"),
    ],
)
def test_what_stands_around_a_secret_tells_of_it(text: str, secret: str) -> None:
    assert secret not in redact(text).text


@pytest.mark.parametrize(
    "text",
    [
        "senha = os.environ['SENHA_LOJA']",
        "const pw = process.env.SHOP_PASSWORD;",
        "The museum got a new door in 2021 and the gate opens at 07:30.",
        "Room 4417 is behind the second door, press 2 for the lift.",
        "The wifi in flight LH2048 costs 12 euros.",
        "Type 250 g of flour into the app on your phone.",
        "Das Tor war früher 1200 mm breit, jetzt sind es 1450 mm.",
    ],
)
def test_words_of_a_family_alone_redact_nothing(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_hostile_spellings_hide_no_secret(held: list[Case], spelling: str) -> None:
    mine = [case for case in held if case.spelling == spelling]
    assert measure_recall(mine, lambda text: redact(text).text).rate("all", "all") >= 0.95


def test_hard_ordinary_sentences_are_left_alone() -> None:
    told = [text for half in ("fit", "held") for _, text in hard(half, 11)]
    assert measure_alarms("hard", told, lambda text: redact(text).text).per_thousand <= 1


def test_no_kind_and_no_spelling_is_missing_from_the_measure(held: list[Case]) -> None:
    assert len(kinds()) >= 80
    assert {case.kind for case in held} == {kind.id for kind in kinds()}
    assert {case.spelling for case in held} == {"plain", PASSING, *SPELLINGS}


def test_a_half_leak_is_a_leak() -> None:
    case = Case("password-mixed", True, "en", "plain", "my password is Walnut!482195", "Walnut!482195")
    assert left(case, "my password is [redacted:password]82195 Wa1nut!48219")
    assert left(case, "my password is W a l n u t ! 4 8")
    assert not left(case, "my password is [redacted:password]")


@pytest.mark.long
def test_the_page_says_which_data_sets_were_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--seed", "3"]) == 0
    told = capsys.readouterr()
    assert "The data sets were not there" in told.out
    assert f"{tmp_path} holds none of the data sets" in told.err


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Mein Passwort lautet Tulpe-77x, merk es dir.", "Mein Passwort lautet [redacted:password], merk es dir."),
        ("Le mot de passe, c'est tulipe77!", "Le mot de passe, c'est [redacted:password]!"),
        (
            "la contraseña del wifi es correcaballo y nada más",
            "la contraseña del wifi es [redacted:password] y nada más",
        ),
        ("минута: мой пароль — tulip77", "минута: мой пароль — [redacted:password]"),
        ("我的密码是tulip77。", "我的密码是[redacted:password]。"),
        ("tulip77 is my password now", "[redacted:password] is my password now"),
        ("my password is correcthorse and I like it", "my password is [redacted:password] and I like it"),
        ("my password is h u n t e r 2 .", "my password is [redacted:password] ."),
        ("my password is \uff48\uff55\uff4e\uff54\uff45\uff52\uff12", "my password is [redacted:password]"),
        ("my pass\u200bword is hun\u200bter2", "my pass\u200bword is [redacted:password]"),
        ("my pаsswоrd is huntеr2", "my pаsswоrd is [redacted:password]"),
        (f"card {CARD}, thanks", "card [redacted:card], thanks"),
        (f"pay to {IBAN} TODAY", "pay to [redacted:iban] TODAY"),
        ("SSN 078-05-1120", "SSN [redacted:ssn]"),
        ("the CVV is 123", "the CVV is [redacted:cvv]"),
        ("your login code is 482913.", "your login code is [redacted:login-code]."),
        ("https://x.example/cb?token=abc123def456&page=2", "https://x.example/cb?token=[redacted:token]&page=2"),
        ('{"db_password": "tulip", "port": 5432}', '{"db_password": [redacted:password], "port": 5432}'),
        ("Basic bWF5YTp0dWxpcDc3c2VjcmV0", "Basic [redacted:password]"),
    ],
)
def test_a_secret_goes_in_its_language_and_spelling(said: str, shown: str) -> None:
    assert redact(said).text == shown


@pytest.mark.parametrize(
    "said",
    [
        "Das Passwort ist abgelaufen.",
        "Le mot de passe est trop court.",
        "La clave del éxito es la paciencia.",
        "Пароль слишком короткий.",
        "密码太短了。",
        "The password was too short and expired.",
        "PIN the tab, then open 2000 rows.",
        "Reservation S61CZX, flight HAT136, $1,299.00, 2024-05-12.",
        "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567",
        "request 123e4567-e89b-42d3-a456-426614174000 took 300 ms",
        "order 4539148803436467 was shipped",
        "ISBN 978-3-16-148410-0",
    ],
)
def test_ordinary_sentences_of_any_language_stay(said: str) -> None:
    assert redact(said).text == said


@given(st.text(max_size=200), st.integers(0, 200))
def test_a_folded_text_knows_where_its_letters_stood(text: str, at: int) -> None:
    view = despaced(fold(text))
    if view.text:
        start, end = view.span(at % len(view.text), at % len(view.text) + 1)
        assert 0 <= start < end <= len(text)


@given(st.text(alphabet="aА\u200bpаsw ord:=is1２\u0301\n[]édkey", max_size=80))
def test_found_places_lie_in_the_text_and_apart(text: str) -> None:
    found = find(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    assert len(replace(text, found, "")) == len(text) - sum(end - start for start, end, _ in found)


@example([CARD] * 6)
@given(
    st.lists(
        st.sampled_from(["my password is hunter2", CARD, IBAN, "и мой пароль — tulip77", "\n", ", ", "x"]), max_size=8
    )
)
def test_a_second_redaction_finds_nothing_more(parts: list[str]) -> None:
    once = redact(" ".join(parts)).text
    assert redact(once).text == once


JUNK = (
    "my password is ", "пароль ", "密码是", "a b ", "1 2 3 ", "4539 ", "PIN ", "seed phrase ", "\u200b", "1\n1", "x:y@",
    "eyJ.", "key = ", "is my password ", "DE89 3704 ", "pass",
)  # fmt: skip


@pytest.mark.parametrize("junk", JUNK)
def test_a_hostile_text_costs_time_in_its_length(junk: str) -> None:
    with at_most(5):
        redact(junk * (25_000 // len(junk)))


def test_check_digits_are_checked() -> None:
    assert luhn("4539148803436467")
    assert not luhn("4539148803436468")
    assert iban("DE89370400440532013000")
    assert not iban("DE89370400440532013001")
