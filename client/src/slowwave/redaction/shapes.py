"""Find secrets by the shape around them: key files, URLs and headers with a login, commands, bare keys."""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Iterator

from slowwave.lazy_patterns import lazy_pattern

Found = tuple[int, int, str]
"""Where a secret begins and ends in a text, and its kind."""

MAX_TOKEN = 2048
"""Characters without a blank. A longer word that mixes letters and digits goes as a whole."""

_KEY = lazy_pattern(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:|"
    r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
)
_KEY_END = lazy_pattern(
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\bPrivate-MAC:\s*[0-9a-f]{16,}|---- END SSH2[^\n]*"
)
_URL_PASSWORD = lazy_pattern(
    r"://[^\s:/?#@]{0,64}:(?P<value>[^\s/@]{1,200}(?:@(?=[^\s/@]{1,200}@)[^\s/@]{1,200})?)(?=@)"
)
_HEADER = lazy_pattern(
    r"(?:bearer|basic|(?:authorization|x-[a-z-]{0,20}(?:key|token|secret))['\"]?:(?: ?token)?)\s{0,4}"
    r"(?P<value>[A-Za-z0-9_.~+/=-]{16,})",
    re.IGNORECASE,
)
_COOKIE = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:[\w.-]{0,20}(?:sess(?:ion)?|sid|auth|csrf|remember)[\w.-]{0,20})=(?P<value>[A-Za-z0-9%._~+/-]{16,})",
    re.IGNORECASE,
)
_COMMAND = lazy_pattern(
    r"(?<![A-Za-z0-9])(?:(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user)[ =]?['\"]?[\w.@+-]{1,64}:|"
    r"sshpass\s+-p\s*['\"]?|(?:mysql|mysqldump|mongo|psql)\b[^\n]{0,200}?\s(?:-p|--password[= ])['\"]?|"
    r"redis-cli\b[^\n]{0,200}?\s-a\s+['\"]?)(?P<value>[^\s'\"]{4,200})"
)
_OTP_SECRET = lazy_pattern(r"otpauth://[^\s\"']{0,300}?[?&]secret=(?P<value>[A-Za-z2-7=]{12,})", re.IGNORECASE)
_WIFI = lazy_pattern(r"(?<![A-Za-z0-9])WIFI:[^\s]{0,200}?(?<![A-Za-z])P:(?P<value>(?:\\.|[^;\s\\]){1,100});")
_BARE = lazy_pattern(
    r"(?<![A-Za-z0-9+/=_.~:@#%&$-])(?:[A-Za-z0-9+/]{40}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)(?![A-Za-z0-9+/=_~@-]|\.\w)"
)
_CODED = lazy_pattern(r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{12,400}={0,2}(?![A-Za-z0-9+/=_-])")
_LOGIN = lazy_pattern(r"[A-Za-z0-9._@+-]{2,64}:[\x21-\x7e]{4,200}")
_HEADERS = frozenset({"bearer", "basic", "authorization", "x"})
_COMMANDS = frozenset("curl wget http sshpass mysql mysqldump mongo psql redis".split())
_BITS = 4.3
"""Of entropy a character: a random key of 40 characters has more, a path or a name less."""


def key_files(text: str) -> Iterator[Found]:
    """Find whole key files; one without its end extends to the end of the text: half a key is a secret too."""
    at = 0
    while (begin := _KEY.search(text, at)) is not None:
        end = _KEY_END.search(text, begin.end())
        at = len(text) if end is None else end.end()
        yield begin.start(), at, "private-key"


def carriers(text: str, low: str, words: frozenset[str]) -> Iterator[Found]:
    """Find passwords in URLs, headers, cookies, commands. low: the text in lower case; words: its words."""
    if "://" in text:
        if "@" in text:
            yield from _values(_URL_PASSWORD, text, "password")
        if "otpauth" in words:
            yield from _values(_OTP_SECRET, text, "secret")
    for word in words & _HEADERS:
        yield from _headers(text, low, word)
    if "cookie" in words:
        yield from _values(_COOKIE, text, "token")
    if not words.isdisjoint(_COMMANDS):
        yield from _values(_COMMAND, text, "password")
    if "wifi" in words:
        yield from _values(_WIFI, text, "password")


def _headers(text: str, low: str, word: str) -> Iterator[Found]:
    at = low.find(word)
    while at >= 0:
        match = _HEADER.match(text, at)
        if match is not None and ("=" in match["value"] or any(map(str.isdigit, match["value"]))):
            yield *match.span("value"), "token"
        at = low.find(word, at + len(word))


def bare_keys(text: str) -> Iterator[Found]:
    """Find random keys of the lengths that AWS, WireGuard and Azure use, and logins in base64, wherever they stand."""
    for match in _BARE.finditer(text):
        if is_random(match[0]):
            yield match.start(), match.end(), "secret-key"
    for match in _CODED.finditer(text):
        if _is_login(match[0]):
            yield match.start(), match.end(), "password"


def is_random(word: str) -> bool:
    """Return True if a word mixes lower-case letters, upper-case letters and digits as a random key does."""
    bare = word.rstrip("=")
    if not any(map(str.isdigit, bare)) or bare.lower() == bare or bare.upper() == bare or bare.count("/") > 5:
        return False
    counts = Counter(bare)
    return -sum(n / len(bare) * math.log2(n / len(bare)) for n in counts.values()) > _BITS


def long_words(text: str) -> Iterator[Found]:
    """Find words that mix letters and digits and are too long to examine, because they may contain anything."""
    for match in re.finditer(rf"\S{{{MAX_TOKEN + 1},}}", text):
        if any(map(str.isdigit, match[0])) or "eyJ" in match[0]:
            yield match.start(), match.end(), "blob"


def _is_login(word: str) -> bool:
    """Return True if a word is NAME:PASSWORD in base64."""
    if word.isdigit() or word.islower() or word.isupper():
        return False
    try:
        told = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return False
    return _LOGIN.fullmatch(told) is not None


def _values(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Found]:
    return ((*match.span("value"), kind) for match in pattern.finditer(text))
