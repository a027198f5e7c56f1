"""Measure LoCoMo without a database: the turns that become memories, compared with the turns with a fact by people's
labels.

Run: python -m bench.extraction --sets locomo
"""

from bench.labelled import sessions
from bench.replay import Compared, memories
from slowwave_server.domain.evaluation import Agreement, Carried, agreement, carried


def measure(compared: Compared) -> dict[str, float]:
    """Return all figures of one extractor, by name."""
    total, words, made, count = Agreement(), Carried(), 0, 0
    for session in sessions("locomo"):
        found = memories(compared.extractor, [turn.event for turn in session], session[0].group)
        kept = {seq for memory in found for seq in memory.sources}
        total += agreement(kept, (turn.event.seq for turn in session if turn.gold))
        for turn in session:
            said = [memory.content for memory in found if turn.event.seq in memory.sources]
            words = sum((carried(gold, said) for gold in turn.gold), words)
        made, count = made + len(found), count + 1
    return {
        "turns, F1": total.f1,
        "turns, precision": total.precision,
        "turns, recall": total.recall,
        "words of gold memories in memories": words.share,
        "memories a session": made / count,
    }
