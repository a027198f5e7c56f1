"""Find secrets that a sentence announces: "my password is …", `DB_PASSWORD=…`, in the words of all languages."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from slowwave.lazy_patterns import lazy_pattern
from slowwave.redaction.folding import COVER
from slowwave.redaction.phrases import phrase_near
from slowwave.redaction.shapes import Found
from slowwave.redaction.values import VALUES, Place, Span
from slowwave.redaction.words import AHEAD, BEHIND, CJK, NOUNS, WORD, Noun, any_of

REACH = 200
"""Characters behind an announcing word in which its value begins."""
BEFORE = 120
"""Characters in front of it, for "… is my PIN"."""
WORDS = 14
"""Words behind it that may stand before its value."""
NEAR = 6
"""Words that may stand before a number where no "is" announces it."""
LONGEST = 45
"""Characters of an announcing phrase in front of the word by which it is found."""

_NUMBERS = frozenset({"pin", "cvv", "code", "card", "account", "identity", "recovery"})
"""Values that are known by their form, so that no "is" need stand before them."""
_WITH_DIGITS = _NUMBERS | {"token", "weak"}
_SIGNS = frozenset(BEHIND["signs"])
_TURNS = frozenset(BEHIND["turns"])
_OF = frozenset(BEHIND["of"])
_CHANGES = lazy_pattern(rf"\b{any_of(BEHIND['changes'])}\b")
_USES = lazy_pattern(rf"\b{any_of(BEHIND['uses'])}\s(?:{any_of(BEHIND['used_with'])}\s){{1,2}}$")
_CLAUSE = lazy_pattern(rf"[.!?](?=[\s\"']|$)|。|(?<=[{CJK}])[,;](?=[{CJK}]{{3}})|;\s|\n")
_CONTINUES = lazy_pattern(r"(?:[:=—是为為は]|\b(?:is|ist|est|es|é|è|это))\s*$|^[\"'\s]*$")
_ASSIGN = lazy_pattern(r"\\?[\"'`*]{0,3}\s{0,4}(?::=|=>|->|==?|:)\s{0,4}")
_GLUED_SIGN = lazy_pattern(rf"[{CJK}]{{0,8}}?\s?{any_of(BEHIND['glued'])}\s?(?=[!-~])|(?<=[{CJK}])\s?(?=[!-~])")
_WORD = lazy_pattern(rf"[^\s{CJK}。、]+")
_WORD_START = lazy_pattern(rf"(?<![^\W_{CJK}])[^\W_]")
_BLANKS = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalnum()})
_LINK = lazy_pattern(
    rf"(?:(?<=\s){any_of(AHEAD['links'])}\s+(?:[^\W\d]{{1,20}}[\s-]+){{0,4}}[^\W\d]{{0,20}}|"
    rf"{any_of(AHEAD['glued'])}\s?[{CJK}]{{0,8}}[a-z -]{{0,24}}[{CJK}]{{0,4}})$"
)
_MINE = lazy_pattern(rf"\b{any_of(AHEAD['mine'])}\b|{any_of(AHEAD['mine_glued'])}")
_BEGINS = lazy_pattern(r"(?:^|[.!?\n。]\s*)[\"'`]?$")
_BREAKS = lazy_pattern(r"[\s\"'`(,:、]+")
_AFTER_CJK = lazy_pattern(rf"(?<=[{CJK}])[A-Za-z0-9]")

_WEAK_KINDS = {
    "token": ("token", "jeton", "токен", "令牌", "トークン"),
    "key": ("key", "schlüssel", "clé", "clave", "chave", "chiav", "ключ"),
    "password": ("login", "credential"),
}
_BY_WORD: dict[str, list[Noun]] = defaultdict(list)
_BY_STEM: dict[str, list[Noun]] = defaultdict(list)
for _noun in NOUNS:
    for _word in dict.fromkeys(_noun.words):
        _BY_WORD[_word].append(_noun)
    for _word in _noun.stems:
        _BY_STEM[_word].append(_noun)
_KEYWORDS = frozenset(_BY_WORD)
_ASCII_STEMS = tuple(stem for stem in _BY_STEM if stem.isascii())
_OTHER_STEMS = tuple(stem for stem in _BY_STEM if not stem.isascii())
_QUIET_WORDS = frozenset(
    word for word, nouns in _BY_WORD.items() if any(noun.value not in _WITH_DIGITS for noun in nouns)
)
"""Words of secrets that may have no digit."""


def words_of(low: str) -> frozenset[str]:
    """Return the words of a text in lower case; none for Chinese and Japanese."""
    return frozenset(low.translate(_BLANKS).split() if low.isascii() else WORD.findall(low))


def announced(text: str, low: str, words: frozenset[str], *, digits: bool) -> Iterator[Found]:
    """Find values after a word that announces a secret. Linear time: each word looks a limited distance ahead and back.

    low: the text in lower case, of the same length. words: the words of the text. digits: True if the text contains
    any.
    """
    done: dict[str, int] = {}
    for at, word, nouns in _hits(low, words, digits=digits):
        for noun in nouns:
            if (noun.value in _WITH_DIGITS and not digits) or at < done.get(noun.kind, -1):
                continue
            match = _named(low, at, at + len(word), noun)
            if match is None:
                continue
            if noun.value == "phrase":
                found = phrase_near(low, *match.span())
            else:
                found = _ahead(text, low, match, noun) or _behind(text, low, match, noun)
            done[noun.kind] = match.end()
            if found is not None and found[0] < found[1]:
                done[noun.kind] = max(done[noun.kind], found[1])
                yield *found, _kind_of(noun, match[0])


def _kind_of(noun: Noun, name: str) -> str:
    """Return the kind of a secret; after a weak word such as "key", the phrase decides."""
    if noun.value != "weak":
        return noun.kind
    return next((kind for kind, parts in _WEAK_KINDS.items() if any(part in name for part in parts)), noun.kind)


def _hits(low: str, words: frozenset[str], *, digits: bool) -> Iterable[tuple[int, str, list[Noun]]]:
    """Find the positions of keywords in order."""
    known = words & (_KEYWORDS if digits else _QUIET_WORDS)
    hits = [(at, word, _BY_WORD[word]) for word in known for at in _places_of(word, low, whole=True)]
    stems = _ASCII_STEMS if low.isascii() else (*_ASCII_STEMS, *_OTHER_STEMS)
    for stem in stems:
        if stem in low:
            hits += [(at, stem, _BY_STEM[stem]) for at in _places_of(stem, low, whole=False)]
    return sorted(hits, key=lambda hit: hit[0])


def _places_of(word: str, low: str, *, whole: bool) -> Iterator[int]:
    at = low.find(word)
    while at >= 0:
        end = at + len(word)
        if not whole or not (_is_letter(low[at - 1 : at]) or _is_letter(low[end : end + 1])):
            yield at
        at = low.find(word, end)


def _is_letter(sign: str) -> bool:
    """Return True if a word continues at this position; Chinese and Japanese have no blanks between words."""
    return sign.isalnum() and not "\u3040" <= sign <= "\u9fff"


def _named(low: str, start: int, end: int, noun: Noun) -> re.Match[str] | None:
    """Return the announcing phrase around a keyword: the longest that begins at the keyword or at an earlier word."""
    begins = [match.start() for match in _WORD_START.finditer(low, max(0, start - LONGEST), start)]
    for begin in (*begins, start):
        match = noun.pattern.match(low, begin)
        if match is not None and match.end() >= end:
            return match
    return None


def _behind(text: str, low: str, match: re.Match[str], noun: Noun) -> Span | None:
    """Return the value after an announcing word; an empty span: an earlier redaction is here and ends the search."""
    stop = _clause_end(low, match.end())
    read = VALUES[noun.value]
    for place in _places(text, low, match, stop, noun):
        if text[place.at : place.at + 1] == COVER:
            return place.at, place.at
        if place.at < stop and (found := read(place)) is not None:
            return found if noun.value in _NUMBERS else _with_quotes(text, *found)
    return None


def _with_quotes(text: str, start: int, end: int) -> Span:
    """Include the quotes around a value."""
    quote = text[end : end + 1]
    if quote not in {'"', "'", "`", "\\"} or text[start - 1 : start] not in {'"', "'", "`"}:
        return start, end
    escaped = quote == "\\" and text[start - 2 : start - 1] == "\\"
    return start - 1 - escaped, end + 1 + escaped


def _places(text: str, low: str, match: re.Match[str], stop: int, noun: Noun) -> Iterator[Place]:
    """Yield where the value may begin: after an assignment, after a word like "is", directly after, further on."""
    at, name = match.end(), match[0]
    assign = _ASSIGN.match(low, at, stop)
    if assign is not None:
        yield Place(text, assign.end(), name, True, True, _in_query(low, match, assign))
    elif cjk := _GLUED_SIGN.match(low, at, stop):
        quoted = text[cjk.end() : cjk.end() + 1] == '"'
        yield Place(text, cjk.end(), name, quoted or bool(low[at : cjk.end()].strip()), False, False)
    words = _words(low, at, stop)
    signed = assigned = turned = comma = False
    changed = _CHANGES.search(low, max(0, match.start() - 40), min(len(low), stop + 10)) is not None
    for count, (start, bare) in enumerate(words):
        is_sign = bare in _SIGNS or bare[-1:] in {":", "="}
        if (signed or turned) and not (is_sign and not turned):
            plain = signed and not comma
            yield Place(text, start, name, plain, assigned, False, turned=not plain, changed=changed and not comma)
        if noun.value not in _NUMBERS and any(map(str.isdigit, bare)):
            break
        signed, assigned = is_sign, bare[-1:] in {":", "="} and count < NEAR
        turned = bare in _TURNS
        comma = comma or low[start + len(bare) : start + len(bare) + 2] == ", "
    used = _USES.search(low, max(0, match.start() - 40), match.start()) is not None
    yield from _unsigned(text, name, words, noun, used=used)


def _words(low: str, at: int, stop: int) -> list[tuple[int, str]]:
    """Return the next words without the punctuation around them, and their offsets."""
    found = islice(_WORD.finditer(low, at, stop), WORDS)
    return [
        (word.start(), word[0].strip("\"'`,*()") or word[0])
        for word in found
        if word[0][0] not in "=:" or len(word[0]) <= 2
    ]


def _unsigned(text: str, name: str, words: list[tuple[int, str]], noun: Noun, *, used: bool) -> Iterator[Place]:
    """Yield positions without an "is" before them: the next word; some more for numbers and for a secret's object."""
    near = 1 if name.startswith("pin") else NEAR
    of = bool(words) and words[0][1] in _OF
    for count, (start, bare) in enumerate(words[:near]):
        if count == 0 or noun.value in _NUMBERS or (of and any(map(str.isdigit, bare))):
            # "Log in with my password tulip": a plain word directly after the noun counts as a value, as after "to".
            plain = used and count == 0
            yield Place(text, start, name, False, False, False, turned=plain, changed=plain)


