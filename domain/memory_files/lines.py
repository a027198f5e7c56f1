"""One memory as one line: a bullet for people, followed by a comment with the memory's metadata.

    - Maya prefers tea. <!-- slowwave 0199… fact active confidence=0.85 importance=0.6 from=2026-03-01T09:00:00Z -->

Default values are omitted: trust=user, reaffirmed= equal to from=, no to=, no by= (superseded by), no contradicts= (ids
of the memories with which it has an open contradiction), no entities, no sources. Numbers round-trip exactly.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from slowwave.memory_types import MEMORY_TYPES
from slowwave.messages import YEARS
from slowwave_server.domain.memory_files.escapes import comment_json, escape, unescape

TYPES = MEMORY_TYPES
STATUSES = ("inbox", "episode", "active", "archived", "review")
TRUSTS = ("hand", "user", "assistant", "task", "import")

_BEGIN = "<!-- slowwave "
_MARK = re.compile(r"<!-- slowwave (?!file |summary |lines\b|end\b)(.*?) ?-->[ \t]*$")
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"\S+")
_KEY = re.compile(r"([a-z]+)=")
_KNOWN = frozenset(
    ("confidence", "importance", "trust", "from", "reaffirmed", "to", "by", "contradicts", "entities", "sources")
)
_JSON = json.JSONDecoder()
_USUAL_TRUST = "user"


class BadMark(ValueError):
    """The comment at the end of a line is invalid; the message describes the error, without the line's text."""


@dataclass(frozen=True, slots=True)
class FileMemory:
    """A memory as written in a line. Times are aware; confidence and importance are numbers from 0 to 1.

    Attributes:
        id: the memory's id, or None if the mark has no id.
        valid_to: the time at which the memory ended; None while it is valid.
        sources: (session, seq) of its events, without duplicates, in order.
        contradicts: the other sides of its open contradictions, in order.
    """

    id: UUID | None
    type: str
    content: str
    status: str
    confidence: float
    importance: float
    trust: str
    entities: tuple[str, ...]
    valid_from: datetime
    reaffirmed_at: datetime
    valid_to: datetime | None = None
    superseded_by: UUID | None = None
    contradicts: tuple[UUID, ...] = ()
    sources: tuple[tuple[str, int], ...] = ()


def render_line(m: FileMemory) -> str:
    """Return the line of a memory, without its line end."""
    facts = [f"confidence={m.confidence!r}", f"importance={m.importance!r}"]
    if m.trust != _USUAL_TRUST:
        facts.append(f"trust={m.trust}")
    facts.append(f"from={render_time(m.valid_from)}")
    if m.reaffirmed_at != m.valid_from:
        facts.append(f"reaffirmed={render_time(m.reaffirmed_at)}")
    if m.valid_to is not None:
        facts.append(f"to={render_time(m.valid_to)}")
    if m.superseded_by is not None:
        facts.append(f"by={m.superseded_by}")
    if m.contradicts:
        facts.append(f"contradicts={','.join(str(other) for other in m.contradicts)}")
    if m.entities:
        facts.append(f"entities={comment_json(list(m.entities))}")
    if m.sources:
        facts.append(f"sources={comment_json(_by_session(m.sources))}")
    return f"- {escape(m.content)} <!-- slowwave {m.id or 'new'} {m.type} {m.status} {' '.join(facts)} -->"


def parse_line(line: str) -> FileMemory | None:
    """Parse the memory of a line with a mark; None if the line has no mark. Raises BadMark."""
    found = _find_mark(line)
    if found is None:
        return None
    written = line[: found.start()]
    bullet = _BULLET.match(written)
    content = unescape(written[bullet.end() if bullet else 0 :].strip())
    words, facts = _split(found[1])
    if len(words) != 3:  # noqa: PLR2004 - id, type, status
        raise BadMark("the mark must begin with an id, a type and a status")
    if not content.strip():
        raise BadMark("there is a mark and no text before it")
    if not storable(content):
        raise BadMark("the text holds NUL or bytes that are no UTF-8")
    first = _moment(facts, "from")
    if first is None:
        raise BadMark("the mark has no from=")
    return FileMemory(
        id=None if words[0] == "new" else _uuid(words[0]),
        type=_one_of(words[1], "type", TYPES),
        content=content,
        status=_one_of(words[2], "status", STATUSES),
        confidence=_share(facts, "confidence"),
        importance=_share(facts, "importance"),
        trust=_one_of(facts.get("trust", _USUAL_TRUST), "trust", TRUSTS),
        entities=_names(facts.get("entities", [])),
        valid_from=first,
        reaffirmed_at=_moment(facts, "reaffirmed") or first,
        valid_to=_moment(facts, "to"),
        superseded_by=_uuid(facts["by"]) if "by" in facts else None,
        contradicts=tuple(_uuid(one) for one in str(facts["contradicts"]).split(",")) if "contradicts" in facts else (),
        sources=_sources(facts.get("sources", {})),
    )


