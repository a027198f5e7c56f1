"""Gather a context: days and their summaries, what none covers, memories, contradictions, what is being said elsewhere.

    scopes.sql, find.sql                                               what the query finds
    briefing.sql, unflushed.sql, summaries.sql, unsummarised.sql       the rest, in one round trip
    conflicts.sql                                                      what contradicts something of that

Must not know: who asks, which prompt it goes into, how much of it that has room for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from slowwave.errors import InvalidQuery
from slowwave.identity import check_name
from slowwave.recall.briefing import Context
from slowwave.recall.finding import check_question, find_steps, library_steps
from slowwave.recall.hits import Hit, hit_of
from slowwave.recall.lines import Contradiction, Day, DayLine, Utterance
from slowwave.recall.masking import mask
from slowwave.recall.once import said_once
from slowwave.recall.rendering import shorten
from slowwave.recall.scopes import Reader
from slowwave.recall.steps import Query, Row, Steps, statement

DEFAULT_DAYS = 2
MAX_DAYS = 3660
MEMORIES = 15
RECENT = 15
OTHER_SESSIONS = 6
LINES_PER_SESSION = 10
LINE_CHARACTERS = 1000
SUMMARIES = 60
SUMMARY_CHARACTERS = 8000
# Of a day without a summary, and of what came after one: trimmed, since there may be thousands of lines.
RAW_SESSIONS_PER_DAY = 6
RAW_SESSIONS = 40
RAW_LINES_PER_SESSION = 8
RAW_LINES_PER_DAY = 24
RAW_CHARACTERS = 300
RAW_REACH = 1000  # events of a session that are looked through for those of a day
CONFLICTS = 8
IMPORTANT = 0.7
CONFLICT_REACH = 100  # open ones of which the important are looked for

_BRIEFING = statement("briefing")
# Of an array that it doesn't know Postgres expects ten scopes, and then plans at each call, which takes as long as the
# reading. Nearly all readers have one.
_BRIEFING_OF_ONE = _BRIEFING.replace(
    "unnest(%(scopes)s::bigint[]) AS k (id)", "(SELECT (%(scopes)s::bigint[])[1]) AS k (id)"
)
_UNFLUSHED = statement("unflushed")
_SUMMARIES = statement("summaries")
_UNSUMMARISED = statement("unsummarised")
_CONFLICTS = statement("conflicts")

Labels = Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: `session` (left out of what is said elsewhere), a query, days (0 to 3,660), an aware now."""

    session: str | None
    query: str | None
    days: int
    now: datetime


def wanted_of(session: str | None, query: str | None, days: int | None, now: datetime) -> Wanted:
    """Check what is asked for. Raises `InvalidName` and `InvalidQuery`."""
    days = DEFAULT_DAYS if days is None else days
    if isinstance(days, bool) or not isinstance(days, int) or not 0 <= days <= MAX_DAYS:
        raise InvalidQuery(f"days: a number from 0 to {MAX_DAYS} is meant, not {days!r:.40}")
    if now.tzinfo is None:
        raise InvalidQuery("now: a time with its zone is meant")
    if session is not None:
        check_name("session", session)
    if query is not None:
        check_question(query, MEMORIES)
    return Wanted(session, query, days, now)


def context_steps(reader: Reader, wanted: Wanted) -> Steps[Context]:
    """Read all parts. Bounded whatever the scopes hold; nothing stands in it twice."""
    library = yield from library_steps(reader, wanted.query or "")
    labels = library.labels
    if not labels:
        return Context(span=wanted.days)
    relevant = yield from find_steps(library, limit=MEMORIES, events=False)
    weighed, unflushed, summaries, unsummarised = yield _queries(reader, wanted, sorted(labels), weigh=not relevant)
    memories = relevant or [hit_of(row, row["weight"], labels) for row in weighed[:MEMORIES]]
    recent = _recent(weighed, memories, labels)
    disputed = yield _conflicts([*memories, *recent], sorted(labels))
    return said_once(
        Context(
            days=_days(summaries, unsummarised, labels),
            memories=tuple(memories),
            recent=recent,
            conflicts=_contradictions(disputed, labels),
            elsewhere=tuple(_utterance(row, labels, LINE_CHARACTERS) for row in unflushed),
            span=wanted.days,
        )
    )


