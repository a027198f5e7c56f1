"""Learn aliases from the events of a window: pairs of a name and an alias, with their source events.

Precision comes before recall: an alias needs a phrase between two names, or a spelling that derives from the other.
Most texts contain neither, and cost only a lookup of their words.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from slowwave_server.domain.aliases.brackets import in_brackets
from slowwave_server.domain.aliases.nicknames import FIRST_NAMES
from slowwave_server.domain.aliases.phrases import CALL_ME, CALLED_BEHIND, GO_ON, MY_NAME_IS, NEGATED, PHRASES, Kind
from slowwave_server.domain.aliases.reading import (
    is_name_word,
    name_left,
    name_right,
    run_left,
    run_right,
    words_left,
    words_right,
)
from slowwave_server.domain.aliases.short_forms import is_short_for, is_shortened, long_form_before
from slowwave_server.domain.aliases.spelling import are_two_names, key_of, may_be_name
from slowwave_server.domain.events import Event
from slowwave_server.domain.noise import is_noise, without_machinery
from slowwave_server.domain.redaction import redact

LONGEST_TEXT = 20_000
"""Maximum characters read from an event."""
MOST_OF_EVENT = 20
"""An event with more pairs is a glossary of other things than this scope's names, or machine output."""

Pair = tuple[str, str]

_ACRONYM = re.compile(r"(?<![\w.-])[A-Z][A-Z0-9]{2,9}(?![\w-])")
_LINKED = re.compile(r"[A-Z]{3}[A-Z0-9]*\**(?: ?[:=,–—]| - )|, (?:or )?\**[A-Z]{3}")
_NICKNAME = re.compile(r'\b([^\W\d_a-z][\w-]+) ["“„]([^\W\d_a-z][\w-]+)["”“] ([^\W\d_a-z][\w-]+)')
_LINK = re.compile(r"\*{0,2}(?: ?(?P<plain>[:=]|[–—]| - )| ?(?P<comma>,)) *\*{0,2}")
_NO_SPEAKER = re.compile(
    r"(?:speaker|user|person|participant|guest|customer|client|agent|bot|assistant|admin|system|root|human)"
    r"[ _-]?\w{0,3}",
    re.IGNORECASE,
)
_CATEGORIES = frozenset("project projekt projet proyecto progetto projeto проект team codename codenamed".split())
_CJK_PHRASE = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]")
_SHORTENED_BEHIND = re.compile(r"的(?:简称|缩写|別称|别名)|の(?:略称|略|通称)")


@dataclass(frozen=True, slots=True)
class Alias:
    """Two names of one thing. name: the longer, fuller or newer one; sources: seq numbers of its events, ascending."""

    name: str
    alias: str
    sources: tuple[int, ...]


def learn(events: Iterable[Event]) -> tuple[Alias, ...]:
    """Return the aliases in these events, in order of appearance. Tool events teach none."""
    found: dict[Pair, Alias] = {}
    for event in events:
        if not event.is_spoken:
            continue
        for name, alias in _taught(event):
            key = (key_of(name), key_of(alias))
            known = found.get(key)
            if known is None:
                found[key] = Alias(name, alias, (event.seq,))
            elif event.seq not in known.sources:
                found[key] = Alias(known.name, known.alias, (*known.sources, event.seq))
    return tuple(found.values())


def _taught(event: Event) -> list[Pair]:
    text = event.content[:LONGEST_TEXT]
    hinted = _hinted(text)
    finders = [find for find, applies in _FINDERS if applies(text)]
    if not (finders or hinted) or is_noise(event):
        return []
    text = without_machinery(text)
    low = _lowered(text)
    pairs = {pair: None for find in finders for pair in find(text)}
    for kind, phrase in hinted:
        pairs.update((pair, None) for pair in _by_phrase(text, low, kind, phrase))
    if event.kind == "user" and any(phrase in hinted for phrase in _CALLED):
        pairs.update((pair, None) for pair in _by_speaker(text, low, event.name))
    pairs = {(_thing(n), _thing(a)): None for n, a in pairs}
    good = [(n, a) for n, a in pairs if may_be_name(n) and may_be_name(a) and are_two_names(n, a)]
    if not good or len(good) > MOST_OF_EVENT:
        return []
    # A span that looks like a name may be part of a secret.
    shown = " ".join(redact(text).text.split())
    speaker = event.name or ""
    return [(n, a) for n, a in good if a in shown and (n in shown or n == speaker or n.split()[0] in shown)]


def _hinted(text: str) -> list[tuple[Kind | None, str]]:
    """Return the alias phrases in a text. Kind None marks phrases of a speaker about themselves."""
    low = _lowered(text)
    maybe = [phrase for word in _HINTS.keys() & set(low.split()) for phrase in _HINTS[word]]
    if not low.isascii():
        maybe += _WITHOUT_SPACES
    return sorted((entry for entry in maybe if entry[1] in low), key=_ORDER.__getitem__)


