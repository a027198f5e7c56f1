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
    summarised = {wording(line.content) for day in context.days for line in day.lines}
    recent = tuple(hit for hit in context.recent if hit.id not in disputed and wording(hit.content) not in summarised)
    known = remembered | summarised | {wording(hit.content) for hit in recent}
    elsewhere = tuple(line for line in context.elsewhere if wording(line.content) not in known)
    live = {(line.agent, line.session, line.seq) for line in context.elsewhere}
    repeated = remembered & summarised
    days = tuple(
        replace(
            day,
            lines=tuple(line for line in day.lines if not repeated or wording(line.content) not in repeated),
            unsummarised=tuple(
                line
                for line in day.unsummarised
                if (line.agent, line.session, line.seq) not in live and wording(line.content) not in known
            ),
        )
        for day in context.days
    )
    shown = tuple(day for day in days if day.lines or day.unsummarised)
    return replace(context, days=shown, memories=memories, recent=recent, elsewhere=elsewhere)
