"""Trim a context to a token budget: leave out whole lines, the least important first; cut long lines.

Two parts have priority. While other parts need the room, they may use at most this share of it:

    profile 10 %         in the order of its attributes
    instructions 60 %    the most general and newest first

The other parts, the most important first, with their guaranteed shares of the remaining room, without and with a query.
Unused room goes to the others in this order; with a query, to the memories first:

    summaries 40, 10 %      the newest days first, the weightiest lines of each
    unsummarised 10, 0 %    the newest lines first
    memories 30, 80 %       with the passages in the order of their scores, then the recent ones
    conflicts 10, 5 %       in their order
    elsewhere 10, 5 %       the newest lines of each conversation in turn
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from slowwave.errors import InvalidQuery, shown
from slowwave.prompt_notice import NOTICE
from slowwave.recall.briefing import (
    CONFLICTS,
    ELSEWHERE,
    FORMATS,
    INTRODUCTION,
    MEMORIES,
    PROFILE,
    STANDING,
    Context,
    Format,
    instructions_heading,
    recent_heading,
    summary_heading,
    unsummarised_heading,
)
from slowwave.recall.budget import Fit, Offer
from slowwave.recall.hits import Hit
from slowwave.recall.instructions import Instruction, Trait
from slowwave.recall.lines import (
    Contradiction,
    Day,
    DayLine,
    Utterance,
    conversation_of,
    day_of,
    further_line,
)
from slowwave.recall.rendering import Block, fenced_blocks, shorten
from slowwave.recall.tokens import estimate

Count = Callable[[str], int]

ALWAYS = {"profile": 0.1, "instructions": 0.6}
SHARES = {"summaries": 0.4, "unsummarised": 0.1, "memories": 0.3, "conflicts": 0.1, "elsewhere": 0.1}
ASKED = {"memories": 0.8, "summaries": 0.1, "unsummarised": 0.0, "conflicts": 0.05, "elsewhere": 0.05}
"""The same where a question was asked."""
MESSAGE_TOKENS = 4  # tokens that chat APIs add to each message for its role and its ends
PER_DAY_FIRST = 3  # the number of lines of a day before the first line of the previous day
LONGEST_SHARE = 6  # no line takes more than this share of the budget
WHOLE_LEAST, WHOLE_TOKENS = 2, 250  # hits of a query that come whole: two, and one for each 250 tokens of the budget
LATER_SHARE, LATER_LEAST = 64, 31  # if not all fit, a later hit takes at most this share, or this number of tokens
MAX_LEFT_OUT = 9999  # to compute the cost of a heading
_SHARED = "\n"  # in the key of a day or a conversation, and in no heading
SHORTEST_CUT = 24  # tokens; shorter lines are never cut


@dataclass(frozen=True, slots=True)
class Budget:
    """A token budget of a context: the number of tokens, the format, and the token counter."""

    max_tokens: int
    form: Format = "markdown"
    count: Count = estimate


def budget_of(max_tokens: int | None, form: str, count: Count | None) -> Budget | None:
    """Check a budget, and return None if none is given. Raises `InvalidQuery`."""
    known = next((name for name in FORMATS if name == form), None)
    if known is None:
        raise InvalidQuery(f"format must be one of {', '.join(FORMATS)}, got {shown(form)}")
    if count is not None and not callable(count):
        raise InvalidQuery(f"count_tokens must be a function that counts the tokens of a text, got {shown(count)}")
    if max_tokens is None:
        return None
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
        raise InvalidQuery(f"max_tokens must be an integer, 0 or more, got {shown(max_tokens)}")
    return Budget(max_tokens, known, count or estimate)


def cost_of(context: Context, budget: Budget) -> int:
    """Count the tokens of the context in the budget's format; 0 for an empty context."""
    if not context:
        return 0
    if budget.form == "messages":
        return sum(budget.count(message["content"]) + MESSAGE_TOKENS for message in context.to_messages())
    return budget.count(context.render(budget.form))