def _lowered(text: str) -> str:
    """Return a text in lower case in which every character keeps its position."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)


def _by_phrase(text: str, low: str, kind: Kind | None, phrase: str) -> Iterator[Pair]:
    at = low.find(phrase) if kind is not None else -1
    while kind is not None and at >= 0:
        end = at + len(phrase)
        left, right, behind = _both_sides(text, at, end, phrase)
        if left and right and not _is_asked(text, behind):
            yield from _told(kind, left, right)
        elif kind == "short" and (pair := _lower_long_form(text, at, end)):
            yield pair
        at = low.find(phrase, end)


def _both_sides(text: str, at: int, end: int, phrase: str) -> tuple[str, str, int]:
    left = name_left(text, at)
    right, behind = name_right(text, end)
    if _CJK_PHRASE.search(phrase):
        left = left if _is_quoted(text[at - 1 : at]) else run_left(text, at) or left
        right = right if _is_quoted(text[end : end + 1]) else run_right(text, end) or right
        if phrase in {"是", "は"}:
            # "X is the short form of Y", in the word order of these languages.
            match = _SHORTENED_BEHIND.search(right)
            right = right[: match.start()] if match else ""
    return left, right, behind


def _told(kind: Kind, left: str, right: str) -> Iterator[Pair]:
    if kind in {"alias", "former"}:
        yield left, right
    elif kind == "renamed" or is_short_for(left, right.split()) or is_shortened(left, right):
        yield right, left


def _lower_long_form(text: str, at: int, end: int) -> Pair | None:
    """Read "PR is short for pull request": a long form in lower case counts only if the short form derives from it."""
    (short,) = words_left(text, at, 1) or ("",)
    words = words_right(text, end, 8)
    if is_name_word(short) or short.islower():
        for count in range(1, len(words) + 1):
            if is_short_for(short, words[:count]):
                return " ".join(words[:count]), short
    return None


def _is_quoted(character: str) -> bool:
    return character in '「」『』“”《》"' and character != ""


def _is_asked(text: str, at: int) -> bool:
    match = re.compile(r"[.!?\n。！？]").search(text, at, at + 60)
    return match is not None and match.group() in "?？"


def _by_initials(text: str) -> Iterator[Pair]:
    """Read "GHA, GitHub Actions", "GHA: GitHub Actions" and "GitHub Actions, or GHA"."""
    for match in _ACRONYM.finditer(text):
        short = match.group()
        link = _LINK.match(text, match.end())
        if link:
            words = words_right(text, link.end(), len(short) * 2 + 2)
            for count in range(2, len(words) + 1):
                if is_short_for(short, words[:count]) and (link["plain"] or all(map(is_name_word, words[:count]))):
                    yield " ".join(words[:count]), short
                    break
        before = text[: match.start()].rstrip("* ")
        before = before.removesuffix(" or").removesuffix(" oder").removesuffix(" ou")
        if before.endswith(","):
            long = long_form_before(short, words_left(text, len(before) - 1, len(short) * 2 + 2))
            if long and len(long) > 1 and is_name_word(long[0]) and is_name_word(long[-1]):
                yield " ".join(long), short


def _by_nickname(text: str) -> Iterator[Pair]:
    """Read 'Robert "Bob" Miller'."""
    for match in _NICKNAME.finditer(text):
        if match[1].lower() in FIRST_NAMES:
            yield f"{match[1]} {match[3]}", match[2]


def _by_speaker(text: str, low: str, speaker: str | None) -> Iterator[Pair]:
    """Read "Call me Bob" of a speaker whose name the event's metadata or its text contains."""
    names = [] if speaker is None or _NO_SPEAKER.fullmatch(speaker) else [speaker]
    for phrase in MY_NAME_IS:
        at = low.find(phrase)
        if at >= 0:
            name, end = name_right(text, at + len(phrase))
            name = run_right(text, at + len(phrase)) or name
            if name and (text[end : end + 1] in ",.;，。！!" or _next_word(text, end) in GO_ON):
                names.append(name)
    for alias in _wanted(text, low):
        for name in names:
            yield name, alias


def _wanted(text: str, low: str) -> Iterator[str]:
    for phrase in CALL_ME:
        for match in re.finditer(re.escape(phrase), low):
            clause = re.split(r"[,.;!?]", low[max(0, match.start() - 14) : match.start()])[-1]
            if not any(word in clause for word in NEGATED):
                yield _wanted_behind(text, match.end())
    for phrase in CALLED_BEHIND:
        at = low.find(phrase)
        if at > 0:
            yield run_left(text, at).split("は")[-1] or name_left(text, at)


def _wanted_behind(text: str, at: int) -> str:
    if run := run_right(text, at):
        return re.split(r"就|吧|好", run)[0][:6]
    alias, end = name_right(text, at)
    follows = text[end : end + 2].strip()
    is_all = not follows[:1].isalnum() or _next_word(text, end) in GO_ON
    return alias if is_all and len(alias.split()) <= 3 else ""


def _thing(name: str) -> str:
    """Return a name without its category: "Project Falcon" becomes "Falcon"."""
    first, _, rest = name.partition(" ")
    return rest if rest and first.lower() in _CATEGORIES else name


def _next_word(text: str, at: int) -> str:
    words = text[at : at + 20].split()
    return words[0].lower().strip(".,!") if words else ""


_CALLED: tuple[tuple[None, str], ...] = tuple((None, phrase) for phrase in (*CALL_ME, *CALLED_BEHIND))
_SPOKEN: tuple[tuple[Kind | None, str], ...] = (
    *((kind, phrase) for kind, phrases in PHRASES for phrase in phrases),
    *_CALLED,
)
_ORDER = {entry: place for place, entry in enumerate(_SPOKEN)}
_WITHOUT_SPACES = [entry for entry in _SPOKEN if _CJK_PHRASE.search(entry[1])]
# The longest word of each phrase: a text without any of these words contains no phrase.
_HINTS: dict[str, list[tuple[Kind | None, str]]] = {}
for _entry in _SPOKEN:
    if _entry not in _WITHOUT_SPACES:
        _HINTS.setdefault(max(_entry[1].split(), key=len), []).append(_entry)
_FINDERS: tuple[tuple[Callable[[str], Iterator[Pair]], Callable[[str], bool]], ...] = (
    (in_brackets, lambda text: "(" in text or "（" in text),
    (_by_initials, lambda text: _LINKED.search(text) is not None),
    (_by_nickname, lambda text: '"' in text or "“" in text),
)
