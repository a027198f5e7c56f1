"""Extract the answer from an agent's turn: the sentences that answer the request, or the items of the turn's list.

A short turn is quoted whole, without its courtesies. In a longer turn, the sentence that says most about the request is
quoted with the sentences that follow it. Introductions, headings and praise never count as an answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave_server.domain.extraction.outline import clean, point
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.summaries.prose import bare, head, is_courtesy
from slowwave_server.domain.summaries.ranking import terms

MOST_OF_ANSWER = 280
"""Maximum characters to quote from an answer."""
MOST_SHARED = 4
"""Cap on the words shared by an answer and its question; further shared words add no score."""
_MIN_POINTS = 2
_LONGEST_POINT = 110
_LONG_TABLE = 500
"""The size, in characters of prose, that a table counts as."""
_OF_REST = 14
"""Characters reserved for the number of omitted items."""
_SHORT_POINT = 45
"""Maximum characters of an item that is quoted whole; a longer item is shortened to its name."""
_POLITE = -2
"""Maximum score of a sentence that only praises, announces or repeats."""
_OF_PRAISE = 5
_SHARED = 2
"""Words that a sentence with a figure must share with the question to replace a list."""

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+\S|\*\*[^*\n]{2,100}\*\*:?\s*$)")
_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*•]|\d{1,2}[.)])\s+(?P<text>\S.*)$")
_NO_TEXT = re.compile(r"^\s*(?:\|?[-=_*:| ]{3,}\s*$|```)")
_FIGURE = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|none) ")
_NAME = re.compile(r"(?<=[a-z,;:] )(?!I\b)[A-Z][\w-]+|`[^`]+`|'[A-Z][^']+'")
_PRAISE = re.compile(
    r"^(?:oh,? )?(?:(?:that|it|this|you)(?:'s| is|'re| are|'ve| have) (?:a |an |the |so |such |really |very |truly |"
    r"absolutely |completely |totally )*(?:fantastic|great|wonderful|excellent|perfect|good|awesome|brilliant|"
    r"amazing|"
    r"valid|smart|solid|right|correct to|spot on|articulated|done|made)\b|"
    r"(?:excellent|great|good|fantastic|perfect|lovely|nice|cool|alright|"
    r"wonderful|smart|absolutely|understood|certainly|of course|sure|proper|wow)\b[^.]{0,60}[.!]?$|"
    r"thank(?:s| you) for\b|(?:my )?apologies\b|sorry\b|i(?:'m| am) (?:so |really |very |\w+ly )*(?:glad|happy|"
    r"thrilled|delighted|sorry|excited|"
    r"pleased|confident)|"
    r"i (?:totally |completely |fully )?(?:agree|understand|hear you|apologi[sz]e)|ensuring\b)",
    re.IGNORECASE,
)
_RESTATES = re.compile(
    r"^(?:note:|it (?:really )?(?:sounds|seems|looks) like|as you (?:said|noted|mentioned)|you(?:'ve|"
    r" have)? (?:mentioned|"
    r"said|noted)|as a reminder|we've (?:previously|already)|(?:i am|i'm|we're) (?:here|ready|all set)|"
    r"let(?:'s| us| me)\b|please\b|take your time|my (?:focus|goal)|remember\b|once (?:you|we|i)\b)|"
    r"\bit's (?:great|good|wonderful) (?:that|to)\b|\b(?:crucial|great|big|important|excellent) (?:first )?step\b|"
    r"\bi'm glad\b",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"\b(?:to confirm|confirmed|we'll proceed|i(?:'ve| have) (?:\w+ )?(?:added|updated|noted|confirmed|adjusted|"
    r"removed|saved|recorded|suspended|scheduled|changed|fixed)|(?:is|are|remains?) (?:now |all |completely |"
    r"fully )?(?:confirmed|set|locked in|suspended|paused|scheduled|saved|finali[sz]ed))\b",
    re.IGNORECASE,
)
_REPLIES = re.compile(r"^(?:yes|no|yeah|nope|correct|exactly|indeed)\b", re.IGNORECASE)
_OPENS = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|yes|okay|ok|great|understood|excellent)[,!. ]+)?"
    r"(?:here(?:'s| is| are)\b|below (?:is|are)\b)",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:if|unless|for any|each (?:extra|additional))\b", re.IGNORECASE)
_LEANS = re.compile(
    r"^(?:this|these|that|those|they|it|he|she|however|but|so|therefore|then|also|and|instead|both|which)\b",
    re.IGNORECASE,
)
_DECISIVE = re.compile(
    r"\b(?:total|cost|price|refund\w*|paid|payments?|charged?|balance|fee|bags?|baggage|reservation id|deadline|due|"
    r"score)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, a list item or a heading.

    announces: True if the unit ends with a colon and introduces the next text; size: the number of characters of an
    item before shortening.
    """

    text: str
    kind: Literal["prose", "item", "head"]
    announces: bool = False
    size: int = 0


