"""What was said once is shown once: lines of a context that repeat another part of it are left out.

A contradiction wins over the memories in it, a memory over a line of a summary with the same words, both over what was
said in these words, and what is being said right now over the same line of the day.

Must not know: how much room there is.
"""

from dataclasses import replace

from slowwave.recall.briefing import Context
from slowwave.recall.lines import wording


def said_once(context: Context) -> Context:
    """The same context, each memory and each wording in one of its lists."""
    sides = [side for conflict in context.conflicts for side in conflict.sides]
    disputed = {side.id for side in sides}
    memories = tuple(hit for hit in context.memories if hit.id not in disputed)
    remembered = {wording(hit.content) for hit in (*memories, *sides)}
    summarised = [[wording(line.content) for line in day.lines] for day in context.days]
    in_summary = {words for day in summarised for words in day}
    recent = tuple(hit for hit in context.recent if hit.id not in disputed and wording(hit.content) not in in_summary)
    known = remembered | in_summary | {wording(hit.content) for hit in recent}
    elsewhere = tuple(line for line in context.elsewhere if wording(line.content) not in known)
    live = {(line.agent, line.session, line.seq) for line in context.elsewhere}
    days = []
    for day, words in zip(context.days, summarised, strict=True):
        lines = day.lines
        if not remembered.isdisjoint(words):
            lines = tuple(line for line, said in zip(lines, words, strict=True) if said not in remembered)
        unsummarised = tuple(
            line
            for line in day.unsummarised
            if (line.agent, line.session, line.seq) not in live and wording(line.content) not in known
        )
        if lines or unsummarised:
            days.append(replace(day, lines=lines, unsummarised=unsummarised))
    return replace(context, days=tuple(days), memories=memories, recent=recent, elsewhere=elsewhere)
