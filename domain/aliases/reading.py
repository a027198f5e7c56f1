"""Names directly to the left or right of a position in a text: quoted, or in capitalised words."""

import re
from collections.abc import Sequence

from slowwave_server.domain.aliases.spelling import MAX_NAME_WORDS, PLAIN_WORDS, SMALL_WORDS, clean_name

REACH = 120
"""Characters read on each side."""
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "‘": "’", "'": "'", "`": "`", "《": "》"}
_OPENING = {closing: opening for opening, closing in _QUOTES.items()} | {"”": "“„", "“": "„"}
_STOPS = ",.;:!?()[]{}（），。；：！？…\n|"
_DOTTED = re.compile(r"(?:[^\W\d_]\.){2,}|[A-Z]\.|(?:St|Dr|Mr|Mrs|Ms|Jr|Sr)\.")
_LEADING = frozenset(
    "the our my your their his her this that a an der die das den dem unser unsere mein meine le la les l' notre mon ma"
    " el los las nuestro nuestra mi il lo gli nostro nostra o os as nosso nossa de het onze mijn".split()
)
_OPENERS = frozenset(
    "meanwhile however today additionally hence thus recently later then currently again we i you they and but so"
    " because since when while if is are was does did do as with for in on at from by to und aber wir mit et mais nous"
    " avec y pero con e ma con mas com en maar met ask tell meet see email ping let use open check run send give show"
    " dear hello hi frag sag triff".split()
)
_ELISION = re.compile(r"(?:l|d|all|dell|nell|dall|un|qu)['’](?=\w)", re.IGNORECASE)
_CLAUSE = re.compile(r"(?<!\b[^\W\d_])\.(?=\s|$)|[;:!?()\n](?=\s|$)|[,\n]")
_HAN_KANA = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3041-\u30ff\u3005ー]+")


def is_name_word(word: str) -> bool:
    """Return True if a word has the form of a name: a capital, digits or inner capitals, or a script without case."""
    first = word[:1]
    if first.isalpha() and not first.islower():
        return True
    has_letter = any(map(str.isalpha, word))
    return has_letter and (any(map(str.isdigit, word)) or any(map(str.isupper, word[1:])))


def name_right(text: str, at: int) -> tuple[str, int]:
    """Return the name that begins at `at`, and its end position; ("", at) if no name begins there."""
    while at < len(text) and text[at] in " \t*_":
        at += 1
    if at < len(text) and text[at] in _QUOTES:
        end = text.find(_QUOTES[text[at]], at + 1, at + 62)
        if end > 0:
            return clean_name(text[at + 1 : end]), end + 1
    words: list[tuple[str, int]] = []
    for match in re.compile(r"\S+").finditer(text, at, min(len(text), at + REACH)):
        word, stops = _until_stop(_bare(match.group()))
        small = word.lower() in SMALL_WORDS
        if not words and word.lower() in _LEADING and not stops:
            continue
        if not word or not (is_name_word(word) or small) or "\n" in text[words[-1][1] if words else at : match.start()]:
            break
        words.append((word, match.start() + match.group().find(word) + len(word)))
        if stops or len(words) > MAX_NAME_WORDS:
            break
    while words and (words[-1][0].lower() in SMALL_WORDS or words[-1][0].lower() in PLAIN_WORDS):
        words.pop()
    if not words or words[0][0].lower() in SMALL_WORDS:
        return "", at
    return clean_name(" ".join(word for word, _ in words)), words[-1][1]


def name_left(text: str, end: int) -> str:
    """Return the name that ends right before `end`; "" if no name ends there."""
    before = text[max(0, end - REACH) : end].rstrip(" \t*_,，")
    if before and before[-1] in _OPENING:
        begins = max(before.rfind(mark, max(0, len(before) - 62), len(before) - 1) for mark in _OPENING[before[-1]])
        return clean_name(before[begins + 1 : -1]) if begins >= 0 else ""
    words: list[str] = []
    for word in reversed(before.rpartition("\n")[2].split(" ")):
        bare = _bare(word.lstrip("\"'“„«(（-–—*_`"))
        stops = bool(words) and word[-1:] in _STOPS and _DOTTED.fullmatch(bare) is None
        if stops or not bare or not (is_name_word(bare) or bare.lower() in SMALL_WORDS):
            break
        words.insert(0, bare)
        if bare != word or len(words) > MAX_NAME_WORDS:
            break
    while words and (words[0].lower() in SMALL_WORDS or words[0].lower() in _OPENERS | _LEADING | PLAIN_WORDS):
        words.pop(0)
    return clean_name(" ".join(words))


def words_left(text: str, end: int, most: int) -> tuple[str, ...]:
    """Return the last words of the clause before `end`, names or not."""
    clause = _CLAUSE.split(text[max(0, end - REACH) : end].rstrip())[-1]
    return tuple(word for word in (clean_name(_bare(one)) for one in clause.split()[-most:]) if word)


def words_right(text: str, at: int, most: int) -> tuple[str, ...]:
    """Return the first words of the clause from `at` on, names or not."""
    clause = _CLAUSE.split(text[at : at + REACH].lstrip())[0]
    return tuple(word for word in (clean_name(_bare(one)) for one in clause.split()[:most]) if word)


def run_left(text: str, end: int) -> str:
    """Return the run of Han and Kana characters right before `end`."""
    found: Sequence[str] = _HAN_KANA.findall(text[max(0, end - 24) : end])
    return found[-1] if found and text[max(0, end - 24) : end].endswith(found[-1]) else ""


def run_right(text: str, at: int) -> str:
    """Return the run of Han and Kana characters from `at` on."""
    match = _HAN_KANA.match(text, at)
    return match.group() if match else ""


def _bare(word: str) -> str:
    """Return a word without an article joined to it: l'Organisation."""
    return _ELISION.sub("", word, count=1) if "'" in word[:6] or "’" in word[:6] else word


def _until_stop(word: str) -> tuple[str, bool]:
    """Return a word without trailing punctuation, and whether that punctuation ends a clause."""
    if _DOTTED.fullmatch(word) or (len(word) > 1 and _DOTTED.fullmatch(word[:-1]) and word[-1] in ",;:!?)"):
        return (word, False) if _DOTTED.fullmatch(word) else (word[:-1], True)
    for place, character in enumerate(word):
        inside = 0 < place < len(word) - 1 and character in ".:" and word[place + 1].isalnum()
        if character in _STOPS and not inside:
            return word[:place].rstrip("*_\"'”“’»`"), True
        if character in '"”“»」':
            return word[:place], True
    return word.rstrip("*_`"), False
