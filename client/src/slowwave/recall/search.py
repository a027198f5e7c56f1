"""Search: memories and raw events of the reader's scopes in one ranked list.

scopes.sql      names → existing scopes, stems of the query, the common ones among the stems
aliases.py      other names for the words of the query, for each scope
query_plan.py   the stems that select candidates
search.sql      candidates with text and origin, ranked by the database function slowwave.search
ranking.py      the parameters of the ranking
times/          the times in the query
timing.py       their effect on the ranking
continuing.py   whether the query continues a conversation, whose last topics then rank higher
hits.py         the hits without repetitions
pairing.py      replaced and contradicting memories beside their counterparts
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, get_args

from slowwave.errors import InvalidQuery, shown
from slowwave.recall.aliases import with_aliases
from slowwave.recall.continuing import continues_talk
from slowwave.recall.hits import Hit, choose, evidence_of, hit_of
from slowwave.recall.lines import wording
from slowwave.recall.names import name_of, names_in
from slowwave.recall.pairing import pairing_steps
from slowwave.recall.query_plan import Plan, Term, any_of, clean_question, number_forms, plan
from slowwave.recall.query_steps import Query, Row, Steps, statement
from slowwave.recall.questions import QuestionVector
from slowwave.recall.ranking import RANKING, STEADY, QueryFacts, relevance
from slowwave.recall.scopes import Reader, scope_label
from slowwave.recall.selection import check_selection, depth, relevant, selected
from slowwave.recall.times import Anchor, Interval, asks_order, read_times
from slowwave.recall.timing import Timing, around, in_order_of_time, reordered, timing_of
from slowwave.recall.widening import check_around, widening_steps

if TYPE_CHECKING:
    from slowwave.recall_requests import SearchRequest

MAX_LIMIT = 100
Order = Literal["relevance", "time", "auto"]
ORDERS: tuple[Order, ...] = get_args(Order)

_SCOPES = statement("scopes")
_FIND = statement("search")
_RANKINGS = {True: RANKING.to_json(), False: STEADY.to_json()}
"""The parameters for a query that continues a conversation, and for any other."""
_SIGN = re.compile(r"[^\w\s,;'\u2019\"-]")
UNTIMED = Timing()
NAME_BITS = 31
"""Names that one integer of Postgres tells apart; a query has at most twenty words."""
ANCHOR_HITS = 3
ANCHOR_SHARE = 0.6
"""A hit that holds so many of the words of an event tells of it."""


@dataclass(frozen=True, slots=True)
class ScopeStats:
    """A reader's existing scopes by id with their labels, and the stems of its query.

    documents: the number of documents in the scopes; mean_length: their mean length in lexemes, None if not counted
    yet.
    """

    labels: dict[int, str | None]
    documents: int
    mean_length: float | None
    terms: tuple[Term, ...]


def scope_stats_steps(reader: Reader, question: str) -> Steps[ScopeStats]:
    """Look up the reader's scopes and the stems of a question. Unknown scopes are left out."""
    kinds, names = zip(*reader.scopes, strict=True)
    (row,) = yield Query(
        _SCOPES,
        {"tenant": reader.tenant, "kinds": list(kinds), "names": list(names), "question": clean_question(question)},
    )
    scopes: list[Row] = row["scopes"] or []
    counted = [scope for scope in scopes if scope["mean_length"]]
    documents = sum(scope["documents"] for scope in counted)
    variants: dict[str, list[str]] = row["variants"] or {}
    named = names_in(clean_question(question))
    return ScopeStats(
        labels={scope["id"]: scope_label(scope["kind"], scope["name"]) for scope in scopes},
        documents=sum(scope["documents"] for scope in scopes),
        mean_length=sum(s["mean_length"] * s["documents"] for s in counted) / documents if documents else None,
        terms=with_aliases(
            (
                Term(lexeme, held, (*variants.get(lexeme, ()), *number_forms(lexeme)), name=name_of(lexeme, named))
                for lexeme, held in row["terms"] or ()
            ),
            row["aliases"] or (),
        ),
    )


def check_question(question: str, limit: int) -> None:
    """Raise `InvalidQuery` for an invalid query or limit."""
    if not isinstance(question, str):
        raise InvalidQuery(f"query must be text, got {shown(question)}")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
        raise InvalidQuery(f"limit must be an integer from 1 to {MAX_LIMIT}, got {shown(limit)}")


def search_steps(reader: Reader, request: "SearchRequest", vector: QuestionVector | None) -> Steps[list[Hit]]:
    """Search for the query; see `slowwave.recall.search`."""
    stats, timing = yield from timed_steps(reader, request.query, request.now)
    hits = yield from find_steps(
        stats, limit=depth(request), review=request.include_review, vector=vector, timing=timing
    )
    hits = relevant(verbatim_first(hits, request.query), request.min_relevance, request.min_share)
    # A budget counts only shown hits.
    hits = yield from widening_steps(hits, stats.labels, request.around)
    return ordered(selected(hits, request), request.order, request.query)


def check_search(request: "SearchRequest") -> None:
    """Raise `InvalidQuery` for an invalid argument of a search."""
    check_question(request.query, request.limit)
    check_around(request.around)
    check_selection(request)
    if not isinstance(request.include_review, bool):
        raise InvalidQuery(f"include_review must be true or false, got {shown(request.include_review)}")
    if request.order not in ORDERS:
        raise InvalidQuery(f"order must be one of {', '.join(ORDERS)}, got {shown(request.order)}")
    check_now(request.now)


