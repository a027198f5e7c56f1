"""Replay questions before a pass commits: does search still find the evidence of the memories that it changed?

    one transaction of a pass ── no memory in search results has changed ──▶ committed
         │ questions about the changed memories: prompts of conversations whose replies used them, and questions made
         from their source events │ each is searched twice: here, where the changes are visible, and on a second
         connection, where they are not │
    the evidence within 500 and 1,000 tokens fell by more than the margin ──▶ rolled back to the savepoint

The search covers only memories, because a pass changes no event, and retention may remove events. It ranks by words,
because a transaction must not wait for a model. A merged memory has the evidence of its parts, and a memory in review
counts as a result.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, select, text

from slowwave.recall.query_steps import run
from slowwave.recall.scopes import Reader
from slowwave.recall.search import find_steps, scope_stats_steps
from slowwave.recall.selection import FILLING, fitting, relevant
from slowwave_server.domain.consolidation.replay import BUDGETS, Replay, by_hash, held, lost, make_question
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.models import Scope
from slowwave_server.models.engine import driver_of

PER_CHECK = 20
"""The largest number of questions for one transaction of a pass."""
LOST_NAMED = 10
"""The largest number of memories with lost evidence that a run names."""
LEAST_RELEVANCE = 0.2
"""An answer must relate to the question: a merged memory with other words than its part does not answer for it."""
_PER_MEMORY = 2
_MOST_CHARACTERS = 8_000
_READ = {"most": _PER_MEMORY, "characters": _MOST_CHARACTERS}
_SOURCE_EVENTS = text(
    "SELECT m.id, m.content, x.name, x.seq, left(e.content, :characters) AS said"
    " FROM slowwave.memories m CROSS JOIN LATERAL ("
    "   SELECT s.name, x.session_id, x.seq FROM slowwave.memory_sources x"
    "   JOIN slowwave.sessions s ON s.id = x.session_id"
    "   WHERE x.memory_id = m.id AND x.via IS NULL ORDER BY md5(s.name || '#' || x.seq) LIMIT :most) AS x"
    " JOIN slowwave.events e ON e.session_id = x.session_id AND e.seq = x.seq WHERE m.id = ANY(:ids)"
)
# The prompt of a reply that used the memory: the last one before the host told of the use.
_PROMPTS = text(
    "SELECT u.memory_id AS id, left(p.content, :characters) AS said,"
    "  ARRAY(SELECT jsonb_build_array(s.name, x.seq) FROM slowwave.memory_sources x"
    "   JOIN slowwave.sessions s ON s.id = x.session_id WHERE x.memory_id = u.memory_id LIMIT 100) AS sources"
    " FROM slowwave.memory_uses u CROSS JOIN LATERAL ("
    "   SELECT e.content FROM slowwave.events e WHERE e.session_id = u.session_id AND e.kind = 'user'"
    "    AND e.happened_at <= u.last_used_at ORDER BY e.seq DESC LIMIT 1) AS p"
    " WHERE u.memory_id = ANY(:ids) ORDER BY md5(p.content) LIMIT :prompts"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question. about: the memory whose evidence an answer must contain; evidence: the memory's source events."""

    text: str
    about: UUID
    evidence: frozenset[tuple[str, int]]


class Harmful(Exception):
    """The changes of a transaction would lose more evidence than allowed, so the transaction is rolled back."""


