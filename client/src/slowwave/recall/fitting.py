"""Deduplicate a context and trim it to its budget.

A memory that repeats a line of a summary is left out. If the budget then excludes the line, the memory is added again:
content is left out only for lack of room.
"""

from dataclasses import replace

from slowwave.recall.briefing import Context
from slowwave.recall.deduplicate import deduplicate
from slowwave.recall.trimming import Budget, trimmed

_TRIES = 4


def fitted(context: Context, budget: Budget | None) -> Context:
    """The context without duplicates, trimmed to the budget."""
    once = deduplicate(context)
    if budget is None:
        return once
    known = trimmed(once, budget)
    for _ in range(_TRIES):
        # Check again which memories the summaries repeat, because the budget may have excluded lines.
        shown = {(day.day, day.agent, day.scope): day.lines for day in known.days}
        days = tuple(replace(day, lines=shown.get((day.day, day.agent, day.scope), ())) for day in context.days)
        retried = deduplicate(replace(context, days=days, instructions=known.instructions, profile=known.profile))
        if len(retried.memories) + len(retried.recent) == len(once.memories) + len(once.recent):
            break
        once = replace(retried, instructions=once.instructions, profile=once.profile)
        left_out = _lines(deduplicate(context))
        known = trimmed(once, budget)
        known = replace(known, left_out=max(0, left_out - _lines(known)))
    return known


def _lines(context: Context) -> int:
    of_days = sum(len(day.lines) + len(day.unsummarised) for day in context.days)
    of_days += len(context.instructions) + len(context.profile)
    found = len(context.memories) + len(context.passages) + len(context.recent)
    return of_days + found + len(context.conflicts) + len(context.elsewhere)
