"""Make sentences with a secret in them: each kind in each language, and in hostile spellings."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from proof.redaction.values import PUBLIC, value_of

DATA = Path(__file__).parent / "data"
LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "ru", "zh")
SPELLINGS = (
    "quoted",
    "followed by more",
    "in JSON",
    "in an env file",
    "in YAML",
    "in a URL",
    "on the next line",
    "broken in two lines",
    "zero-width characters inside",
    "full-width",
    "look-alike letters",
    "letter-spaced",
)
PASSING = "told in passing"
_WORDS_BEFORE = {"en": 1, "de": 1, "fr": 1, "es": 1, "pt": 1, "it": 2, "ru": 1}
_ALIKE = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")  # noqa: RUF001 (letters of another script)
_CUT = 6
"""Characters in a row of a secret that count as a leak."""
_APART = 24
_PIERCED = 2
_RUN = re.compile(r"[a-z]{3,}|\S", re.IGNORECASE)
_BLOCKS = ("pem-private-key", "putty-key", "pgp-private-key")


class Case(NamedTuple):
    """A sentence with a secret. core: True if the bar of 95 % applies to its kind."""

    kind: str
    core: bool
    language: str
    spelling: str
    text: str
    value: str


class Kind(NamedTuple):
    """One kind of secret, as defined in data/kinds.toml."""

    id: str
    group: str
    name: str
    of: str
    form: str
    core: bool


def load(name: str) -> dict[str, Any]:
    """Read a data file."""
    return tomllib.loads((DATA / name).read_text("utf-8"))


def kinds() -> list[Kind]:
    """Return all kinds, in the order of the file."""
    return [
        Kind(name, group, one["name"], one.get("of", ""), one["form"], one.get("core", False))
        for group, of_group in load("kinds.toml").items()
        for name, one in of_group.items()
    ]


def cases(half: str, seed: int) -> Iterator[Case]:
    """Yield every kind in every language by each wording of this half ("fit" or "held"), then in each hostile spelling.

    The values of the two halves differ, too, because they come from other seeds.
    """
    wordings, names, passing = load("wordings.toml"), load("names.toml"), load("passing.toml")
    first = 0 if half == "fit" else 1
    for kind in kinds():
        for language in LANGUAGES:
            random = Random(f"{seed} {half} {kind.id} {language}")
            told = wordings[language]
            chosen = told[kind.group][first::2]
            for wording in chosen:
                value = value_of(kind.form, random)
                text = _filled(wording, kind, names, language, value)
                yield Case(kind.id, kind.core, language, "plain", text, value)
            for wording in passing[language].get(kind.id, [])[first::2]:
                value = value_of(kind.form, random)
                yield Case(kind.id, False, language, PASSING, wording.format(value=value), value)
            for spelling in SPELLINGS:
                value = value_of(kind.form, random)
                shown = _spelled(spelling, random.choice(chosen), kind, names, language, value, told["and"])
                if shown is not None:
                    yield Case(kind.id, kind.core, language, spelling, shown, value)


def left(case: Case, shown: str) -> bool:
    """Return True if the text still contains a part of the secret: six consecutive characters, or all of a shorter one.

    Blanks, case, look-alikes and invisible characters are ignored.
    """
    told = _bare(shown)
    secret = [part for part in (_bare(part) for part in PUBLIC.split(case.value)) if part]
    return any(part[at : at + _CUT] in told for part in secret for at in range(max(1, len(part) - _CUT + 1)))


def _bare(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate({ord(b): a for a, b in _pairs()})
    return "".join(sign for sign in plain.lower() if sign.isalnum() and sign.isascii())


def _pairs() -> Iterator[tuple[str, str]]:
    return ((chr(latin), chr(other)) for latin, other in _ALIKE.items())


def _called(kind: Kind, names: Mapping[str, Any], language: str) -> tuple[str, str]:
    """Return the secret's name with its possessive, and without."""
    group, entry = kind.name.split(".")
    mine = names[group][entry][language].format(of=kind.of)
    mine = re.sub(r"  +", " ", mine)
    if language == "zh":
        return mine, mine.removeprefix("我的")
    return mine, mine.split(" ", _WORDS_BEFORE[language])[-1]


def _filled(wording: str, kind: Kind, names: Mapping[str, Any], language: str, value: str) -> str:
    mine, name = _called(kind, names, language)
    text = wording.format(my=mine, name=name, value=value)
    return text[:1].upper() + text[1:] if not text.startswith(value) else text


def _spelled(
    spelling: str, wording: str, kind: Kind, names: Mapping[str, Any], language: str, value: str, more: str
) -> str | None:
    """Return the sentence in a hostile spelling; None if the value has no such spelling."""
    mine, name = _called(kind, names, language)
    glued = language == "zh"
    said = f"{mine}是" if glued else f"{mine} {_IS[language]} "
    plain = _filled(wording, kind, names, language, value)
    apart = len(value) <= _APART and " " not in value
    whole = {
        "quoted": plain.replace(value, f'"{value}"'),
        "followed by more": f"{said}{value}{'' if glued else ' '}{more}",
        "on the next line": f"{name}:\n{value}\n",
        "broken in two lines": _broken(plain, kind, value),
        "letter-spaced": plain.replace(value, " ".join(value)) if apart else None,
        "zero-width characters inside": _RUN.sub(_pierced, plain),
        "full-width": "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in plain),
        "look-alike letters": plain.translate(_ALIKE)
        if language == "ru"
        else plain.replace(value, value.translate(_ALIKE)),
    }
    return whole[spelling] if spelling in whole else _written(spelling, kind, value)


def _pierced(word: re.Match[str]) -> str:
    return word[0] if len(word[0]) <= _PIERCED else f"{word[0][:_PIERCED]}\u200b{word[0][_PIERCED:]}"


def _broken(plain: str, kind: Kind, value: str) -> str | None:
    middle = len(value) // 2
    if kind.id in _BLOCKS or len(value) < 16:
        return None
    return plain.replace(value, f"{value[:middle].rstrip()}\n{value[middle:].lstrip()}")


def _written(spelling: str, kind: Kind, value: str) -> str | None:
    """Return the value as programs write it, under the secret's name in English letters or its name in programs."""
    if "\n" in value or kind.group == "number":
        return None
    label = _LABELS[kind.group] if kind.id not in _OWN else _OWN[kind.id]
    if spelling == "in JSON":
        return f'{{"user": "maya", "{label.lower()}": "{value}", "retries": 3}}'
    if spelling == "in an env file":
        return f"DEBUG=1\n{label}={value}\nPORT=8080"
    if spelling == "in YAML":
        return f"app:\n  user: maya\n  {label.lower().replace('_', '-')}: {value}\n  port: 8080"
    if spelling == "in a URL" and re.fullmatch(r"[\w.~-]+", value):
        return f"https://example.org/login?user=maya&{label.lower()}={value}&next=home"
    return None


_IS = {"en": "is", "de": "ist", "fr": "est", "es": "es", "pt": "é", "it": "è", "ru": "это"}
_LABELS = {"software": "ACME_SECRET_KEY", "password": "DB_PASSWORD", "code": "PIN_CODE"}
_OWN = {
    "cvv": "CVV",
    "login-code": "LOGIN_CODE",
    "one-time-code": "OTP",
    "verification-code": "VERIFICATION_CODE",
    "backup-code": "BACKUP_CODE",
    "wifi-password": "WIFI_PASSWORD",
    "seed-phrase-12": "SEED_PHRASE",
    "seed-phrase-24": "MNEMONIC",
}