def answer(text: str, asked: str, limit: int = MOST_OF_ANSWER) -> str | None:
    """Return the part of a turn that answers `asked`, about `limit` characters; None if the turn is only polite."""
    units = _units(text)
    if (opened := _delivery(units)) is not None:
        return _listed(units[opened:], limit)
    items = [unit for unit in units if unit.kind == "item"]
    prose = [unit.text for unit in units if unit.kind == "prose" and not unit.announces and not unit.text.endswith("?")]
    said = [part for part in prose if not is_courtesy(part)]
    worth = _worth(said, asked)
    kept = [part for part, points in zip(said, worth, strict=True) if points > _POLITE]
    whole = " ".join(kept)
    if not items and kept and len(whole) <= limit:
        return whole
    best = max(range(len(said)), key=lambda at: worth[at], default=None)
    tables = any(unit.size == _LONG_TABLE for unit in items)
    is_list = (tables or len(items) >= _MIN_POINTS) and sum(unit.size for unit in items) > sum(
        len(part) for part in said if not _CONDITION.match(part)
    )
    if is_list and (best is None or _introduces(units, asked) or not _decides(said[best], asked)):
        return _listed(units, limit, asked)
    if best is not None:
        return _around(said, worth, best, limit) if worth[best] > _POLITE else None
    return (
        None
        if prose
        else next((unit.text for unit in units if unit.kind != "prose" and content_words(unit.text)), None)
    )


def _introduces(units: Sequence[_Unit], asked: str) -> bool:
    """Return True if the line before a list announces the list as the answer."""
    first = next(at for at, unit in enumerate(units) if unit.kind == "item")
    return any(unit.announces and len(terms(asked) & terms(unit.text)) >= _SHARED for unit in units[:first])


def _decides(part: str, asked: str) -> bool:
    """Return True if a sentence next to a list answers the request, so that the list is not needed."""
    shared = len(terms(asked) & terms(part))
    if _CONDITION.match(part):
        return False
    return _SETTLES.search(part) is not None or (_FIGURE.search(part) is not None and shared >= _SHARED)


def decisive(text: str, room: int, known: str) -> str:
    """Return list items with a decisive number, within `room` characters. known: what the summary already has."""
    told = ""
    for unit in _units(text):
        if unit.kind == "item" and _DECISIVE.search(unit.text) and _FIGURE.search(unit.text):
            if unit.text.rstrip(".") in known or unit.text.partition(":")[2].strip(" .") in known:
                continue
            longer = f"{told}; {unit.text.rstrip('.')}" if told else unit.text.rstrip(".")
            told = longer if len(longer) <= room else told
    return told


def _units(text: str) -> list[_Unit]:
    lines = [line for line in text.split("\n") if line.strip() and not _NO_TEXT.match(line)]
    indents = [len(match["indent"]) for line in lines if (match := _ITEM.match(line))]
    found: list[_Unit] = []
    for at, line in enumerate(lines):
        item = _ITEM.match(line)
        if _HEADING.match(line):
            found.append(_Unit(clean(line), "head", announces=True))
        elif line.lstrip().startswith("|"):
            if at == 0 or not lines[at - 1].lstrip().startswith("|"):
                cells = ", ".join(cell for part in line.split("|") if (cell := clean(part)))
                found.append(_Unit(f"table of {cells}"[:_LONGEST_POINT], "item", size=_LONG_TABLE))
        elif item is not None:
            short = point(item["text"]) or clean(item["text"]).partition(":")[0]
            if len(item["indent"]) == min(indents) and len(short) <= _LONGEST_POINT:
                found.append(_Unit(short, "item", size=len(item["text"])))
        else:
            parts = [said for part in sentences(clean(line)) if (said := bare(part))]
            last = len(parts) - 1
            colon = line.rstrip(" *_").endswith(":")
            found += [_Unit(part, "prose", n == last and colon) for n, part in enumerate(parts)]
    return found


