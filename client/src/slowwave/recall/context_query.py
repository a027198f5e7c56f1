"""Gather a context: instructions, profile, day summaries, memories, contradictions, events of other sessions.

scopes.sql, search.sql   memories and passages that answer the query, if a query is given
read_context.sql         the rest, in one round trip to the database function slowwave.read_context
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from slowwave.errors import InvalidQuery, shown
from slowwave.identity import check_name
from slowwave.recall.briefing import Context
from slowwave.recall.hits import Hit, hit_of
from slowwave.recall.instructions import instructions_of, profile_of
from slowwave.recall.lines import Contradiction, Day, DayLine, Utterance
from slowwave.recall.masking import mask
from slowwave.recall.query_steps import Query, Row, Steps, statement
from slowwave.recall.questions import QuestionVector
from slowwave.recall.rendering import shorten
from slowwave.recall.scopes import Reader, scope_label
from slowwave.recall.search import check_now, check_question, find_steps, timed_steps
from slowwave.recall.selection import FILLING, distinct

if TYPE_CHECKING:
    from slowwave.recall_requests import ContextRequest

DEFAULT_DAYS = 2
MAX_DAYS = 3660
MEMORIES = 15
PASSAGES = 10
"""Passages in a context without a token budget; each takes up to a hundred tokens."""
RECENT = 15
LINE_CHARACTERS = 1000
# Limits for events that no summary covers yet: a day may have hundreds.
RAW_LINES_PER_DAY = 24
RAW_CHARACTERS = 300

_CONTEXT = statement("read_context")

Labels = Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """A checked request: the session of the prompt (excluded from events elsewhere), a query, days (0 to 3,660), an
    aware now.

    memories, passages: the highest numbers of memories and of passages of events that may answer the query.
    """

    session: str | None
    query: str | None
    days: int
    now: datetime
    memories: int
    passages: int


def check_context_query(request: "ContextRequest") -> ContextQuery:
    """Check a request, and fill in its defaults. Raises `InvalidName` and `InvalidQuery`."""
    days = DEFAULT_DAYS if request.days is None else request.days
    if isinstance(days, bool) or not isinstance(days, int) or not 0 <= days <= MAX_DAYS:
        raise InvalidQuery(f"days must be an integer from 0 to {MAX_DAYS}, got {shown(days)}")
    check_now(request.now)
    if request.session is not None:
        check_name("session", request.session)
    if request.query is not None:
        check_question(request.query, MEMORIES)
    most = (MEMORIES, PASSAGES) if request.max_tokens is None else (FILLING, FILLING)
    return ContextQuery(request.session, request.query, days, request.now or datetime.now(UTC), *most)


def context_query_steps(
    reader: Reader,
    query: ContextQuery,
    found_elsewhere: Sequence[Hit] | None = None,
    vector: QuestionVector | None = None,
) -> Steps[Context]:
    """Read all parts of a context. Its size is bounded, and it has no duplicates.

    found_elsewhere: memories that another backend found for the query; None searches here. vector: the query's
    embedding.
    """
    relevant, passages = list(found_elsewhere or ()), list[Hit]()
    if query.query and found_elsewhere is None:
        relevant, passages = yield from _answers(reader, query, query.query, vector)
    found = yield _context(reader, query, relevant)
    if not found:
        return Context(span=query.days)
    (row,) = found
    labels = {number: scope_label(kind, name) for number, kind, name in row["known_scopes"]}
    weighed = _rows(row["memories"], "valid_from")
    memories = relevant or [hit_of(memory, memory["weight"], labels) for memory in weighed[:MEMORIES]]
    unsummarised = _rows(row["unsummarised"], "happened_at")
    instructions, beyond = instructions_of(row["instructions"] or (), row["person"], labels)
    return Context(
        instructions=instructions,
        instructions_left_out=beyond + row["instructions_beyond"],
        profile=profile_of(row["profile"] or ()),
        days=_days(row["summaries"] or (), unsummarised, labels),
        memories=tuple(memories),
        passages=tuple(passages),
        recent=_recent(weighed, memories, labels),
        conflicts=_contradictions(_rows(row["conflicts"], "valid_from"), labels),
        elsewhere=tuple(_utterance(said, labels, LINE_CHARACTERS) for said in _rows(row["unflushed"], "happened_at")),
        span=query.days,
    )


def _answers(
    reader: Reader, asked: ContextQuery, query: str, vector: QuestionVector | None
) -> Steps[tuple[list[Hit], list[Hit]]]:
    """Find memories that answer the query, and passages of other sessions that repeat no better hit."""
    stats, timing = yield from timed_steps(reader, query, asked.now)
    hits = yield from find_steps(stats, limit=MEMORIES + asked.passages, vector=vector, timing=timing)
    told = distinct(
        hit for hit in hits if hit.kind == "memory" or hit.scope is not None or hit.sources[0][0] != asked.session
    )
    memories, passages = ([hit for hit in told if hit.kind == kind] for kind in ("memory", "event"))
    return memories[: asked.memories], passages[: asked.passages]


def _context(reader: Reader, query: ContextQuery, relevant: Iterable[Hit]) -> Query:
    kinds, names = zip(*reader.scopes, strict=True)
    values = {
        "tenant": reader.tenant,
        "agent": reader.agent,
        "kinds": list(kinds),
        "names": list(names),
        # No session has an empty name, so an empty name excludes none.
        "session": query.session or "",
        "now": query.now,
        "days": query.days,
        "relevant": [hit.id for hit in relevant],
        # Read one character more than is shown, to know whether the text was cut.
        "line_characters": LINE_CHARACTERS + 1,
        "raw_characters": RAW_CHARACTERS + 1,
    }
    return Query(_CONTEXT, values)


def _rows(objects: list[Row] | None, moment: str) -> list[Row]:
    """Parse the time of each row of a JSON list."""
    return [row | {moment: datetime.fromisoformat(row[moment])} for row in objects or ()]


def _recent(weighed: Sequence[Row], shown: Sequence[Hit], labels: Labels) -> tuple[Hit, ...]:
    known = {hit.id for hit in shown}
    fresh = [row for row in weighed if row["recent"] and row["id"] not in known]
    fresh.sort(key=lambda row: row["valid_from"], reverse=True)
    return tuple(hit_of(row, row["weight"], labels) for row in fresh[:RECENT])


def _contradictions(rows: Sequence[Row], labels: Labels) -> tuple[Contradiction, ...]:
    """Make a contradiction of every two consecutive rows."""
    return tuple(
        Contradiction(
            row["conflict"], row["reason"], (hit_of(row, row["weight"], labels), hit_of(other, other["weight"], labels))
        )
        for row, other in zip(rows[::2], rows[1::2], strict=True)
    )


def _days(summaries: Iterable[Row], unsummarised: Iterable[Row], labels: Labels) -> tuple[Day, ...]:
    days: dict[tuple[date, str, str], Day] = {}
    for row in summaries:
        day, agent, scope = date.fromisoformat(row["day"]), row["agent"], labels[row["scope_id"]]
        days[day, scope or "", agent] = Day(day, agent, scope, row["version"], row["final"], _lines(row))
    raw: dict[date, list[tuple[tuple[date, str, str], Utterance]]] = {}
    for row in unsummarised:
        key = (date.fromisoformat(row["day"]), labels[row["scope_id"]] or "", row["agent"])
        raw.setdefault(key[0], []).append((key, _utterance(row, labels, RAW_CHARACTERS)))
    last: dict[tuple[date, str, str], list[Utterance]] = {}
    for said in raw.values():
        for key, line in said[-RAW_LINES_PER_DAY:]:
            last.setdefault(key, []).append(line)
    for key, lines in last.items():
        known = days.get(key) or Day(key[0], key[2], lines[0].scope, 0, final=False)
        days[key] = replace(known, unsummarised=tuple(lines))
    # Newest first; on the same date the agent's own day comes before those of rooms and teams.
    return tuple(day for _, day in sorted(days.items(), key=lambda item: (-item[0][0].toordinal(), *item[0][1:])))


def _lines(row: Row) -> tuple[DayLine, ...]:
    """Return the lines of a summary; the text of a summary from a file is split into lines."""
    if row["lines"]:
        return tuple([_line(line.get, line.get("at")) for line in row["lines"]])
    bare = (line.strip().removeprefix("- ") for line in row["text"].splitlines())
    return tuple(DayLine("said", mask(line)) for line in bare if line and not line.startswith("#"))


def _line(get: Callable[[str], Any], at: str | None) -> DayLine:
    moment = datetime.fromisoformat(at) if at else None
    origin = (get("speaker"), get("session"), get("seq"))
    return DayLine(get("facet"), get("text"), *origin, moment, get("weight") or 0.0)


def _utterance(row: Row, labels: Labels, characters: int) -> Utterance:
    return Utterance(
        row["session"],
        row["seq"],
        row["agent"],
        row["speaker"],
        shorten(mask(row["content"]), characters),
        row["happened_at"],
        labels[row["scope_id"]],
    )
