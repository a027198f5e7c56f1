"""Compare extractors with people on Multi-Session Chat: the utterances that each keeps, and the words of the memories.

An utterance counts as kept if it is a source of a candidate; this is right if a person wrote a memory for it. Words:
how many of the content words of these written memories occur in the extractor's memories.

The weights were fitted on the whole development file; `bench/fit_signals.py` shows the same metric on held-out
dialogues.
Run: python -m bench.extraction --sets msc
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bench.msc_data import NAMES, Utterance, data_file, dialogues
from bench.replay import Compared, memories
from slowwave_server.domain.evaluation import Agreement, Carried, agreement, carried
from slowwave_server.domain.events import Event, EventKind

FILE = "msc-memories-dev.jsonl"
START = datetime(2024, 3, 4, 9, tzinfo=UTC)


def events_of(turns: Sequence[Utterance]) -> tuple[Event, ...]:
    """Return a dialogue as events: the first speaker is the user, the second the assistant, both by name."""
    kinds: dict[str, EventKind] = dict(zip(NAMES.values(), ("user", "assistant"), strict=True))
    return tuple(
        Event(at, kinds.get(turn.speaker, "user"), "user", turn.text, START + timedelta(minutes=at), name=turn.speaker)
        for at, turn in enumerate(turns, 1)
    )


def measure(compared: Compared) -> dict[str, float]:
    """Return all figures of one extractor, by name."""
    total, words = Agreement(), Carried()
    for turns in dialogues(data_file(FILE)):
        events = events_of(turns)
        found = memories(compared.extractor, events, "helper")
        kept = {seq for memory in found for seq in memory.sources}
        total += agreement(kept, (event.seq for event, turn in zip(events, turns, strict=True) if turn.memory))
        for event, turn in zip(events, turns, strict=True):
            if turn.memory:
                said = " ".join(memory.content for memory in found if event.seq in memory.sources)
                words += carried(turn.memory, (said,))
    return {
        "utterances, F1": total.f1,
        "utterances, precision": total.precision,
        "utterances, recall": total.recall,
        "words of gold memories in memories": words.share,
    }