def _worth(said: Sequence[str], asked: str) -> list[int]:
    """Score how much each sentence says about the request."""
    wanted = terms(asked)
    found: list[int] = []
    for part in said:
        shared = min(len(wanted & terms(part)), MOST_SHARED)
        settles = _SETTLES.search(part) is not None
        worth = shared + int(_NAME.search(part) is not None)
        worth += 2 * (_FIGURE.search(part) is not None and (shared > 0 or settles))
        worth += 3 * settles + 2 * (_REPLIES.match(part) is not None)
        praise = _PRAISE.search(part) is not None or _RESTATES.search(part) is not None
        worth = -_OF_PRAISE if praise else worth
        # a bonus for the first sentence with content
        worth += 2 * (not praise and not any(one > _POLITE for one in found))
        found.append(worth)
    return found


def _delivery(units: Sequence[_Unit]) -> int | None:
    """Return the index of the unit that delivers a text in the turn's first words: "Sure, here's the revision: …"."""
    for at, unit in enumerate(units[:2]):
        if unit.announces and unit.kind == "prose" and _OPENS.search(unit.text) and len(units) > at + 1:
            return at
    return None


def _around(said: Sequence[str], worth: Sequence[int], best: int, limit: int) -> str:
    """Return the best sentence, the sentence that it refers to, and the sentences that continue it."""
    start, end = best, best + 1
    size = len(said[best])
    if _LEANS.match(said[best]) and start and worth[start - 1] > _POLITE and size + len(said[start - 1]) < limit:
        start -= 1
        size += len(said[start]) + 1
    while end < len(said) and worth[end] >= 0 and (size + len(said[end]) < limit or size < limit // 2):
        size += len(said[end]) + 1
        end += 1
    return " ".join(said[start:end])


def _listed(units: Sequence[_Unit], limit: int, asked: str = "") -> str:
    """Return the title of a list or text, then as many items or first sentences as fit."""
    items = [unit for unit in units if unit.kind == "item"]
    told = _called(units, items, asked)
    if not items or (len(items) < _MIN_POINTS and items[0].size != _LONG_TABLE):
        for unit in units[1:]:
            if len(told) + len(unit.text) > limit and not told.endswith(": "):
                break
            told = f"{told}{unit.text} "
        return told.strip()
    points = _points(units, items, told)
    shown: list[str] = []
    for one in points:
        if shown and len(told) + sum(map(len, shown)) + 2 * len(shown) + len(one) > limit - _OF_REST:
            break
        shown.append(one)
    rest = len(points) - len(shown)
    return told + "; ".join(shown) + (f" (and {rest} more)" if rest else "")


def _called(units: Sequence[_Unit], items: Sequence[_Unit], asked: str) -> str:
    """Return the line that announces a list, or the preceding sentence that shares most words with the request."""
    first = units.index(items[0]) if items else 1
    if units[0].announces:
        return f"{units[0].text.rstrip(':')}: "
    before = [unit for unit in units[:first] if unit.kind != "item" and len(terms(asked) & terms(unit.text)) >= _SHARED]
    before = [unit for unit in before if len(unit.text) <= MOST_OF_ANSWER // 2]
    fair = [unit for unit in before if not _PRAISE.search(unit.text) and not unit.text.endswith("?")]
    named = fair or [unit for unit in units[:first] if unit.announces][-1:]
    if not named:
        return ""
    said = named[0].text
    return f"{said.rstrip(':')}: " if named[0].announces else f"{said} "


def _points(units: Sequence[_Unit], items: Sequence[_Unit], told: str) -> list[str]:
    """Return the headings of a text of several parts, else the items of its list, without duplicates."""
    heads = [unit.text for unit in units if unit.kind == "head" and not told.startswith(unit.text)]
    if len(heads) >= _MIN_POINTS and items[0].size != _LONG_TABLE:
        return list(dict.fromkeys(heads))
    points = [(unit.text if len(unit.text) <= _SHORT_POINT else head(unit.text)).rstrip(" .") for unit in items]
    return list(dict.fromkeys(points))
