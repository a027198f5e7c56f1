"""Build the outline of an agent's delivery, in its words: title, points and final figures of a structured answer."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from slowwave_server.domain.extraction.headings import only_headings
from slowwave_server.domain.extraction.sentences import normalise
from slowwave_server.domain.extraction.standalone import content_words

MIN_POINTS = 2
MAX_POINTS = 6
MAX_POINT = 90
"""Characters of one point. A longer point is cut at the end of a clause, or omitted if it has no such place."""
MIN_WORDS = 4
"""Minimum words of a shortened point."""
MAX_TITLE = 90

_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}\s+(?P<hash>\S.*?)(?:(?<=\s)#+)?|\*\*(?P<bold>[^*\n]{3,100})\*\*:?)$")
_ITEM = re.compile(r"^(?P<indent>\s*)(?:[-*•]|\d{1,2}[.)])\s+(?P<text>\S.*)$")
_LEAD = re.compile(r"^\*\*(?P<lead>[^*\n]{2,80}?):?\*\*:?\s*(?P<rest>.*)$")
_INTRO = re.compile(
    r"(?:here(?:'s| is| are)|below (?:is|are)|following|this is|i(?:'ve| have) (?:drafted|prepared|created|compiled|"
    r"put "
    r"together|updated|outlined))\s+(?:the |a |an |your |our |my |some )?(?P<what>[^.!?:\n]{4,90}):\s*$",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"^(?:summary|overview|introduction|conclusion|next steps?|key (?:points|takeaways|features|benefits)|notes?|"
    r"important|tips?|example|details?|step \d+|option \d+|phase \d+|day \d+|week \d+|part \d+|why|how|what|remember|"
    r"action items?|considerations?|pros|cons|benefits?|purpose|objective|goal|details?|options?|what i|let'?s|"
    r"your|so|to confirm|core|original|getting started|immediate|specific areas|steps?|quick summary|current|proposed|"
    r"updated version|(?:specific|promising|potential|possible|good|other|(?:\w+ )?more|real) (?:examples?|options?|"
    r"requirements?|areas|questions|ideas|ways|things)|scene|int\.|ext\.)\b[^a-z]{0,3}",
    re.IGNORECASE,
)
_OF_US = re.compile(r"^(?:your|our|my|the|a|an|some|few|several)\s+", re.IGNORECASE)
_NO_NOUN = re.compile(
    r"^(?:of|they|it|there|that|these|those|for|in|on|with|if|to|and|or|but|by)\b|"
    r"\b(?:for|be|been|includes?|including|are|is|was|were|to|of|with|as|by|in|on|that|you|have|has|do|follows?)$",
    re.IGNORECASE,
)
"""Titles that are a fragment of a sentence rather than the name of a thing."""
_STATES = re.compile(
    r"^here\b|^[^(]*(?<!that )(?<!which )\b(?:is|are|was|were|isn't|aren't|doesn't|don't)\b|\busing$", re.IGNORECASE
)
"""Titles that are a statement: the answer explains something and delivers nothing."""
_JOINTS = " ,;:-\u2013\u2014"
_PART = re.compile(
    r"^(?:should|must|is|are|was|were|has|have|been|be)\b|\b(?:to|of|with|for|the|a|an|and|or|if|when)$", re.IGNORECASE
)
"""Points that are a part of a sentence."""
_LABEL = re.compile(
    r"^(?:focus|purpose|goal|method|description|notes?|details?|features?|key features|benefits?|specialization|"
    r"track record|why|how|tips?|example|action|action for you|pros|cons|morning|afternoon|evening|objective|reason|"
    r"ideal for|best for|what|highlights?|considerations?|suggested times?|procedure|booking procedure|difficulty)$",
    re.IGNORECASE,
)
"""Leads that only label a field of a thing."""
_CLAUSE_END = re.compile(
    r"(?<=[\w)\]%\"'])(?:(?<!approx)(?<!e\.g)(?<!i\.e)(?<!\bvs)(?<!\bSt)(?<!\bNo)[.;](?=\s|$)|"
    r",(?=\s)|\s+[\u2013\u2014-]\s|\s\()"
)
_OF_ANY_WORK = frozenset(
    """
    analysis answer approach architecture area benefits breakdown brief changes check checklist clarification
    completeness comparison concept confirmed considerations context core current detailed details documentation
    established example examples explanation features final findings further general guide high-level implementation
    important improvements information insights instructions issue issues key level line list main major needed new next
    note notes observations option options outline overview phase plan points possible potential problem proposal
    proposed quality question questions quick recap recommendation recommendations recommended report request
    requirements research response results review revised root rules section sections short solution solutions specific
    step steps strategy structure suggested suggestions summary table task tasks technical tips update updated version
    """.split()
)
"""Words that occur in titles of all kinds of work."""
MIN_TITLE_WORDS = 2
"""Minimum words of a title besides `_OF_ANY_WORK`."""
_DEPENDS = re.compile(
    r"(?:while|since|if|to|when|as|although|though|once|after|before|because|in addition|given|based on|by|for)\b",
    re.IGNORECASE,
)
"""Openings of a clause that is unclear without the next clause."""
_SECTION = re.compile(r"(?:day|week|phase|option|month|module|chapter) \d", re.IGNORECASE)
_SPECIFIC = re.compile(r"\d|(?<=[a-z,;:&-] )[A-Z][a-z]{2,}|[A-Z]{2,}|\"")
_SPEAKS = re.compile(
    r"\?|\b(?:we|we'll|we're|you|you'll|you're|i|i'll|let's|us|me)\b|\(example|^example", re.IGNORECASE
)
_FIGURE = re.compile(
    r"\b(?:total|sum|budget|deadline|due|price|cost|target|duration|distance|departure|arrival|refund|balance|score)"
    r"\b[^|.;\n]{0,40}\d",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]{1,200})`")
_MARKS = re.compile(
    r"`+|\|+|^\s*#+(?=\s|$)|\s#+\s*$|(?<![\w*/])\*{2,3}(?=[^\s*/])|(?<=[^\s*/])\*{2,3}(?![\w*])|(?<![\w*/.])\*(?=[^\s*./])|"
    r"(?<=[^\s*/])\*(?=[.,;:!?]?(?:\s|$))|(?<=[^\s*/])\*(?![\w*./])|(?<![\w.])_(?=[^\W_])|(?<=[^\W_])_(?![\w.])"
)
"""Markdown marks; stars, hashes and underscores in file names, patterns and numbers do not match."""
_NUMBER = re.compile(r"^\s*(?:\*\*)?(?:option )?(?P<number>\d{1,2})[.):]\s+(?P<text>\S.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:\d{1,2}|[A-Z])[.)]\s+")


@dataclass(frozen=True, slots=True)
class Outline:
    """The short form of a structured answer. points: at most `MAX_POINTS`; more: the number of omitted points."""

    title: str
    points: tuple[str, ...]
    more: int
    figures: tuple[str, ...]

    @property
    def is_specific(self) -> bool:
        """True if the title names a specific thing, and the title or two points contain a name or number."""
        if _STATES.search(self.title) or len(set(content_words(self.title)) - _OF_ANY_WORK) < MIN_TITLE_WORDS:
            return False
        named = sum(_SPECIFIC.search(point) is not None for point in (*self.points, *self.figures))
        return named >= MIN_POINTS or _SPECIFIC.search(self.title) is not None

    def told(self) -> str:
        """Return one line: "Title": point; point; … (2 more)."""
        shown = "; ".join((*self.points, *self.figures))
        rest = f" (and {self.more} more)" if self.more else ""
        return f'"{self.title}"' + (f": {shown}{rest}" if shown else "")


def outline(text: str) -> Outline | None:
    """Return the outline of an answer; None if it has no title or no list of at least two points."""
    lines = [line.rstrip() for line in normalise(text).split("\n")]
    found = _title(lines)
    if found is None:
        return None
    title, begins, level = found
    points, more = _points(lines[begins:], level)
    if len(points) < MIN_POINTS:
        return None
    figures = [short for line in lines if _FIGURE.search(line) and (short := _short(clean(line)))][-2:]
    fresh = tuple(figure for figure in figures if not any(figure in one or one in figure for one in points))
    return Outline(title, tuple(points), more, fresh)


def numbered(text: str, number: int) -> str | None:
    """Return the point with this number in the text's last numbered list, without marks."""
    found = _by_number(text).get(number)
    return None if found is None else point(found)


