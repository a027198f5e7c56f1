"""Secrets go, the words around them stay, and clean or hostile text costs little."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.redaction import redact
from tests.support.bounded import at_most
from tests.support.tables import for_each

# Put together at run time, so that no scanner takes this file for a leak.
AWS = "AKIA" + "Q3EXAMPLE7ZXCVB2"
GITHUB = "ghp_" + "a1B2" * 9
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9." + "c2lnbmF0dXJl-_x"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAK\nqL8x\n-----END RSA PRIVATE KEY-----"


@for_each(
    ("text", "clean"),
    [
        (f"use {AWS} for it", "use [redacted:aws-key] for it"),
        (f"use {GITHUB}.", "use [redacted:github-token]."),
        (f"send {JWT} along", "send [redacted:jwt] along"),
        ("it is sk-proj-" + "aB3d" * 8, "it is [redacted:api-key]"),
        ("AIza" + "x" * 35, "[redacted:google-key]"),
        (f"here:\n{PEM}\nthanks", "here:\n[redacted:private-key]\nthanks"),
        (PEM[:50], "[redacted:private-key]"),
        ("postgres://app:pa55w0rd@db/x", "postgres://app:[redacted:password]@db/x"),
        ("redis://:pa55w0rd@cache:6379", "redis://:[redacted:password]@cache:6379"),
        ("Authorization: Bearer abcdef1234567890abcdef", "Authorization: Bearer [redacted:token]"),
        ("my password is hunter2", "my password is [redacted:password]"),
        ("The password is swordfish.", "The password is [redacted:password]."),
        ("The password for the router is blue-Horse7", "The password for the router is [redacted:password]"),
        ("password: Tr0ub4dor&3, ok?", "password: [redacted:password], ok?"),
        ("DB_PASSWORD=s3cr3t!x", "DB_PASSWORD=[redacted:password]"),
        ("change my password to Winter2024!", "change my password to [redacted:password]!"),
        ('the passphrase is "correct horse"', "the passphrase is [redacted:password]"),
        ("the passphrase is correct horse battery", "the passphrase is [redacted:password]"),
        ("my pin is 4821.", "my pin is [redacted:pin]."),
        ("the API key for billing is abcDEF123456", "the API key for billing is [redacted:key]"),
    ],
)
def test_a_secret_goes_and_the_words_around_it_stay(text: str, clean: str) -> None:
    assert redact(text).text == clean


@pytest.mark.parametrize(
    "text",
    [
        "we went shopping with a monkey: fun",
        "my password is too weak",
        "the password is required",
        "the secret is to cook slowly",
        "the secret is out",
        "the key is under the mat",
        "the keys to success: work hard",
        "keyboards are great and monkey: banana",
        "I passed the key exam in 2019",
        "the token expired, token: null",
        "an uncharacteristically-long-hyphenated-adjective",
        "https://example.org/a/very/long/path/to/somewhere/nice?query=plain",
        "antidisestablishmentarianism and electroencephalography",
    ],
)
def test_plain_words_are_no_secret(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).kinds == ()


def test_every_secret_is_counted() -> None:
    assert redact(f"{AWS} and {AWS} and my password is hunter2").kinds == ("aws-key", "aws-key", "password")


@given(st.text(max_size=400))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60), st.text(alphabet="abc é", max_size=60))
def test_a_named_token_never_survives_its_surroundings(before: str, after: str) -> None:
    assert GITHUB not in redact(f"{before} {GITHUB} {after}").text


@pytest.mark.parametrize(
    "junk",
    [
        "a",
        "eyJ",
        "eyJa ",
        "://",
        "://a:",
        "password ",
        "password is ",
        "key to a b ",
        "[(",
        "a1",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_hostile_text_is_redacted_in_bounded_time(junk: str) -> None:
    with at_most(2.5):
        redact(junk * (50_000 // len(junk)))


def test_the_end_of_a_token_that_is_longer_than_its_pattern_goes_too() -> None:
    """A made-up token, two characters longer than the detector expects."""
    token = "ghp_" + "a1B2" * 9 + "Zz"
    assert redact(f"it is {token}, keep it").text == "it is [redacted:github-token], keep it"
