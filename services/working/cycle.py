"""The work of a cycle on its notes: drop known ones, store, index and link the rest, settle each.

A note that can't be stored is found by halving the batch, and does not stop the others.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg import errors
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from slowwave.settings import Consolidation
from slowwave_server.domain.blocking import block_keys
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.similarity import Thresholds, read
from slowwave_server.domain.triples import triples
from slowwave_server.domain.working import MAX_LOOKED_AT, Note, Sieve, Sifted, memory_as_other
from slowwave_server.services.consolidation.neighbours import candidates, index_blocks, load
from slowwave_server.services.memories.changes import Author
from slowwave_server.services.memories.triples import store_triples
from slowwave_server.services.working.store import NoteOutcome, keep, link, settle

log = logging.getLogger(__name__)

_FAULTS_OF_NOTES = (
    *(errors.DataError, errors.IntegrityError, errors.ProgramLimitExceeded, errors.StatementTooComplex),
    *(errors.RaiseException, errors.NoDataFound, errors.TooManyRows),
)
"""Errors that the note causes. After all others (deadlocks, unavailable servers), another cycle may succeed."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one note. content: redacted; memory: the one with this text; why: the reason or the error."""

    note: UUID
    content: str
    outcome: Literal["consolidated", "duplicate", "failed"]
    memory: UUID | None
    why: str


class Cycle:
    """The work of one cycle, inside its transaction. outcomes: so far; counts: new links and triples."""

    def __init__(
        self, connection: Connection, scope_id: int, settings: Consolidation, author: Author, now: datetime
    ) -> None:
        self._connection = connection
        self._scope_id = scope_id
        self._author = author
        self._now = now
        self._extract_triples = settings.extract_triples
        thresholds = Thresholds(
            merge=settings.merge_threshold,
            synthesize=settings.synthesize_threshold,
            link=settings.link_threshold,
            duplicate=settings.duplicate_threshold,
        )
        self._sieve = Sieve(settings.duplicate_threshold, settings.link_threshold, thresholds)
        self.outcomes: list[Outcome] = []
        self.counts: Counter[str] = Counter()

    def work(self, notes: Sequence[Note]) -> None:
        """Settle these notes together; if this fails, in halves, so that a bad note fails alone."""
        if not notes:
            return
        try:
            with self._connection.begin_nested():
                outcomes, counts = self._keep(notes)
        except Exception as error:
            if isinstance(error, DBAPIError) and not isinstance(error.orig, _FAULTS_OF_NOTES):
                raise
            if len(notes) > 1:
                middle = len(notes) // 2
                self.work(notes[:middle])
                self.work(notes[middle:])
                return
            outcomes, counts = [self._give_up(notes[0], error)], Counter()
        self.outcomes += outcomes
        self.counts += counts

    def _keep(self, notes: Sequence[Note]) -> tuple[list[Outcome], Counter[str]]:
        redacted = [replace(note, content=redact(note.content).text) for note in notes]
        readings = [read(note.content) for note in redacted]
        found = candidates(self._connection, self._scope_id, readings, limit=MAX_LOOKED_AT)
        near = [[memory_as_other(known) for known in others] for others in found]
        sifted = self._sieve.sift(list(zip(redacted, readings, strict=True)), near, block_keys)
        kept = keep(self._connection, self._scope_id, sifted, author=self._author, now=self._now)
        new = [one for one in sifted if kept[one.note.id].is_new]
        memories = load(self._connection, self._scope_id, [kept[one.note.id].memory for one in new])
        index_blocks(self._connection, self._scope_id, memories.values())
        counts = Counter(links=self._link(new, kept), triples=self._relate(new, kept))
        return [_outcome(one, kept[one.note.id]) for one in sifted], counts

    def _link(self, new: Sequence[Sifted], kept: dict[UUID, NoteOutcome]) -> int:
        links = {}
        for one in new:
            source = kept[one.note.id].memory
            for other in one.links:
                target = kept[other.to.id].memory if other.to.is_note else other.to.id
                # Two notes may turn out to be one memory, which is never linked to itself.
                if target != source:
                    links[source, target] = (source, target, other)
        return link(self._connection, list(links.values()), author=self._author, now=self._now)

    def _relate(self, new: Sequence[Sifted], kept: dict[UUID, NoteOutcome]) -> int:
        if not self._extract_triples:
            return 0
        found = {kept[one.note.id].memory: triples(read(one.note.content)) for one in new}
        run_id = self._author.run_id
        return store_triples(self._connection, self._scope_id, found, run_id=run_id, now=self._now)

    def _give_up(self, note: Note, error: Exception) -> Outcome:
        sentence = f"{type(error).__name__}: {error}"
        log.warning("a note of scope %s could not be kept: %s", self._scope_id, type(error).__name__)
        settle(
            self._connection,
            self._scope_id,
            [note.id],
            "failed",
            run_id=self._author.run_id,
            now=self._now,
            error=sentence,
        )
        return Outcome(note.id, "", "failed", None, sentence)


def _outcome(one: Sifted, kept: NoteOutcome) -> Outcome:
    if kept.is_new:
        return Outcome(one.note.id, one.note.content, "consolidated", kept.memory, one.why)
    why = one.why if one.repeats is not None else "the scope has it already, word for word"
    return Outcome(one.note.id, one.note.content, "duplicate", kept.memory, why)
