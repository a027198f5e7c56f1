"""What an agent hands over, in short: the title of a structured answer, its points and its final figures.

An outline is extractive: every word of it stands in the answer.

Must not know: whether anybody accepted the answer.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from slowwave_server.domain.extraction.sentences import normalise

MIN_POINTS = 2
MAX_POINTS = 6
MAX_POINT = 80
"""Characters of one point."""
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
    r"updated version)\b[^a-z]{0,3}",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"\d|(?<=[a-z,;:&-] )[A-Z][a-z]{2,}|[A-Z]{2,}|\"")
_LEAD_IN = re.compile(
    r"^(?:(?:so|now|okay|ok|well|then|great|perfect|alright|sure),? )?(?:here(?:'s| is| are)|these are|this is|"
    r"below (?:is|are)|"
    r"consider|let's (?:look at|start with)|how about|i(?:'ve| have) (?:\w+ ){0,2}(?:drafted|prepared|created|"
    r"updated))? ?"
    r"(?:the|a|an|your|our|my|some|these|this)? ",
    re.IGNORECASE,
)
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
    r"(?<=[^\s*/])\*(?![\w*./])|(?<![\w.])_(?=[^\W_])|(?<=[^\W_])_(?![\w.])"
)
"""Markdown's marks, and not the stars, hashes and underscores of file names, patterns and numbers."""
_NUMBER = re.compile(r"^\s*(?:\*\*)?(?:option )?(?P<number>\d{1,2})[.):]\s+(?P<text>\S.*)$", re.IGNORECASE)
_NUMBERED = re.compile(r"^(?:\d{1,2}|[A-Z])[.)]\s+")


@dataclass(frozen=True, slots=True)
class Outline:
    """The short form of a structured answer. points: in their order, at most `MAX_POINTS`; more: how many follow."""

    title: str
    points: tuple[str, ...]
    more: int
    figures: tuple[str, ...]

    @property
    def is_specific(self) -> bool:
        """Whether two points name something or hold a number, or the title does."""
        named = sum(_SPECIFIC.search(point) is not None for point in (*self.points, *self.figures))
        return named >= MIN_POINTS or _SPECIFIC.search(self.title) is not None

    def told(self) -> str:
        """One line: "Title": point; point; … (2 more)."""
        shown = "; ".join((*self.points, *self.figures))
        rest = f" (and {self.more} more)" if self.more else ""
        return f'"{self.title}"' + (f": {shown}{rest}" if shown else "")


def outline(text: str) -> Outline | None:
    """The outline of an answer, or None if it has no title and no list of at least two points."""
    lines = [line.rstrip() for line in normalise(text).split("\n")]
    title = _title(lines)
    points = _points(lines, title)
    if title is None or len(points) < MIN_POINTS:
        return None
    figures = [clean(line)[:MAX_POINT] for line in lines if _FIGURE.search(line)][-2:]
    fresh = tuple(figure for figure in figures if not any(figure in point or point in figure for point in points))
    return Outline(title, tuple(points[:MAX_POINTS]), max(0, len(points) - MAX_POINTS), fresh)


def numbered(text: str, number: int) -> str | None:
    """The point with this number in the last numbered list of a text, without marks."""
    found = _by_number(text).get(number)
    return None if found is None else _point(found)


@lru_cache(maxsize=4)
def _by_number(text: str) -> dict[int, str]:
    """The last line of each number. Each sentence of a turn may name a number of the same answer: it is read once."""
    lines = (_NUMBER.match(line) for line in normalise(text).split("\n"))
    return {int(match["number"]): match["text"] for match in lines if match is not None}


def clean(line: str) -> str:
    """A line without Markdown's marks, its list mark and doubled spaces."""
    item = _ITEM.match(line)
    return " ".join(without_marks(item["text"] if item else line).split()).strip(" :-")


def without_marks(line: str) -> str:
    """A line without Markdown's marks; what is set as code stays as it is."""
    parts = _CODE.split(line)
    return "".join(part if at % 2 else _MARKS.sub("", part) for at, part in enumerate(parts))


def listed(text: str) -> tuple[str, tuple[str, ...]] | None:
    """The line that introduces the first list of a text, without its colon, and the points of that list."""
    lines = [line for line in normalise(text).split("\n") if line.strip()]
    first = next((at for at, line in enumerate(lines) if _ITEM.match(line) and not _HEADING.match(line)), 0)
    if first == 0 or not lines[first - 1].rstrip().endswith(":"):
        return None
    points: list[str] = []
    for line in lines[first:]:
        if (match := _ITEM.match(line)) is None:
            break
        points.append(_point(match["text"]))
    intro = clean(lines[first - 1])
    return (intro, tuple(points[:MAX_POINTS])) if len(points) >= MIN_POINTS else None


def _title(lines: list[str]) -> str | None:
    """The first heading that names something, else what introduces the list."""
    for line in lines:
        if (heading := _HEADING.match(line)) is not None:
            said = _NUMBERED.sub("", clean(heading["hash"] or heading["bold"]))
            if _names_something(said):
                return said
    for line in lines:
        if (intro := _INTRO.search(without_marks(line))) is not None and _names_something(intro["what"].strip()):
            return intro["what"].strip()
    found = listed("\n".join(lines))
    if found is None:
        return None
    said = _LEAD_IN.sub("", found[0].split(". ")[-1]).strip(" ,:")
    return said if _names_something(said) else None


def _names_something(title: str) -> bool:
    """Whether a title names a thing: no question, no sentence about us, no generic heading."""
    return 3 <= len(title) <= MAX_TITLE and " " in title and not _GENERIC.match(title) and not _SPEAKS.search(title)


def _points(lines: list[str], title: str | None) -> list[str]:
    """List items of the outer level; headings stand for items if there are no lists."""
    items = [match for line in lines if (match := _ITEM.match(line)) is not None]
    if items:
        outer = min(len(match["indent"]) for match in items)
        return [_point(match["text"]) for match in items if len(match["indent"]) == outer]
    heads = [clean(match["hash"] or match["bold"]) for line in lines if (match := _HEADING.match(line)) is not None]
    return [head[:MAX_POINT] for head in heads if head != title]


def _point(text: str) -> str:
    lead = _LEAD.match(text)
    said = clean(text)
    if lead is not None:
        head, rest = clean(lead["lead"]), clean(lead["rest"])
        said = head if not rest or len(head) > MAX_POINT - 20 else f"{head}: {rest}"
    if len(said) <= MAX_POINT:
        return said.rstrip(".")
    return said[:MAX_POINT].rsplit(" ", 1)[0].rstrip(" ,;:(") + " …"
