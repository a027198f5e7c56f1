"""Read a source once: count every entry, and yield memories and messages one at a time."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from slowwave_server.domain.moving_in.parsers import reader
from slowwave_server.domain.moving_in.records import Broken, ImportedMessage, LeftOut, Moved, Piece, System
from slowwave_server.services.moving_in.opening import open_source

BROKEN_KEPT = 1000
SAMPLES = 5
SAMPLE_CHARACTERS = 200
OWNERS_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """The source of an import: a file, a folder or a URL, of which a table. owner: import only this owner's data."""

    system: System
    given: str
    table: str | None = None
    owner: str | None = None


@dataclass(slots=True)
class Tally:
    """Counts of a source's contents. left_out: the counts by reason; owners: the number of entries by the user or
    namespace that they are about.

    broken: the first BROKEN_KEPT of `broken_count` entries; samples: the beginnings of a few memories and messages.
    """

    memories: int = 0
    messages: int = 0
    broken_count: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    broken: list[Broken] = field(default_factory=list)
    samples: list[tuple[str, str]] = field(default_factory=list)

    def name_broken(self, broken: Broken) -> None:
        """Count an entry that can't be read, and store its place."""
        self.broken_count += 1
        if len(self.broken) < BROKEN_KEPT:
            self.broken.append(broken)


def entries(
    source: Source,
    tally: Tally,
    check: Callable[[ImportedMessage], ImportedMessage | LeftOut | Broken] = lambda said: said,
) -> Iterator[Moved | ImportedMessage]:
    """Yield the memories and messages of a source, in order; `tally` counts those and the entries that are left out.

    check: a function that returns a message that can be recorded, or the reason (LeftOut, Broken) against it.
    """
    parse = reader(source.system)
    sampled: Counter[str] = Counter()
    for piece in open_source(source.system, source.given, table=source.table):
        for entry in parse(piece) if isinstance(piece, Piece) else (piece,):
            found = check(entry) if isinstance(entry, ImportedMessage) else entry
            if isinstance(found, Broken):
                tally.name_broken(found)
            elif isinstance(found, LeftOut):
                tally.left_out[found.what] += 1
            elif _is_meant(source, found, tally):
                _count(found, tally, sampled)
                yield found


def _is_meant(source: Source, entry: Moved | ImportedMessage, tally: Tally) -> bool:
    if entry.owner is not None and (entry.owner in tally.owners or len(tally.owners) < OWNERS_KEPT):
        tally.owners[entry.owner] += 1
    if source.owner is None or entry.owner == source.owner:
        return True
    tally.left_out["entry about somebody else"] += 1
    return False


def _count(entry: Moved | ImportedMessage, tally: Tally, sampled: Counter[str]) -> None:
    kind = "memory" if isinstance(entry, Moved) else "message"
    if isinstance(entry, Moved):
        tally.memories += 1
        text = entry.text
    else:
        tally.messages += 1
        content = entry.message.get("content")
        text = content if isinstance(content, str) else ""
    if text and sampled[kind] < SAMPLES:
        sampled[kind] += 1
        flat = " ".join(text.split())
        tally.samples.append((kind, flat if len(flat) <= SAMPLE_CHARACTERS else flat[: SAMPLE_CHARACTERS - 1] + "…"))
