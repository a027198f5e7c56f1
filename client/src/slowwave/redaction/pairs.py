"""Find secrets by the words around them: a user name and password, an object and its code, two agreed words."""

import re
from collections.abc import Iterator

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.shapes import Found
from slowwave.redaction.values import is_mixed
from slowwave.redaction.words import CJK

_VALUE = rf"(?P<value>[^\s\"'`,;。{CJK}\ue000]{{4,60}})"
_NAME = r"[^\W\d_]{3,20}"
_LOGIN = (
    r"root|admin\w{0,20}|user\w{0,20}|login|log[io]n|account|benutzer|konto|zugang|compte|identifiants?|cuenta|usuari[oa]|acceso|conta|"
    r"acesso|conto|utente|accesso|уч[её]тк\w{1,3}|логин|вход|server|serveur|servidor|сервер\w{0,3}"
)
_DISTINCT = lazy_pattern(r"[A-Z][a-z]+(?:[-_+.][A-Za-z0-9]+)+|[a-z]+(?:[+&][a-z]+)+|[^\W\d_]+\+[^\W\d_]+\d+")
Gated = tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]
_BY_PART: Gated = (
    ((" / ",), lazy_pattern(rf"(?:\b(?:{_LOGIN})|\w@\w|服务器|账号|账户)[^\n/]{{0,50}} / {_VALUE}", re.IGNORECASE)),
    (("-U ",), lazy_pattern(rf"\s-U\s+['\"]?[\w.\\-]{{1,40}}%{_VALUE}")),
    (("jdbc:oracle:",), lazy_pattern(r"jdbc:oracle:\w{2,6}:[\w.-]{1,40}/(?P<value>[^\s@/]{3,60})@")),
)
"""Patterns of a password, and the parts of a text of which one stands in each."""
_BY_WORD: Gated = (
    (
        ("opens", "unlocks", "öffnet", "ouvre", "abre", "apre", "откроется", "открывается", "sblocca"),
        lazy_pattern(
            r"\b(?:opens|unlocks|öffnet|ouvre|abre|apre|sblocca|откроется|открывается)"
            rf"(?: \w{{2,4}})? (?:with|using|by|mit|avec|con|com|с|по) {_VALUE}",
            re.IGNORECASE,
        ),
    ),
    (("mit",), lazy_pattern(rf"\bmit {_VALUE} (?:öffnen|auf|entsperren|aufmachen|entschlüsseln|einloggen|anmelden)\b")),
    (
        ("log", "login", "logon", "sign", "logge", "melde", "connecte", "entra", "inicia", "accedi", "войди", "заходи"),
        lazy_pattern(
            r"(?:log ?(?:in|on)|sign in|logge |melde |connecte|entra|inicia|accedi|войди|заходи)"
            rf"[^\n.]{{1,60}}?(?:then|dann|puis|luego|depois|poi|потом|затем)\s?{_VALUE}",
            re.IGNORECASE,
        ),
    ),
)
"""The same with whole words."""
_AGREED: Gated = (
    (
        ("words", "wörter", "mots", "palabras", "palavras", "parole", "слова"),
        lazy_pattern(
            rf"\b(?P<value>{_NAME} (?:and|und|et|y|e|и) {_NAME}),? (?:are|sind|sont|son|são|sono|это|—|-) ?"
            r"(?:the |our |die |unsere |les |nos |las |as |le |те самые |те |наши )?"
            r"(?:\w{2,8} )?(?:words|wörter|mots|palabras|palavras|parole|слова)\b"
        ),
    ),
)


_GLUED = (
    lazy_pattern(rf"用\s?{_VALUE}\s?(?:打开|解锁|登录|解压)"),
    lazy_pattern(rf"(?P<value>[{CJK}]{{2,4}}和[{CJK}]{{2,4}}?)就?是[那这]?[两2二]?个?(?:暗)?词"),
)
_WORDS = frozenset(word for needs, _ in (*_BY_WORD, *_AGREED) for word in needs)


def pairs(text: str, low: str, words: frozenset[str]) -> Iterator[Found]:
    """Find passwords and passphrases by their direct neighbours. low: the text in lower case; words: its words."""
    if " / " in text or "-U " in text or "jdbc:" in text:
        for needs, pattern in _BY_PART:
            if needs[0] in text:
                yield from _odd(pattern, text)
    if told := words & _WORDS:
        yield from _by_word(text, low, told)
    if not low.isascii():
        if "用" in low:
            yield from _odd(_GLUED[0], text)
        if "词" in low:
            yield from ((*match.span("value"), "password") for match in _GLUED[1].finditer(low))


def _by_word(text: str, low: str, told: frozenset[str]) -> Iterator[Found]:
    for needs, pattern in _BY_WORD:
        if not told.isdisjoint(needs):
            yield from _odd(pattern, text)
    for needs, pattern in _AGREED:
        if not told.isdisjoint(needs):
            yield from ((*match.span("value"), "password") for match in pattern.finditer(low))


def _odd(pattern: re.Pattern[str], text: str) -> Iterator[Found]:
    for match in pattern.finditer(text):
        word = match["value"].rstrip(".,:!?)*")
        if is_odd(word):
            yield match.start("value"), match.start("value") + len(word), "password"


def is_odd(word: str) -> bool:
    """Return True if a word is unlike prose: letters with digits, names joined by signs, or a possible code."""
    return is_mixed(word) or (word.isdigit() and 4 <= len(word) <= 8) or _DISTINCT.fullmatch(word) is not None
