"""What an agent's turn answers, in its own words: the sentences that carry the answer, or the points of its list.

A short turn is quoted whole but for its courtesies. Of a longer one the sentence counts that says most about what was
asked, with what follows it; an introduction, a heading and praise answer nothing.

Must not know: what became of the answer.
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
"""Characters of what is quoted of an answer."""
MOST_SHARED = 4
"""Words that an answer shares with its question; more prove nothing more."""
_MIN_POINTS = 2
_LONGEST_POINT = 110
_LONG_TABLE = 500
"""What a table counts for beside prose."""
_OF_REST = 14
"""Characters for how many points are left."""
_SHORT_POINT = 45
"""Characters of a point that is told whole; of a longer one the name is enough."""
_POLITE = -2
"""What a sentence is worth, at most, that only praises, announces or repeats."""
_OF_PRAISE = 5
_SHARED = 2
"""Words that a sentence with a figure shares with the question to stand for a list."""

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
    """A sentence, a point of a list, or a heading. announces: it ends with a colon, and what follows is the
    matter; size: of a point before it was shortened.
    """

    text: str
    kind: Literal["prose", "item", "head"]
    announces: bool = False
    size: int = 0


def answer(text: str, asked: str, limit: int = MOST_OF_ANSWER) -> str | None:
    """The words of a turn that carry its answer, at most about `limit` characters; None if it only is polite."""
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
    """Whether the line before a list says that this is what was asked for."""
    first = next(at for at, unit in enumerate(units) if unit.kind == "item")
    return any(unit.announces and len(terms(asked) & terms(unit.text)) >= _SHARED for unit in units[:first])


def _decides(part: str, asked: str) -> bool:
    """Whether a sentence beside a list stands for the answer instead of the list."""
    shared = len(terms(asked) & terms(part))
    if _CONDITION.match(part):
        return False
    return _SETTLES.search(part) is not None or (_FIGURE.search(part) is not None and shared >= _SHARED)


def decisive(text: str, room: int, known: str) -> str:
    """The points of a turn's lists that name an amount, a total or what else decides, within `room` characters.

    known: what is told already.
    """
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
    """How much each sentence says about what was asked."""
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
        worth += 2 * (not praise and not any(one > _POLITE for one in found))  # the first that says something
        found.append(worth)
    return found


def _delivery(units: Sequence[_Unit]) -> int | None:
    """Where a turn begins that hands something over in its first words: "Sure, here's the revised sentence: …"."""
    for at, unit in enumerate(units[:2]):
        if unit.announces and unit.kind == "prose" and _OPENS.search(unit.text) and len(units) > at + 1:
            return at
    return None


def _around(said: Sequence[str], worth: Sequence[int], best: int, limit: int) -> str:
    """The best sentence with the one that it leans on, and what goes on from it."""
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
    """What a list or a text is called, and its points, or its first sentences, as far as they fit."""
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
    """The line that announces a list, or the sentence before it that says most of what was asked."""
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
    """The headings of a text of several parts, else the points of its list; each once."""
    heads = [unit.text for unit in units if unit.kind == "head" and not told.startswith(unit.text)]
    if len(heads) >= _MIN_POINTS and items[0].size != _LONG_TABLE:
        return list(dict.fromkeys(heads))
    points = [(unit.text if len(unit.text) <= _SHORT_POINT else head(unit.text)).rstrip(" .") for unit in items]
    return list(dict.fromkeys(points))
