"""Secrets out of text: keys, tokens, passwords, private keys, passwords in connection strings.

Three kinds of finder: detect-secrets' detectors of *named* tokens (its entropy detectors flag plain words), patterns
for tokens
that it does not know, and phrases that announce a secret ("the password is …"). A few substring tests come first, so
that a clean
line costs microseconds. Every step is linear: tokens longer than `MAX_TOKEN` that could hold a secret go as a whole.

Must not know: where the text came from and where it goes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

MAX_TOKEN = 2048
"""Characters without a space. Several detectors are quadratic in this length, so a longer suspect is redacted whole."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds of what was taken out, in order of the finders, with repeats."""

    text: str
    kinds: tuple[str, ...] = ()


_DETECTORS: tuple[tuple[str, type[RegexBasedDetector]], ...] = (
    ("aws-key", AWSKeyDetector),
    ("azure-key", AzureStorageKeyDetector),
    ("discord-token", DiscordBotTokenDetector),
    ("github-token", GitHubTokenDetector),
    ("gitlab-token", GitLabTokenDetector),
    ("openai-key", OpenAIDetector),
    ("pypi-token", PypiTokenDetector),
    ("sendgrid-key", SendGridDetector),
    ("slack-token", SlackDetector),
    ("square-secret", SquareOAuthDetector),
    ("stripe-key", StripeDetector),
    ("telegram-token", TelegramBotTokenDetector),
    ("twilio-key", TwilioKeyDetector),
    ("mailchimp-key", MailchimpDetector),
)
_TOKENS: tuple[tuple[str, re.Pattern[str]], ...] = (
    *((kind, pattern) for kind, detector in _DETECTORS for pattern in detector().denylist),
    # detect-secrets' own JWT pattern ends lazily and would leave the signature behind.
    ("jwt", re.compile(r"eyJ[A-Za-z0-9_=-]{8,}\.[A-Za-z0-9_=-]{4,}(?:\.[A-Za-z0-9_.+/=-]*)?")),
    (
        "api-key",
        re.compile(r"\b(?:sk|pk|rk)-(?:[a-z]{2,12}-)?[A-Za-z0-9_-]{20,}|\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ),
    ("google-key", re.compile(r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}")),
    ("github-token", re.compile(r"\bgithub_pat_[A-Za-z0-9_]{22,}")),
    ("slack-token", re.compile(r"\bxapp-\d-[A-Za-z0-9-]{10,}")),
    ("npm-token", re.compile(r"\bnpm_[A-Za-z0-9]{36}")),
    ("huggingface-token", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    ("digitalocean-token", re.compile(r"\bdop_v1_[a-f0-9]{64}")),
)
_URL_PASSWORD = re.compile(
    r"(?P<keep>://[^\s:/?#@]{0,64}:)(?P<value>[^\s/@]{1,200}(?:@(?=[^\s/@]{1,200}@)[^\s/@]{1,200})?)(?=@)"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PRIVATE_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BEARER = re.compile(r"(?P<keep>\b(?:bearer|basic)\s{1,4})(?P<value>[A-Za-z0-9_.~+/=-]{16,})", re.IGNORECASE)

_PASSPHRASE = re.compile(
    r"(?P<keep>\bpass ?phrase\s{1,3}(?:is|was|=|:)\s{1,3})(?!(?:a|an|the|not|too|very|my|your|in|on)\b)"
    r"(?P<value>[a-z]{2,20}(?:[ -][a-z]{2,20}){2,9})(?=[.,;!\n]|$)",
    re.IGNORECASE,
)

_STRONG = (
    r"pass ?words?|pass ?phrases?|pass ?codes?|passwd|pwd|api[ _-]?keys?|(?:access|secret|private|account)[ _-]?keys?|"
    r"(?:client|app|shared)[ _-]?secrets?|(?:access|auth|bearer|refresh|api|session)[ _-]?tokens?"
)
_WEAK = r"secrets?|tokens?|credentials?|pins?|pin codes?|keys?|logins?"
_ANNOUNCED = re.compile(
    rf"(?P<keep>(?:(?P<strong>{_STRONG})|\b(?P<weak>{_WEAK}))\b['\"]?(?:\s(?:for|to|of|"
    rf"on)(?:\s[\w.-]{{1,30}}){{1,4}}?)?"
    r"\s{0,4}(?P<sign>:=|=>|->|=|:|\bis now\b|\bis set to\b|\bto be\b|\bis\b|\bwas\b|\bto\b)\s{0,4})"
    r"(?P<value>\"[^\"\n]{1,200}\"|'[^'\n]{1,200}'|`[^`\n]{1,200}`|[^\s\"'`]{3,200})",
    re.IGNORECASE,
)
_ASSIGNS = frozenset((":=", "=>", "->", "=", ":"))
_PROSE = frozenset(
    "required expired weak wrong strong safe secure long short missing incorrect correct invalid valid empty set "
    "changed reset stored encrypted hashed the a an not too very in on at my your our his her their this that it its "
    "always never still also now gone lost easy hard same different important known saved kept shared rotated updated "
    "out being to be called what when where how for from by with and or but if so just only working broken fine good "
    "bad okay ok null none true false unset string optional mandatory case one something anything nothing everything "
    "here there about more less than as".split(),
)
_HINTS = (
    "pass", "pwd", "secret", "token", "_key", "apikey", "credential", "login", "bearer ", "basic ", "private key", "://",
    "akia", "asia",
    "sk-", "pk-", "sk_", "rk_", "xox", "xapp-", "eyj", "aiza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "npm_", "hf_",
)  # fmt: skip
# As words only: "shopping" and "monkey" announce nothing.
_SHORT_HINT = re.compile(r"\b(?:keys?|pins?)\b")
_LONG = 20
"""Characters. No named token is shorter."""
_LONG_WORD = re.compile(rf"\S{{{_LONG},}}")


_LEFT_OVER = re.compile(r"(\[redacted:[a-z-]+\])[A-Za-z0-9_-]+")


def redact(text: str) -> Redacted:
    """`text` with every secret that was found replaced by `[redacted:<kind>]`. The words around it stay."""
    low = text.lower()
    hinted = any(hint in low for hint in _HINTS) or _SHORT_HINT.search(low) is not None
    if not hinted and not any(len(word) >= _LONG for word in text.split()):
        return Redacted(text)
    kinds: list[str] = []
    if "PRIVATE KEY" in text:
        text = _private_keys(text, kinds)
    text = _LONG_WORD.sub(lambda match: _token(match.group(), kinds), text)
    if hinted:
        text = _replace(_URL_PASSWORD, text, "password", kinds)
        text = _replace(_BEARER, text, "token", kinds)
        text = _replace(_PASSPHRASE, text, "password", kinds)
        text = _ANNOUNCED.sub(lambda match: _announced(match, kinds), text)
    return Redacted(text, tuple(kinds))


def _mark(kind: str, kinds: list[str]) -> str:
    kinds.append(kind)
    return f"[redacted:{kind}]"


def _private_keys(text: str, kinds: list[str]) -> str:
    """Whole blocks; one without its end goes up to the end of the text, since half a key is a secret too."""
    parts: list[str] = []
    at = 0
    while (begin := _PRIVATE_KEY.search(text, at)) is not None:
        parts += [text[at : begin.start()], _mark("private-key", kinds)]
        end = _PRIVATE_KEY_END.search(text, begin.end())
        at = len(text) if end is None else end.end()
    return "".join(parts) + text[at:]


def _token(word: str, kinds: list[str]) -> str:
    if len(word) > MAX_TOKEN:
        # Plain repetition is no secret; anything else this long that mixes letters and digits may hold one.
        return _mark("blob", kinds) if any(map(str.isdigit, word)) or "eyJ" in word else word
    for kind, pattern in _TOKENS:
        word, count = pattern.subn(f"[redacted:{kind}]", word)
        kinds.extend([kind] * count)
    # A pattern of a fixed length leaves the end of a longer token: that is part of the secret too.
    return _LEFT_OVER.sub(r"\1", word)


def _replace(pattern: re.Pattern[str], text: str, kind: str, kinds: list[str]) -> str:
    return pattern.sub(lambda match: match["keep"] + _mark(kind, kinds), text)


def _announced(match: re.Match[str], kinds: list[str]) -> str:
    value = match["value"]
    bare = value.strip("\"'`").rstrip(".,;!?)")
    kind = _kind_of((match["strong"] or match["weak"]).lower())
    secret: Callable[[str, re.Match[str]], bool] = _strong_value if match["strong"] else _weak_value
    if not bare or "[redacted:" in value or not secret(bare, match):
        return match.group()
    tail = value[len(value.rstrip(".,;!?)")) :] if value[:1] not in "\"'`" else ""
    return match["keep"] + _mark(kind, kinds) + tail


def _kind_of(word: str) -> str:
    if word.startswith(("pass", "pwd", "login", "cred")):
        return "password"
    if "token" in word:
        return "token"
    return "pin" if word.startswith("pin") else "key" if "key" in word else "secret"


def _strong_value(value: str, match: re.Match[str]) -> bool:
    """After "password": an assignment, quotes, a digit or sign or odd capital; a plain word only at the end of its
    sentence.
    """
    if match["sign"] in _ASSIGNS or match["value"][0] in "\"'`":
        return value.lower() not in _PROSE
    if not value.isalpha() or value[1:] != value[1:].lower():
        return any(character.isalnum() for character in value) and "'" not in value
    ends = match.string[match.start("value") + len(value) :][:2].strip()
    return (
        match["sign"] != "to" and value.lower() not in _PROSE and (ends == "" or ends[0] in ".,;!") and len(value) > 3
    )


def _weak_value(value: str, match: re.Match[str]) -> bool:
    """After a word that often means something else ("the key is …") only what looks like a secret itself."""
    if match["weak"].lower().startswith("pin"):
        return value.isdigit() and 4 <= len(value) <= 12
    digits = any(map(str.isdigit, value))
    letters = any(map(str.isalpha, value))
    return digits and letters and len(value) >= 8 and "/" not in value[:1]
