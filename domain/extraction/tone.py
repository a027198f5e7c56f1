"""Tell how people talk: about technical work (code, commands, versions, tickets), and in rambling speech."""

import re
from collections.abc import Collection, Iterable

from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.signals import Seen, signals

MIN_SHARE = 0.1
"""Minimum share of technical sentences in a technical talk among people, which also has fewer personal ones. No talk
between friends reaches both, and three of four in channels of software projects do.
"""
MIN_TRADE = 0.2
"""The same if words of the trade count, too: four of five windows of such channels reach it, and none of friends."""
MIN_CODE = 0.2
"""Minimum share of sentences with code in a talk with a coding agent: 90 % of such talks reach it."""
LONG_TURN = 100
"""Maximum words of a turn in a chat; interviews, mails and forums have longer ones, and 2 of 441 windows of friends."""
MIN_WARM = 0.14
"""Minimum share of personal or emotional sentences of a chat: 439 of 441 windows between friends reach it."""
FEW_SENTENCES = 10
"""Fewer sentences are too few to tell whether a talk is personal."""
MAX_RUN = 29
"""Maximum words of speech without a mark: a transcript with more has lost the sentences of its speaker."""
MAX_PAUSES = 1
_LOOKED_AT = 3000
"""Characters of a turn."""
_CODE = re.compile(
    r"`|\w_\w|(?<![A-Z])[a-z]+[A-Z]\w|\w\(\)|\w/[\w.-]+/\w|/\w+/\w|\w=\w|->|::|"
    r"\b\w+\.(?:py|js|ts|tsx|jsx|mjs|c|h|cpp|rs|go|java|md|json|xml|ya?ml|conf|log|html|sh|so|jar|deb|exe|cs|rb|php|sql|"
    r"toml|css)\b"
)
"""An identifier, a path, an assignment, the name of a file."""
_TECHNICAL = re.compile(
    r"https?://|(?<!\w)--?[a-z]\w|\bv\d+\b|\bv?\d+\.\d+(?:\.\d+)*\b|#\d{2,}|\b[A-Z]{2,}\d*\b(?<!\bTV)(?<!\bOK)(?<!\bUS)"
)
"""An address, an option, a version, a ticket, an acronym."""
_TRADE = re.compile(
    r"\b(?:builds?|compil\w{1,5}|commits?|committed|patch(?:es|ed)?|servers?|config\w{0,9}|repos?|repositor(?:y|ies)|"
    r"branch(?:es)?|releases?|bugs?|kernel|install\w{0,7}|packages?|librar(?:y|ies)|modules?|code|debug\w{0,4}|scripts?|"
    r"databases?|drivers?|firmware|plugins?|pull requests?|merged?|upstream|deploy\w{0,4}|runtime|syntax|parser|binary|"
    r"linux|ubuntu|windows|docker|git|github|browsers?|spec|protocols?|clients?|interfaces?|sensors?|routers?|voltage|"
    r"software|hardware|updates?|errors?|logs?|files?|filenames?|functions?|variables?|parameters?|implementation|nodes?|"
    r"tests?|testing|versions?|proposals?|javascript|python)\b",
    re.IGNORECASE,
)
"""Words of people who build software or devices."""
_PERSONAL = frozenset("pet food leisure home family body taste age childhood my_favourite i_like".split())
_OF_SPEAKER = re.compile(r"\b(?:i|i'm|i've|my|we|our)\b", re.IGNORECASE)
_FEELING = re.compile(
    r"\b(?:love[ds]?|enjoy\w*|happy|glad|excited|sad|hopes?|miss(?:ed)?|fun|amazing|awesome|wow|nice|great|cool|sounds|"
    r"favou?rite|sorry|thanks?|lol|haha)\b",
    re.IGNORECASE,
)
"""Words of feelings, and of courtesy between people who talk for pleasure."""
_MARK = re.compile(r"[,;:.()!?…\"-]+(?:\s|$)|\s[-\u2013\u2014]+\s")
_PAUSE = re.compile(
    r"(?<![\w'])(?:and|so|with|the|for|in|of|to|is|that|also|a|on|we|like|as|if|but|or|was|are|were|because|um|uh),|"
    r"\b((?-i:[a-z]+)),? \1\b(?!-)|"
    r"(?:^|[,.] )(?:like|sort of|kind of|you know|i mean|basically|right|okay|let's say|so|now),|, ?,|,\.|"
    r"\b(?:um+|uh+|erm)\b(?!,)",
    re.IGNORECASE,
)
"""A pause after a function word, a word said twice, a filler."""


def is_technical(turns: Iterable[str]) -> bool:
    """Return True if enough sentences of these turns, among people, contain something technical."""
    said = _said(turns)
    shown = sum(_has(part, _CODE, _TECHNICAL) for part in said)
    found = sum(_has(part, _CODE, _TECHNICAL, _TRADE) for part in said)
    personal = sum(map(_is_personal, said))
    return (shown >= MIN_SHARE * len(said) > 0 and shown > personal) or (
        found >= MIN_TRADE * len(said) > 0 and found > personal
    )


def is_about_code(turns: Iterable[str]) -> bool:
    """Return True if enough sentences of these turns, of a person and an agent, contain code."""
    said = _said(turns)
    return sum(_CODE.search(part) is not None for part in said) >= MIN_CODE * len(said) > 0


def is_of_channel(turns: Iterable[str], names: Collection[str]) -> bool:
    """Return True if a turn begins with the name of a speaker and a colon ("otavio: done"), as in a channel."""
    calls = tuple(f"{mark}{name.casefold()}{end}" for name in names for mark, end in (("", ":"), ("@", " ")))
    return any(turn.casefold().startswith(calls) for turn in turns)


def has_long_turn(turns: Iterable[str]) -> bool:
    """Return True if a turn is longer than those of a chat."""
    return any(len(turn.split()) > LONG_TURN for turn in turns)


def is_personal(turns: Iterable[str]) -> bool:
    """Return True if people talk about themselves or with feelings, or say too little to tell."""
    said = _said(turns)
    warm = sum(_FEELING.search(part) is not None or _is_personal(part) for part in said)
    return len(said) < FEW_SENTENCES or warm >= MIN_WARM * len(said)


def says_little(turns: Iterable[str]) -> bool:
    """Return True if turns have too few sentences to tell whether the talk is personal."""
    return len(_said(turns)) < FEW_SENTENCES


def is_rambling(said: str) -> bool:
    """Return True if a statement is an unreadable transcript of speech: it pauses, or does not end."""
    if sum(1 for _ in _PAUSE.finditer(said)) > MAX_PAUSES:
        return True
    return any(part.count(" ") >= MAX_RUN for part in _MARK.sub("\n", said).split("\n"))


def _has(said: str, *patterns: re.Pattern[str]) -> bool:
    return any(pattern.search(said) is not None for pattern in patterns)


def _is_personal(said: str) -> bool:
    return _OF_SPEAKER.search(said) is not None and not _PERSONAL.isdisjoint(signals(said, Seen()))


def _said(turns: Iterable[str]) -> list[str]:
    return [part for turn in turns for part in sentences(turn[:_LOOKED_AT])]