def trimmed(context: Context, budget: Budget) -> Context:
    """Return as much of the context as the budget allows; its `tokens` never exceed the budget."""
    whole = list(_entries(context))
    most = max(SHORTEST_CUT, budget.max_tokens // LONGEST_SHARE)
    cut = dict.fromkeys(_later_hits(context, whole, budget), max(LATER_LEAST, budget.max_tokens // LATER_SHARE))

    @cache
    def entry(place: int) -> _Entry:
        return _cut(whole[place], min(most, cut.get(place, most)), budget.count)

    fit = Fit(
        [Offer(offered.part, _keys(offered, budget.form)) for offered in whole],
        _shares(context),
        always=ALWAYS,
        frame=_frame(context, budget),
        line=lambda place: budget.count(_text(entry(place), budget.form)),
        above=lambda key: budget.count(_heading(context, key, budget.form)),
    )
    room = budget.max_tokens
    while True:
        chosen = fit.choose(room)
        kept = _put_together(context, [entry(place) for place in chosen])
        cost = cost_of(kept, budget)
        if cost <= budget.max_tokens:
            return replace(kept, tokens=cost, left_out=len(whole) - len(chosen))
        # The costs of the parts need not add up to the cost of the whole with any counter, so try again with less room.
        room = min(room - (cost - budget.max_tokens), room * 9 // 10)


Item = Hit | DayLine | Utterance | Contradiction | Instruction | Trait


class _Entry(NamedTuple):
    """A line that may be copied from one context into another. place: its index in its list; day: the index of its day;
    listed: the name of the context's list, if the line is a memory.
    """

    part: str
    heading: str
    item: Item
    place: int
    day: Day | None = None
    listed: str = ""


def _entries(context: Context) -> Iterator[_Entry]:
    """Return all lines; within each part the most important first."""
    for place, trait in enumerate(context.profile):
        yield _Entry("profile", PROFILE, trait, place)
    for place, one in enumerate(context.instructions):
        # The longest form of the heading, which gives the number of lines left out.
        yield _Entry("instructions", instructions_heading(MAX_LEFT_OUT), one, place)
    yield from _summary_entries(context.days)
    for day in context.days:
        heading = unsummarised_heading(day.day)
        for place, line in reversed(list(enumerate(day.unsummarised))):
            yield _Entry("unsummarised", heading, line, place, day)
    yield from _found_entries(context)
    for place, hit in enumerate(context.recent):
        yield _Entry("memories", recent_heading(context.span), hit, place, listed="recent")
    for place, conflict in enumerate(context.conflicts):
        yield _Entry("conflicts", CONFLICTS, conflict, place)
    sessions: dict[tuple[str, str], int] = {}
    turns = []
    for place, line in reversed(list(enumerate(context.elsewhere))):
        turn = sessions[line.agent, line.session] = sessions.get((line.agent, line.session), -1) + 1
        turns.append((turn, place, line))
    for _, place, line in sorted(turns, key=lambda turn: turn[:2]):
        yield _Entry("elsewhere", ELSEWHERE, line, place)


def _later_hits(context: Context, entries: Sequence[_Entry], budget: Budget) -> list[int]:
    """Return the indexes of the hits of a query after the first ones; none if the texts of all hits fit."""
    places = [place for place, entry in enumerate(entries) if entry.part == "memories"]
    sizes = accumulate(budget.count(item.content) for place in places if isinstance(item := entries[place].item, Hit))
    is_crowded = _shares(context) is ASKED and any(size > budget.max_tokens for size in sizes)
    return places[WHOLE_LEAST + budget.max_tokens // WHOLE_TOKENS :] if is_crowded else []


def _shares(context: Context) -> dict[str, float]:
    """Return the shares of the parts; with a query, the parts that answer the query come first."""
    was_asked = any(hit.relevance is not None for hit in (*context.memories, *context.passages))
    return ASKED if was_asked else SHARES


def _found_entries(context: Context) -> Iterator[_Entry]:
    """Merge memories and passages, each list in its order: the next entry is the one with the higher score."""
    passages = list(enumerate(context.passages))
    for place, hit in enumerate(context.memories):
        while passages and passages[0][1].score > hit.score:
            before, passage = passages.pop(0)
            yield _Entry("memories", MEMORIES, passage, before, listed="passages")
        yield _Entry("memories", MEMORIES, hit, place, listed="memories")
    yield from (_Entry("memories", MEMORIES, passage, place, listed="passages") for place, passage in passages)


def _summary_entries(days: Sequence[Day]) -> Iterator[_Entry]:
    dates = {date: place for place, date in enumerate(sorted({day.day for day in days}, reverse=True))}
    ranked: list[tuple[int, int, _Entry]] = []
    for number, day in enumerate(days):
        heading, behind = summary_heading(day.day), PER_DAY_FIRST * dates[day.day]
        by_weight = sorted(enumerate(day.lines), key=lambda line: -line[1].weight)
        for rank, (place, line) in enumerate(by_weight):
            ranked.append((rank + behind, number, _Entry("summaries", heading, line, place, day)))
    ranked.sort(key=lambda entry: entry[:2])
    yield from (entry for _, _, entry in ranked)


def _text(entry: _Entry, form: Format) -> str:
    """Return the entry's text in the budget's format."""
    item = entry.item
    if form == "json":
        return json.dumps(item.to_json(), ensure_ascii=False) + ", "
    if isinstance(item, DayLine):
        return f"{entry.day.line_text(item)}\n" if entry.day else ""
    return f"{further_line(item) if isinstance(item, Hit) else item.to_line()}\n"


def _frame(context: Context, budget: Budget) -> int:
    """Count the tokens of a context without lines."""
    exception = STANDING if context.instructions else ""
    if budget.form == "json":
        return budget.count(Context(span=context.span, instructions_left_out=MAX_LEFT_OUT).render("json"))
    if budget.form == "messages":
        return budget.count(f"{INTRODUCTION} {exception}") + 2 * MESSAGE_TOKENS
    return budget.count(f"{NOTICE} {exception}\n\n")


def _keys(entry: _Entry, form: Format) -> tuple[str, ...]:
    """Return the entry's groups: a heading, of a hit also its day and conversation; or in JSON a day."""
    if form == "json":
        return () if entry.day is None else (f"{entry.day.day} {entry.day.agent} {entry.day.scope}",)
    if not isinstance(entry.item, Hit) or entry.item.valid_to is not None:
        return (entry.heading,)
    day = f"{entry.heading}{_SHARED}{day_of(entry.item)} "
    return entry.heading, day, f"{day}{_SHARED}{conversation_of(entry.item)}"


def _heading(context: Context, key: str, form: Format) -> str:
    """Return the text of a group: a heading and its fence, a date, a conversation, or the fields of a day."""
    if _SHARED in key:
        return key.rpartition(_SHARED)[2]
    if form != "json":
        return fenced_blocks([Block(key, [""])]) + "\n"
    days = [replace(d, lines=(), unsummarised=()) for d in context.days if f"{d.day} {d.agent} {d.scope}" == key]
    return json.dumps(days[0].to_json()) + ", " if days else ""


def _cut(entry: _Entry, longest: int, count: Count) -> _Entry:
    """Cut the entry's text to this number of tokens."""
    item = entry.item
    if isinstance(item, Contradiction):
        one, other = (replace(side, content=_fitting(side.content, longest // 2, count)) for side in item.sides)
        return entry._replace(item=replace(item, sides=(one, other)))
    content = _fitting(item.content, longest, count)
    if content == item.content or isinstance(item, Trait):
        return entry
    if isinstance(item, Instruction):
        return entry._replace(item=replace(item, text=content))
    cut = item._replace(content=content) if isinstance(item, DayLine) else replace(item, content=content)
    return entry._replace(item=cut)


def _fitting(text: str, tokens: int, count: Count) -> str:
    if len(text) <= tokens:  # a text practically never has more tokens than characters
        return text
    while len(text) > 1 and (cost := count(text)) > tokens:
        text = shorten(text, min(len(text) * tokens // cost, len(text) - 1))
    return text


def _put_together(context: Context, entries: Sequence[_Entry]) -> Context:
    """Return the context with only these lines, each in its old position."""
    parts: dict[tuple[str, int | None], list[_Entry]] = {}
    for entry in sorted(entries, key=lambda e: e.place):
        key = (entry.listed or entry.part, None if entry.day is None else id(entry.day))
        parts.setdefault(key, []).append(entry)

    def of(part: str, day: Day | None = None) -> tuple[Any, ...]:
        return tuple(e.item for e in parts.get((part, None if day is None else id(day)), ()))

    shown = of("instructions")
    days = (replace(day, lines=of("summaries", day), unsummarised=of("unsummarised", day)) for day in context.days)
    return replace(
        context,
        instructions=shown,
        instructions_left_out=context.instructions_left_out + len(context.instructions) - len(shown),
        profile=of("profile"),
        days=tuple(day for day in days if day.lines or day.unsummarised),
        memories=of("memories"),
        passages=of("passages"),
        recent=of("recent"),
        conflicts=of("conflicts"),
        elsewhere=of("elsewhere"),
    )
