"""Check whether a rewritten statement is clear alone and worth a line: a subject, a claim, something specific."""

import re

from slowwave_server.domain.extraction.flaws import (
    AMONG_PEOPLE,
    AT_WORK,
    CUT_OFF,
    DEICTIC,
    DISPUTED,
    META,
    NAMED,
    OF_AGENT,
    PERSON,
    SCOLDS,
    SOMEBODY,
    UNMARKED,
    UNREAL,
    WANTS,
)

MIN_CONTENT = 2
"""Minimum content words. A shorter statement is meaningless outside its conversation."""

MAX_MENTIONS = 2
"""Maximum mentions of one speaker in a statement; more mentions indicate a failed rewrite."""
_WORD = re.compile(r"[^\W_][\w'./@#&+-]*")
_EMPTY = frozenset(
    """
    a an the and or but if so as at by for from in into of on onto out over to up with without about after before than
    then that this these those it its he she him her his they them their there here who whom which what when where why
    how i you we me us my your our mine yours ours i'm i've i'll i'd you're we're it's that's don't doesn't didn't isn't
    aren't wasn't weren't won't can't cannot couldn't shouldn't wouldn't haven't hasn't hadn't not no yes be am is are
    was
    were been being have has had having do does did doing will would shall should can could may might must get gets got
    getting go goes going gone went come comes let lets just really very much more most some any all both each every
    other another such only also too even still already again ever never always quite pretty lot lots bit thing things
    something anything everything nothing way ways kind sort one ones well good great nice better best right okay ok
    sure
    like want wants wanted need needs needed know knows think thinks thought feel feels felt see sees look looks looking
    make makes made take takes keep say says said tell tells user assistant user's others now time today day days
    actually
    please thanks thank help perfect exactly definitely absolutely guess hope hopes mean means idea point part
    """.split()
)


def is_named(content: str) -> bool:
    """Return True if a statement contains a proper name, a number or a quoted title."""
    return NAMED.search(content) is not None


def is_dangling(content: str) -> bool:
    """Return True if a word refers to something that the statement does not name."""
    return DEICTIC.search(content) is not None and NAMED.search(content) is None


def names_nobody(content: str) -> bool:
    """Return True if "he" or "she" refers to a person whom the statement does not name before."""
    pronoun = SOMEBODY.search(content)
    if pronoun is None:
        return False
    before = content[: pronoun.start()]
    return PERSON.search(before) is None and NAMED.search(f", {before}") is None


def content_words(text: str) -> list[str]:
    """Return the content words of a text in lower case; numbers and identifiers count."""
    found = [word.strip("'./-").lower() for word in _WORD.findall(text)]
    return [word for word in found if word and word not in _EMPTY and not (len(word) == 1 and not word.isdigit())]


def flaw(content: str, *, names: tuple[str, ...] = (), at_work: bool = True) -> str | None:
    """Return the reason why a statement is not worth keeping, or None.

    names: the names of the speakers, which alone are not content. at_work: True if a person talks to an agent; among
    people, a short statement about oneself is worth keeping, and a wish is not a request.
    """
    bare = content
    for name in names:
        bare = bare.replace(name, " ")
    if len(set(content_words(bare))) < 1:
        return "too little content"
    told = next((content[len(name) + 2 :] for name in names if content.startswith(f"{name}: ")), content)
    found = next((reason for reason, pattern in (AT_WORK if at_work else AMONG_PEOPLE) if pattern.search(told)), None)
    if found is not None:
        return found
    return _flaw_of_subject(content, bare, names, at_work=at_work)


def _flaw_of_subject(content: str, bare: str, names: tuple[str, ...], *, at_work: bool) -> str | None:
    if is_dangling(bare) or (at_work and names_nobody(bare)):
        return "dangling reference"
    if names and not any(name.lower() in content.lower() for name in names):
        return "about nobody"
    vague = not is_named(bare) and len(set(content_words(bare))) < 2 * MIN_CONTENT
    if at_work and vague and WANTS.search(content):
        return "request"
    if any(content.count(name) > MAX_MENTIONS for name in names):
        return "garbled"
    unfinished = content.rstrip().endswith(("…", "?", ":")) or (at_work and is_cut(content))
    return "unfinished" if unfinished else None


def is_cut(content: str) -> bool:
    """Return True if a statement stops in the middle of a phrase, of brackets or of a quotation."""
    return (
        CUT_OFF.search(content) is not None or content.count("(") != content.count(")") or content.count('"') % 2 == 1
    )


def is_about_talk(said: str) -> bool:
    """Return True if a sentence in its speaker's words gives the agent a role, disputes, scolds or asks."""
    return any(pattern.search(said) is not None for pattern in (META, DISPUTED, SCOLDS, UNMARKED, OF_AGENT))


def is_unreal(content: str) -> bool:
    """Return True if a statement is a guess or a hypothesis."""
    return UNREAL.search(content) is not None
