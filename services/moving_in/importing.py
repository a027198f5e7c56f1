"""Import from another system: preview a source, and store its contents in runs. A second import adds nothing.

A source is read twice: once for its memories, once for its conversations. It is never completely in memory.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name
from slowwave.settings import Tools
from slowwave.store import Store
from slowwave_server.domain.moving_in.records import ImportedMessage, Moved
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.moving_in.conversations import Recorder, checked
from slowwave_server.services.moving_in.memories import BATCH, MemoryWriter
from slowwave_server.services.moving_in.reading import Source, Tally, entries
from slowwave_server.services.moving_in.runs import Context, Runs

LOGS = frozenset(("claude-code", "codex"))


@dataclass(frozen=True, slots=True)
class MovingReport:
    """Counts of an import, or of a preview (runs is empty).

    held: the number of memories and messages in the source; done: the counts by result; left_out: the counts by reason.
    runs: run numbers by agent; agents: the agents that get data. broken: (place, error) of the first of `broken_count`
    entries.
    """

    system: str
    dry_run: bool
    held: dict[str, int]
    done: dict[str, int]
    left_out: dict[str, int]
    owners: dict[str, int]
    broken_count: int
    broken: tuple[tuple[str, str], ...]
    samples: tuple[tuple[str, str], ...]
    agents: tuple[str, ...]
    runs: dict[str, int]

    @property
    def summary(self) -> str:
        """The counts as a sentence."""
        parts = [f"{number:,} {name}" for name, number in self.done.items() if number]
        parts += [pluralize(sum(self.left_out.values()), "entry", "entries") + " left out"] if self.left_out else []
        parts += [pluralize(self.broken_count, "entry", "entries") + " not read"] if self.broken_count else []
        return f"{self.system}: {', '.join(parts) or 'nothing'}"


def move_in(
    context: Context, source: Source, *, agent: str | None, store: Store, tools: Tools, dry_run: bool
) -> MovingReport:
    """Import a source into an agent. agent: None for a log of a coding agent means the agent of the log's folder.

    Raises InvalidName, OSError, StoreUnavailable and SlowwaveError (also NothingThere and NotReadable). Rows stored
    before an error belong to a run marked as failed; the run can be undone, and the same command continues the import.
    """
    if agent is None and source.system not in LOGS:
        raise SlowwaveError(f"say into which agent {source.system} moves: give --agent NAME")
    if agent is not None:
        check_name("agent", agent)
    tally, runs = Tally(), Runs(context, source.system)
    recorder = Recorder(context, runs, source.system, agent, tally)
    mover = _Mover(context, source, tools, runs, recorder, tally)
    try:
        done = mover.preview(agent) if dry_run else mover.store(agent, store)
    except BaseException as error:
        # If the database is unavailable, the failure can't be stored; the run's lease expires, and it can be undone
        # nevertheless.
        with suppress(SQLAlchemyError):
            runs.finish(f"{type(error).__name__}: {error}")
        raise
    runs.finish()
    return mover.report(done, dry_run=dry_run)


@dataclass
class _Mover:
    context: Context
    source: Source
    tools: Tools
    runs: Runs
    recorder: Recorder
    tally: Tally

    def preview(self, agent: str | None) -> Counter[str]:
        done: Counter[str] = Counter()
        if agent is not None:
            writer = MemoryWriter(self.context, self.runs, self.source.system, agent)
            for batch in self._memories():
                done.update(writer.preview(batch))
        self.recorder.preview(self._messages())
        return done + self.recorder.counts

    def store(self, agent: str | None, store: Store) -> Counter[str]:
        done: Counter[str] = Counter()
        if agent is not None:
            writer = MemoryWriter(self.context, self.runs, self.source.system, agent)
            for batch in self._memories():
                done.update(writer.store(batch))
        self.recorder.record(self._messages(), store)
        return done + self.recorder.counts

    def _memories(self) -> Iterator[list[Moved]]:
        """Run the first pass over the source; the second one counts broken entries."""
        return _batches(one for one in entries(self.source, Tally()) if isinstance(one, Moved))

    def _messages(self) -> Iterator[ImportedMessage]:
        found = entries(self.source, self.tally, lambda said: checked(said, self.tools))
        return (one for one in found if isinstance(one, ImportedMessage))

    def report(self, done: Counter[str], *, dry_run: bool) -> MovingReport:
        tally = self.tally
        sessions = self.recorder.sessions
        return MovingReport(
            system=self.source.system,
            dry_run=dry_run,
            held={"memories": tally.memories, "messages": tally.messages, "conversations": len(sessions)},
            done=dict(done),
            left_out=dict(tally.left_out.most_common()),
            owners=dict(tally.owners.most_common()),
            broken_count=tally.broken_count,
            broken=tuple((broken.where, broken.what) for broken in tally.broken),
            samples=tuple(tally.samples),
            agents=tuple(sorted({name for name, _ in sessions} | set(self.runs.under_way))),
            runs={name: run.id for name, run in self.runs.under_way.items()},
        )


def _batches(memories: Iterable[Moved]) -> Iterator[list[Moved]]:
    batch: list[Moved] = []
    for moved in memories:
        batch.append(moved)
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