@dataclass
class Replays:
    """The questions that one pass replays, and the figures of its run.

    most: the highest number of questions in the pass; 0 replays none. margin: the share of the evidence that the
    changes of one transaction may lose. kept, refused: the answers about committed and about rolled back changes;
    unreplayed: the number of transactions that changed search results after all questions were used.
    """

    engine: Engine
    scope_id: int
    most: int
    margin: float
    asked: int = 0
    seconds: float = 0.0
    unreplayed: int = 0
    kept: list[Replay] = field(default_factory=list)
    refused: list[Replay] = field(default_factory=list)
    lost: dict[UUID, None] = field(default_factory=dict)

    def check(self, connection: Connection, changed: Iterable[UUID], *, again: bool = False) -> None:
        """Raise Harmful if the uncommitted changes of a transaction to these memories lose more evidence than allowed.

        again: True if the changes are part of harmful ones. They stay harmful if no question is left.
        """
        ids = list(changed)
        if not ids or not self.most:
            return
        if self.asked >= self.most:
            if again:
                raise Harmful
            self.unreplayed += 1
            return
        began = time.perf_counter()
        with self.engine.connect() as without:
            reader = _reader(without, self.scope_id)
            questions = _questions(without, ids)[: min(PER_CHECK, self.most - self.asked)]
            replays = [_replay(connection, without, reader, question) for question in questions]
        self.asked += len(replays)
        self.seconds += time.perf_counter() - began
        if lost(replays) <= self.margin:
            self.kept += replays
            return
        self.refused += replays
        pairs = zip(questions, replays, strict=True)
        self.lost |= {asked.about: None for asked, one in pairs if one.held_after < one.held_before}
        raise Harmful

    def figures(self) -> dict[str, Any]:
        """Return the figures for the statistics of the run; empty if nothing was replayed."""
        if not self.asked and not self.unreplayed:
            return {}
        found: dict[str, Any] = {"replayed": self.asked, "replay_ms": round(self.seconds * 1000)}
        for name, replays in (("evidence", self.kept), ("rolled_back_evidence", self.refused)):
            if replays:
                found[f"{name}_before"], found[f"{name}_after"] = (round(share, 3) for share in held(replays))
        if self.unreplayed:
            found["not_replayed"] = self.unreplayed
        if self.lost:
            found["lost"] = [str(memory) for memory in list(self.lost)[:LOST_NAMED]]
        return found

    def words(self) -> str:
        """Return the figures as the end of the run's summary: "; 12 questions replayed in 90 ms: answers hold …"."""
        if not self.asked:
            return ""
        told = f"; {pluralize(self.asked, 'question')} replayed in {self.seconds * 1000:.0f} ms"
        if self.kept:
            before, after = held(self.kept)
            told += f": answers hold {after:.0%} of the evidence, {before:.0%} without the pass"
        if self.refused:
            before, after = held(self.refused)
            told += f"; rolled back, because answers would have held {after:.0%} instead of {before:.0%}"
            told += f" (memory.consolidation.max_evidence_lost is {self.margin:g})"
        return told


def _reader(connection: Connection, scope_id: int) -> Reader:
    scope = connection.execute(select(Scope.tenant, Scope.kind, Scope.name).where(Scope.id == scope_id)).one()
    return Reader(scope.tenant, scope.name, ((scope.kind, scope.name),))


def _questions(connection: Connection, ids: list[UUID]) -> list[Question]:
    """Return questions about these memories, prompts first, in an order that depends only on their texts."""
    prompts = connection.execute(_PROMPTS, {"ids": ids, "prompts": PER_CHECK, **_READ})
    asked = [
        Question(row.said, row.id, frozenset((name, seq) for name, seq in row.sources))
        for row in prompts
        if row.sources
    ]
    made: dict[str, Question] = {}
    for row in connection.execute(_SOURCE_EVENTS, {"ids": ids, **_READ}):
        question = make_question(row.said, row.content)
        if question is not None:
            same = made.get(question)
            evidence = frozenset([(row.name, row.seq)]) | (same.evidence if same else frozenset())
            made[question] = Question(question, row.id, evidence)
    return asked + [made[question] for question in by_hash(made)]


def _replay(connection: Connection, without: Connection, reader: Reader, question: Question) -> Replay:
    stats = run(driver_of(without), scope_stats_steps(reader, question.text))

    def held_on(side: Connection) -> float:
        found = run(driver_of(side), find_steps(stats, limit=FILLING, events=False, review=True))
        hits = relevant(found, LEAST_RELEVANCE)
        answers = [fitting(hits, budget) for budget in BUDGETS]
        return sum(any(not question.evidence.isdisjoint(hit.sources) for hit in hits) for hits in answers) / len(
            BUDGETS
        )

    return Replay(held_on(without), held_on(connection))