def without_mark(line: str) -> str:
    """Return the unescaped text of a bullet, with or without a mark."""
    found = _find_mark(line)
    written = line[: found.start()] if found else line
    bullet = _BULLET.match(written)
    return unescape(written[bullet.end() if bullet else 0 :].strip())


def storable(text: str) -> bool:
    """Return True if a text can be stored: it has neither NUL nor bytes that were not UTF-8."""
    return "\x00" not in text and not _SURROGATE.search(text)


def has_mark(line: str) -> bool:
    """Return True if a line ends in a memory's mark, valid or not."""
    return _find_mark(line) is not None


def _find_mark(line: str) -> re.Match[str] | None:
    # The last match: a mark never contains "<", and the text before it may contain anything but an open comment.
    at = line.rfind(_BEGIN)
    slashes = at - len(line[:at].rstrip("\\")) if at > 0 else 0
    return None if at < 0 or slashes % 2 else _MARK.match(line, at)


def render_time(moment: datetime) -> str:
    """Format a time as `2026-03-01T09:00:00Z`, with microseconds if there are any."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def parse_time(written: object) -> datetime:
    """Parse the result of `render_time`. Raises BadMark, also for a time without an offset."""
    try:
        moment = datetime.fromisoformat(str(written))
        if moment.tzinfo is None:
            raise BadMark(f"{written!r:.40} has no time zone")
        if not YEARS[0] <= moment.year <= YEARS[1]:
            raise BadMark(f"{written!r:.40} lies outside the years {YEARS[0]} to {YEARS[1]}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise error if isinstance(error, BadMark) else BadMark(f"{written!r:.40} is not a time") from None


def _by_session(sources: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    sessions: dict[str, list[int]] = {}
    for session, seq in sorted(set(sources)):
        sessions.setdefault(session, []).append(seq)
    return sessions


def _split(mark: str) -> tuple[list[str], dict[str, Any]]:
    words: list[str] = []
    facts: dict[str, Any] = {}
    at = 0
    while found := _WORD.search(mark, at):
        key = _KEY.match(mark, found.start())
        if key is None:
            words.append(found[0])
            at = found.end()
            continue
        name = key[1]
        if name not in _KNOWN or name in facts:
            raise BadMark(f"the mark says {name}= {'twice' if name in facts else 'and nobody knows what that is'}")
        facts[name], at = _value(mark, key.end())
    return words, facts


def _value(mark: str, at: int) -> tuple[Any, int]:
    if mark[at : at + 1] in {"[", "{"}:
        try:
            return _JSON.raw_decode(mark, at)
        except (ValueError, RecursionError):
            raise BadMark("a list in the mark is not JSON") from None
    found = _WORD.match(mark, at)
    return (found[0], found.end()) if found else ("", at)


def _one_of(value: Any, what: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise BadMark(f"{what} {value!r:.40} is not one of {', '.join(known)}")
    return str(value)


def _share(facts: Mapping[str, Any], name: str) -> float:
    try:
        share = float(facts.get(name, ""))
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        raise BadMark(f"{name} must be a number from 0 to 1")
    return share


def _moment(facts: Mapping[str, Any], name: str) -> datetime | None:
    return parse_time(facts[name]) if name in facts else None


def _uuid(value: Any) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise BadMark(f"{value!r:.60} is not the id of a memory") from None


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) and storable(name) for name in value):
        raise BadMark("entities must be a list of names")
    return tuple(value)


def _sources(value: Any) -> tuple[tuple[str, int], ...]:
    if not isinstance(value, dict) or not all(
        storable(session)
        and isinstance(seqs, list)
        and all(isinstance(seq, int) and not isinstance(seq, bool) for seq in seqs)
        for session, seqs in value.items()
    ):
        raise BadMark("sources must name sessions, each with the numbers of its events")
    return tuple(sorted({(session, seq) for session, seqs in value.items() for seq in seqs}))
