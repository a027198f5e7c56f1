"""The people and things that a statement names: capitalised spans and quoted titles."""

import re

MAX_ENTITIES = 10

_QUOTED = re.compile(r'"([^"\n]{2,60})"')
_CAPITAL = r"(?<!\w)[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w&-]*(?:'(?!s\b)\w+)?"
_SPAN = re.compile(
    rf"{_CAPITAL}(?: (?:(?:of|the|de|van|von) ){{0,2}}{_CAPITAL}| \d{{1,4}}(?:\.\d{{1,3}}){{0,3}}\b"
    r"(?! (?:year|month|week|day|hour|minute|time|people)))*"
)
_OPENS = re.compile(r"(?:^|[.!?:…]['\")]?\s)$")
_PLAIN = frozenset(
    "the a an i my we our he she it they you his her its their your this that these those there here who what when "
    "where why how and but so or if because while since after before then also yes no ok okay well oh not never "
    "always just still even only both dr mr mrs ms monday tuesday wednesday thursday friday saturday sunday january "
    "february march april may june july august september october november december now last next for use call run god "
    "lol i'm "
    "i've i'll i'd".split(),
)


def entities(content: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The names in `content`: first those of `known` people that occur in it, then the others in order, at most ten.

    A single capital at the start of a sentence proves nothing, so such a word counts only as part of a longer name.
    """
    found: dict[str, None] = {name: None for name in known if name in content}
    if '"' in content:
        found.update(dict.fromkeys(_QUOTED.findall(content)))
    for match in _SPAN.finditer(content):
        name, start = match.group(), match.start()
        first, _, rest = name.partition(" ")
        if first.lower() in _PLAIN or rest in known:
            name, start = rest, start + len(first) + 1
        alone = " " not in name and _OPENS.search(content, max(0, start - 3), start) is not None
        if len(name) > 1 and not alone and name.lower() not in _PLAIN and not any(name in longer for longer in found):
            found[name] = None
    return tuple(found)[:MAX_ENTITIES]
