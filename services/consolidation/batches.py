"""The work of a pass over one scope: batches of memories, each in its own transaction, all recorded under one run."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from sqlalchemy import Connection, Row, func, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from slowwave.settings import Consolidation
from slowwave_server.domain.consolidation.known import LIVE, MemoryRevision
from slowwave_server.domain.similarity import MeaningOf, judge, read
from slowwave_server.models import Memory
from slowwave_server.services.consolidation.asking import Asking
from slowwave_server.services.consolidation.batch import Batch, promote, settle
from slowwave_server.services.consolidation.effects import Effects
from slowwave_server.services.consolidation.neighbours import index_blocks, load
from slowwave_server.services.consolidation.questions import MOST_ASKED
from slowwave_server.services.consolidation.relating import relate, unread
from slowwave_server.services.consolidation.replays import Harmful, Replays
from slowwave_server.services.consolidation.synthesis import Outcome, Pair, keep, propose
from slowwave_server.services.consolidation.world import RESTORED
from slowwave_server.services.memories.changes import Author, Ledger, Stale, mark_checked
from slowwave_server.services.runs.store import Run, renew_run

log = logging.getLogger(__name__)

PassKind = Literal["light", "deep"]
BATCH = 50
TRIES = 3
ALWAYS_ALLOWED = 20
"""The circuit breaker never stops a pass that has archived no more memories than this, even in a small scope."""

DUE: Mapping[PassKind, str] = {
    "light": "m.checked_at IS NULL AND m.status IN ('inbox', 'episode', 'active')",
    "deep": "m.status IN ('inbox', 'episode', 'active')"
    f" AND (m.status <> 'active' OR m.checked_at IS NULL OR {RESTORED})",
}
"""By kind of pass, the SQL condition for due memories `m`, apart from their age."""
OLD_ENOUGH = "least(m.recorded_at, m.reaffirmed_at) <= :until"
"""The SQL condition for memories `m` that are old enough. Event time counts, so imported old events do not wait."""
# Oldest first, after the last memory of the previous batch: a run does not retry a memory that failed.
_NEXT = {
    kind: text(
        f"SELECT m.id, m.recorded_at FROM slowwave.memories m WHERE m.scope_id = :scope AND {due}"
        f" AND {OLD_ENOUGH} AND (m.recorded_at, m.id) > (:at, :id)"
        " ORDER BY m.recorded_at, m.id LIMIT :most"
    )
    for kind, due in DUE.items()
}
BEGINNING = (datetime(1900, 1, 1, tzinfo=UTC), UUID(int=0))


def next_due(
    connection: Connection,
    scope_id: int,
    kind: PassKind,
    settings: Consolidation,
    now: datetime,
    place: tuple[datetime, UUID] = BEGINNING,
) -> Sequence[Row[tuple[UUID, datetime]]]:
    """Return the next memories (id, recorded_at) after `place` that are due for this kind of pass and old enough."""
    parameters = {
        "scope": scope_id,
        "until": now - timedelta(days=settings.min_age_days),
        "at": place[0],
        "id": place[1],
        "most": BATCH,
    }
    return connection.execute(_NEXT[kind], parameters).all()


class RunawayStopped(Exception):
    """The circuit breaker stopped the run before a batch with too many archivals. A person may allow the batch."""


class LeaseLost(Exception):
    """Another worker has taken over the run, so this worker must not write."""


Transaction = Callable[[], AbstractContextManager[Connection]]


@dataclass
class Pass:
    """A pass in progress. `transaction` opens a transaction, which commits at its end or rolls back on an error.

    replays: the questions that prove that a transaction does no harm. meaning: the model of pairs, or None. asking: the
    model, or None. synthesize: True to ask it for one sentence from two memories. triples: True to ask it for the
    relations of new memories.
    """

    transaction: Transaction
    scope_id: int
    kind: PassKind
    settings: Consolidation
    author: Author
    run: Run
    clock: Callable[[], datetime]
    allow_archive: bool
    replays: Replays
    meaning: MeaningOf | None
    asking: Asking | None = None
    synthesize: bool = False
    triples: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    checked: int = 0
    failed: int = 0
    more: bool = False
    live_at_start: int | None = None
    place: tuple[datetime, UUID] = BEGINNING

    def work(self) -> None:
        """Settle batch after batch until no memory is due or a cap is reached. Raises RunawayStopped."""
        while True:
            with self.transaction() as connection:
                due = next_due(connection, self.scope_id, self.kind, self.settings, self.clock(), self.place)
            if not due:
                break
            if self.checked + self.failed >= self.settings.max_memories_per_run:
                self.more = True
                return
            self.place = (due[-1].recorded_at, due[-1].id)
            self._batch([row.id for row in due])
        self._put_waiting()

    def _put_waiting(self) -> None:
        """Ask a person about contradictions that earlier passes or batches left without a question."""
        with self.transaction() as connection:
            now = self.clock()
            if not renew_run(connection, self.run, now):
                raise LeaseLost(f"run {self.run.id} was taken over by another worker")
            effects = Effects(Ledger(connection, self.author, now), self.scope_id, self._may_ask)
            effects.put_waiting()
        self.counts.update(effects.counts)

    @property
    def _may_ask(self) -> int:
        return MOST_ASKED - self.counts["asked"]

    def _batch(self, ids: Sequence[UUID]) -> None:
        """Settle these memories together. If that fails, settle each alone, so that one bad memory stops no other."""
        try:
            self._settle(ids)
        except (RunawayStopped, LeaseLost):
            raise
        except Exception:
            log.exception("a batch of %d memories failed as a whole, each is tried by itself", len(ids))
            for memory in ids:
                self._settle_alone(memory)

    def _settle_alone(self, memory: UUID, *, harmed: bool = False) -> None:
        try:
            self._settle([memory], harmed=harmed)
        except (RunawayStopped, LeaseLost):
            raise
        except Exception:
            log.exception("memory %s could not be consolidated", memory)
            self.failed += 1

    def _settle(self, ids: Sequence[UUID], *, harmed: bool = False) -> None:
        """Settle these memories in one transaction. harmed: a batch with them was rolled back because it did harm."""
        new: Sequence[UUID] = ()
        if self.triples:
            with self.transaction() as connection:
                new = unread(connection, self.scope_id, ids)
        for attempt in range(1, TRIES + 1):
            try:
                with self.transaction() as connection:
                    middle = self._settle_in(connection, ids, harmed=harmed)
            except Harmful:
                return self._settle_apart(ids)
            except (Stale, OperationalError):
                # A flush changed one of these memories in the meantime, or two transactions needed the same rows: read
                # again.
                if attempt == TRIES:
                    raise
            else:
                return self._ask(middle, new)
        return None

    def _settle_apart(self, ids: Sequence[UUID]) -> None:
        """Settle each of these memories alone, so that only harmful changes stay undone.

        If the changes of a single memory do harm, the memory counts as checked: light passes take it again when it is
        said again.
        """
        alone = len(ids) == 1
        with self.transaction() as connection:
            index_blocks(connection, self.scope_id, load(connection, self.scope_id, ids).values())
            if alone:
                mark_checked(connection, list(ids), self.clock())
        self.checked += alone
        self.counts["rolled_back"] += alone
        for memory in () if alone else ids:
            self._settle_alone(memory, harmed=True)

    def _ask(self, middle: Sequence[frozenset[UUID]], new: Sequence[UUID]) -> None:
        """Ask the model, if there is one. Without a model, the two memories of a pair stay linked as related."""
        if self.asking is None:
            return
        if self.synthesize:
            self._synthesise(self.asking, middle)
        if self.triples:
            author, clock = self.author, self.clock
            relate(self.transaction, self.asking, self.scope_id, new, author=author, clock=clock)

    def _synthesise(self, asking: Asking, middle: Sequence[frozenset[UUID]]) -> None:
        for ids in middle:
            with self.transaction() as connection:
                known = [memory for memory in load(connection, self.scope_id, ids).values() if memory.live]
            if len(known) != len(ids):
                continue
            first, second = sorted(known, key=lambda memory: memory.order)
            pair = Pair(first, second, judge(read(first.content), read(second.content)).score)
            content = propose(asking, pair)
            if content is not None:
                self.counts[self._keep(pair, content, asking.model.name)] += 1

    def _keep(self, pair: Pair, content: str, model: str) -> Outcome:
        try:
            with self.transaction() as connection:
                now = self.clock()
                if not renew_run(connection, self.run, now):
                    raise LeaseLost(f"run {self.run.id} was taken over by another worker")
                ledger = Ledger(connection, self.author, now)
                kept = keep(ledger, pair, content, model=model)
                effects = Effects(ledger, self.scope_id)
                promote(self._batch_in(connection, now), effects, {kept})
                self.replays.check(connection, (pair.first.id, pair.second.id))
        except Harmful:
            self.counts["rolled_back"] += 1
            return "refused"
        except (Stale, OperationalError, IntegrityError) as error:
            log.info("a sentence of a model came too late: %s", error)
            return "refused"
        self.counts.update(effects.counts)
        return "synthesised"

    def _settle_in(self, connection: Connection, ids: Sequence[UUID], *, harmed: bool) -> list[frozenset[UUID]]:
        now = self.clock()
        if not renew_run(connection, self.run, now):
            raise LeaseLost(f"run {self.run.id} was taken over by another worker")
        known: dict[UUID, MemoryRevision] = load(connection, self.scope_id, ids)
        memories = [known[memory] for memory in ids if memory in known and known[memory].live]
        effects = settle(self._batch_in(connection, now), memories)
        self._check_share(connection, effects.counts["merged"])
        self.replays.check(connection, effects.shown_otherwise, again=harmed)
        self.counts.update(effects.counts)
        self.checked += len(memories)
        # Use a fixed order, so that the result of a synthesis depends on nothing else.
        return sorted(effects.middle, key=lambda pair: sorted(str(memory) for memory in pair))

    def _batch_in(self, connection: Connection, now: datetime) -> Batch:
        again = self.kind == "deep"
        return Batch(connection, self.scope_id, self.settings, self.author, now, self.meaning, again, self._may_ask)

    def _check_share(self, connection: Connection, archived: int) -> None:
        total = self.counts["merged"] + archived
        if total <= ALWAYS_ALLOWED or self.allow_archive:
            return
        if self.live_at_start is None:
            # Only a pass that archives many memories counts them, because the count of a large scope takes long.
            live = select(func.count()).where(Memory.scope_id == self.scope_id, Memory.status.in_(LIVE))
            self.live_at_start = connection.execute(live).scalar_one() + total
        allowed = max(ALWAYS_ALLOWED, self.settings.max_archived_share * self.live_at_start)
        if total > allowed:
            raise RunawayStopped(
                f"stopped before archiving {total} of {self.live_at_start} memories; {allowed:.0f} are allowed "
                f"(memory.consolidation.max_archived_share). Look with --dry-run, allow it with --allow-archive"
            )