def _in_query(low: str, match: re.Match[str], assign: re.Match[str]) -> bool:
    """Return True if a word is a parameter of a URL's query, so that "&" ends its value."""
    if assign[0] != "=":
        return False
    before = low[max(0, match.start() - 40) : match.start()]
    name = max(before.rfind("&"), before.rfind("?"))
    return name >= 0 and not any(map(str.isspace, before[name:]))


def _clause_end(low: str, at: int) -> int:
    """Return the end of the clause; a line end does not end the clause if the value must follow."""
    limit = min(len(low), at + REACH)
    begins_line = False
    for match in _CLAUSE.finditer(low, at, limit):
        if match[0] != "\n" or begins_line or not _CONTINUES.search(low[at : match.start()]):
            return match.start()
        begins_line = True
    return limit


def _ahead(text: str, low: str, match: re.Match[str], noun: Noun) -> Span | None:
    """Return the value before an announcing word: "… is my PIN", "use … as the password"."""
    start = match.start()
    begin = max(0, start - BEFORE)
    link = _LINK.search(low[begin:start])
    if link is None:
        return None
    head = text[begin : begin + link.start()].rstrip(" ,\"'`\n—")
    starts = {0, *(gap.end() for gap in _BREAKS.finditer(head)), *(sign.start() for sign in _AFTER_CJK.finditer(head))}
    read = VALUES[noun.value]
    mine = _MINE.search(link[0]) is not None
    for at in sorted(starts)[-8:]:
        alone = mine and _BEGINS.search(head[:at]) is not None
        found = read(Place(head, at, match[0], alone, False, False, before=True))
        if found is not None and found[1] >= len(head) - 1:
            return begin + found[0], begin + found[1]
    return None