def verbatim_first(hits: list[Hit], question: str) -> list[Hit]:
    """Return the hits; if the query has signs ("a ?? b"), which no index contains, those with its exact text first."""
    sought = wording(question).lstrip("?!. ")
    if not _SIGN.search(sought):
        return hits
    return sorted(hits, key=lambda hit: sought not in wording(hit.content))


def ordered(hits: list[Hit], order: Order, question: str) -> list[Hit]:
    """Return the hits in the requested order; "auto": oldest first if the query asks for an order, else best first."""
    return in_order_of_time(hits) if order == "time" or (order == "auto" and asks_order(question)) else hits


def check_now(now: datetime | None) -> None:
    """Raise `InvalidQuery` for a time without a time zone."""
    if now is not None and (not isinstance(now, datetime) or now.tzinfo is None):
        raise InvalidQuery(f"now must be a datetime with a time zone, got {shown(now)}")


def timed_steps(reader: Reader, question: str, now: datetime | None) -> Steps[tuple[ScopeStats, Timing]]:
    """Look up the scopes, the stems of a query without its relative times, and what its times do to the ranking."""
    if now is None:
        return (yield from scope_stats_steps(reader, question)), Timing()
    question = clean_question(question)
    times = read_times(question, now)
    stats = yield from scope_stats_steps(reader, times.rest)
    interval = times.interval
    if times.anchor is not None:
        interval = yield from anchor_steps(reader, times.anchor, now.tzinfo)
    return stats, timing_of(times, interval, now, continues=continues_talk(question))


def anchor_steps(reader: Reader, anchor: Anchor, zone: tzinfo | None) -> Steps[Interval | None]:
    """Look up the event that limits the time of a query ("before I moved"); None if no document describes it."""
    stats = yield from scope_stats_steps(reader, anchor.text)
    for hit in (yield from find_steps(stats, limit=ANCHOR_HITS)):
        told = f"{hit.speaker or ''} {hit.content}".lower()
        held = sum(any(beginning in told for beginning in term.beginnings) for term in stats.terms)
        if held >= ANCHOR_SHARE * len(stats.terms):
            return around(anchor, hit.valid_from.astimezone(zone))
    return None


def find_steps(
    stats: ScopeStats,
    *,
    limit: int,
    events: bool = True,
    review: bool = False,
    vector: QuestionVector | None = None,
    timing: Timing = UNTIMED,
) -> Steps[list[Hit]]:
    """Rank the documents of the scopes by the query.

    events: False to rank memories only; review: True to include memories in review. vector: the query's embedding, to
    rank by words and vectors together; timing: the effect of the query's times. Nothing is sent without scopes, or if
    the query has neither a vector nor a meaningful word.
    """
    if not stats.labels or not (stats.terms or vector):
        return []
    chosen = plan(stats.terms, stats.documents)
    asked = {"events": events, "review": review, "ranking": _RANKINGS[timing.continues], **_interval(timing)}
    ranked = timing.depth(limit)
    rows = yield _find(stats, chosen, asked | _vector(vector), ranked)
    if not rows and chosen.fallback:
        # No document contains a rare word or two common ones: search for documents with one common word.
        rows = yield _find(stats, chosen.fallback, asked | _vector(None), ranked)
    best = max(map(evidence_of, rows), default=0.0)
    asked_of = QueryFacts(len(chosen.terms), stats.documents, rows[0]["named"] or 0.0 if rows else 0.0)
    hits = [
        hit_of(row, row["score"], stats.labels, relevance(evidence_of(row), best, asked_of), best)
        for row in choose(reordered(rows, timing), limit)
    ]
    return (yield from pairing_steps(hits, stats.labels, limit))


def _interval(timing: Timing) -> dict[str, Any]:
    interval = timing.interval
    return {"from": interval and interval.begin, "to": interval and interval.end}


def _vector(vector: QuestionVector | None) -> dict[str, Any]:
    if vector is None:
        return {"model": None, "question": None}
    # As text, because psycopg takes two milliseconds for a list. Postgres refuses values that are too small for a real.
    return {"model": vector.model, "question": f"{{{','.join(str(round(x, 7)) for x in vector.vector)}}}"}


def _find(stats: ScopeStats, chosen: Plan, asked: Mapping[str, Any], limit: int) -> Query:
    scope_ids = sorted(stats.labels)
    values: dict[str, Any] = {
        "scopes": scope_ids,
        "any": any_of(chosen.candidates, scope_ids),
        "late": any_of(chosen.late, scope_ids) or None,
        "terms": [any_of([(term,)], scope_ids) for term in chosen.terms],
        "held": [term.documents for term in chosen.terms],
        "names": [0 if term.name is None else 1 << term.name % NAME_BITS for term in chosen.terms],
        "beginnings": [beginning for term in chosen.terms for beginning in term.beginnings],
        "documents": stats.documents,
        "mean_length": stats.mean_length,
        **asked,
        # Request more rows than the limit if events and memories may repeat each other.
        "limit": limit * 2 + 5 if asked["events"] else limit,
    }
    return Query(_FIND, values)