@lru_cache(maxsize=4)
def _by_number(text: str) -> dict[int, str]:
    """Map each number to its last line; cached, because several sentences of a turn may refer to the same answer."""
    lines = (_NUMBER.match(line) for line in normalise(text).split("\n"))
    return {int(match["number"]): match["text"] for match in lines if match is not None}


def clean(line: str) -> str:
    """Return a line without Markdown marks, list mark and doubled spaces."""
    item = _ITEM.match(line)
    return " ".join(without_marks(item["text"] if item else line).split()).strip(" :-")


def is_item(line: str) -> bool:
    """Return True if a line is an item of a list or a heading."""
    return (_ITEM.match(line) or _HEADING.match(line.rstrip())) is not None


def without_marks(line: str) -> str:
    """Return a line without Markdown marks; inline code stays unchanged."""
    parts = _CODE.split(line)
    return "".join(part if at % 2 else _MARKS.sub("", part) for at, part in enumerate(parts))


def listed(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the introduction of the text's first list, without its colon, and the points of the list."""
    lines = [line for line in normalise(text).split("\n") if line.strip()]
    first = next((at for at, line in enumerate(lines) if _ITEM.match(line) and not _HEADING.match(line)), 0)
    if first == 0 or not lines[first - 1].rstrip().endswith(":"):
        return None
    points: list[str] = []
    for line in lines[first:]:
        if (match := _ITEM.match(line)) is None:
            break
        points.append(point(match["text"]))
    intro = clean(lines[first - 1])
    return (intro, tuple(points[:MAX_POINTS])) if len(points) >= MIN_POINTS else None


def _title(lines: list[str]) -> tuple[str, int, int] | None:
    """Return the title, the index after it, and its level: a heading before the lists, else their introduction."""
    for at, line in enumerate(lines):
        if (heading := _HEADING.match(line)) is not None:
            said = _named(heading["hash"] or heading["bold"])
            if said is not None and not _NUMBERED.match(clean(heading["hash"] or heading["bold"])):
                return said, at + 1, _level(heading)
        elif _ITEM.match(line):
            break
    for at, line in enumerate(lines):
        if (intro := _INTRO.search(without_marks(line))) is not None and (said := _named(intro["what"])) is not None:
            return said, at + 1, 0
    return None


def has_siblings(text: str, title: str) -> bool:
    """Return True if other headings of the same level follow the heading with this title."""
    headings = [match for line in normalise(text).split("\n") if (match := _HEADING.match(line.rstrip())) is not None]
    at = next((n for n, one in enumerate(headings) if _named(one["hash"] or one["bold"]) == title), None)
    if at is None:
        return False
    return any(_level(one) == _level(headings[at]) for one in headings[at + 1 :])


def _named(title: str) -> str | None:
    """Return a heading or an introducing phrase of an answer as the name of the thing that its statements are about;
    None for a question, a sentence with "we", or a generic heading.
    """
    said = _OF_US.sub("", clean(title)).strip(" ,:")
    named = 3 <= len(said) <= MAX_TITLE and " " in said and said[0].isalnum()
    bad = _GENERIC.match(said) or _SPEAKS.search(said) or _NO_NOUN.search(said)
    return said[:1].upper() + said[1:] if named and not bad else None


def _level(heading: re.Match[str]) -> int:
    """Return 1 to 6 for the number of hashes, 7 for a line in bold type."""
    return 7 if heading["bold"] else len(heading[0].lstrip()) - len(heading[0].lstrip().lstrip("#"))


def _points(lines: list[str], level: int) -> tuple[list[str], int]:
    """Return the sections below the title if there are several, else the outer list items; and the number omitted."""
    sections: list[str] = []
    for line in lines:
        heading = _HEADING.match(line)
        if heading is None:
            continue
        if level and _level(heading) < level:
            break
        said = clean(heading["hash"] or heading["bold"])
        if _SECTION.match(said) or not (_GENERIC.match(_OF_US.sub("", said)) or _SPEAKS.search(said)):
            sections.append(said)
    named = _fitting(sections)
    if len(named) < MIN_POINTS or sum(_SPECIFIC.search(one) is not None for one in named) < MIN_POINTS:
        named = []
    elif not only_headings(named):
        return named[:MAX_POINTS], max(0, len(sections) - MAX_POINTS)
    items = [match for line in lines if (match := _ITEM.match(line)) is not None]
    outer = min((len(match["indent"]) for match in items), default=0)
    texts = [match["text"] for match in items if len(match["indent"]) == outer]
    chosen = _fitting(texts)
    if len(chosen) < MIN_POINTS or (named and only_headings(chosen)):
        chosen, texts = named or chosen, sections if named else texts
    return chosen[:MAX_POINTS], max(0, len(texts) - MAX_POINTS)


def _fitting(texts: list[str]) -> list[str]:
    """Return the distinct points of these texts, without points that have no content within the limit.

    If the same opening words occur several times ("Why it works:"), they label a field, and its points are omitted.
    """
    leads = Counter(clean(match["lead"]) for text in texts if (match := _LEAD.match(text)) is not None)
    fields = {lead for lead, times in leads.items() if times > 1}
    points = map(point, texts)
    return list(
        dict.fromkeys(one for one in points if one and one.partition(":")[0] not in fields and not _PART.search(one))
    )


def point(text: str) -> str:
    """Return a point as one clause: its bold opening words and as much of the rest as fits; "" if nothing fits."""
    lead = _LEAD.match(text)
    if lead is None:
        return _short(clean(text))
    head, rest = clean(lead["lead"]), clean(lead["rest"])
    cut = _short(rest, MAX_POINT - len(head) - 2) if rest else ""
    if _LABEL.match(head) and (not cut or _SPECIFIC.search(cut) is None):
        return ""
    return f"{head}: {cut.lstrip(_JOINTS)}" if cut else head


def _short(said: str, limit: int = MAX_POINT) -> str:
    """Return a short text whole, else as many of its first clauses as fit; "" if even the first one is too long."""
    if len(said) <= limit:
        return said.rstrip(". ")
    ends = [match.start() for match in _CLAUSE_END.finditer(said, 0, limit + 2) if match.start() <= limit]
    cut = next((said[:end] for end in reversed(ends) if said.count(" ", 0, end) + 1 >= MIN_WORDS), "")
    if _DEPENDS.match(cut):
        return ""
    balanced = cut.count('"') % 2 == 0 and all(cut.count(a) == cut.count(b) for a, b in ("()", "[]"))
    return cut.rstrip(" ,;:(") if balanced else ""