def _queries(reader: Reader, wanted: Wanted, scope_ids: Sequence[int], *, weigh: bool) -> tuple[Query, ...]:
    who = {
        "tenant": reader.tenant,
        "agent": reader.agent,
        # No session has an empty name: where none is given, none is left out.
        "session": wanted.session or "",
        "scopes": scope_ids,
        "now": wanted.now,
        "days": wanted.days,
    }
    since = wanted.now - timedelta(days=wanted.days)
    # As many more new ones as may stand among the weighty already.
    ends = {"since": since, "weighty": MEMORIES if weigh else 0, "newest": MEMORIES + RECENT}
    tails = {"sessions": OTHER_SESSIONS, "lines": LINES_PER_SESSION, "characters": LINE_CHARACTERS + 1}
    raw = {
        "sessions": RAW_SESSIONS_PER_DAY,
        "most": RAW_SESSIONS,
        "lines": RAW_LINES_PER_SESSION,
        "reach": RAW_REACH,
        "characters": RAW_CHARACTERS + 1,
    }
    return (
        Query(_BRIEFING_OF_ONE if len(scope_ids) == 1 else _BRIEFING, who | ends),
        Query(_UNFLUSHED, who | tails),
        Query(_SUMMARIES, who | {"most": SUMMARIES, "characters": SUMMARY_CHARACTERS}),
        Query(_UNSUMMARISED, who | raw),
    )


def _conflicts(shown: Iterable[Hit], scope_ids: Sequence[int]) -> Query:
    bounds = {"reach": CONFLICT_REACH, "important": IMPORTANT, "most": CONFLICTS}
    return Query(_CONFLICTS, {"shown": [hit.id for hit in shown], "scopes": scope_ids} | bounds)


def _recent(weighed: Sequence[Row], shown: Sequence[Hit], labels: Labels) -> tuple[Hit, ...]:
    known = {hit.id for hit in shown}
    fresh = [row for row in weighed if row["recent"] and row["id"] not in known]
    fresh.sort(key=lambda row: row["valid_from"], reverse=True)
    return tuple(hit_of(row, row["weight"], labels) for row in fresh[:RECENT])


def _contradictions(rows: Sequence[Row], labels: Labels) -> tuple[Contradiction, ...]:
    """Two rows each, one behind the other."""
    return tuple(
        Contradiction(
            row["conflict"], row["reason"], (hit_of(row, row["weight"], labels), hit_of(other, other["weight"], labels))
        )
        for row, other in zip(rows[::2], rows[1::2], strict=True)
    )


def _days(summaries: Iterable[Row], unsummarised: Iterable[Row], labels: Labels) -> tuple[Day, ...]:
    days: dict[tuple[date, str, str], Day] = {}
    for row in summaries:
        day = Day(row["day"], row["agent"], labels[row["scope_id"]], row["version"], row["final"], _lines(row))
        days[day.day, day.scope or "", day.agent] = day
    raw: dict[date, list[tuple[tuple[date, str, str], Utterance]]] = {}
    for row in unsummarised:
        key = (row["day"], labels[row["scope_id"]] or "", row["agent"])
        raw.setdefault(row["day"], []).append((key, _utterance(row, labels, RAW_CHARACTERS)))
    for said in raw.values():
        for key, line in said[-RAW_LINES_PER_DAY:]:
            day = days.get(key) or Day(key[0], key[2], line.scope, 0, final=False)
            days[key] = replace(day, unsummarised=(*day.unsummarised, line))
    # The newest first; of one date the reader's own before those of rooms and teams.
    return tuple(day for _, day in sorted(days.items(), key=lambda item: (-item[0][0].toordinal(), *item[0][1:])))


def _lines(row: Row) -> tuple[DayLine, ...]:
    """The lines of a summary; of one that came as text alone (out of a file), the lines of that."""
    if row["lines"]:
        return tuple(
            DayLine(
                line["facet"],
                line["text"],
                line.get("speaker"),
                line.get("session"),
                line.get("seq"),
                datetime.fromisoformat(line["at"]) if line.get("at") else None,
                line.get("weight") or 0.0,
            )
            for line in row["lines"]
        )
    bare = (line.strip().removeprefix("- ") for line in row["text"].splitlines())
    return tuple(DayLine("said", mask(line)) for line in bare if line and not line.startswith("#"))


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
