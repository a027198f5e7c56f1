"""Evaluate recall: record a data set as a host would, flush it, ask its questions, and judge the results.

The events of an agent are recorded in order. A question is asked just before the first event that it must not see.
Before the question, the agent's sessions are flushed to their end, the words of its scope are counted, and vectors are
made. No consolidation pass and no summary of a day runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from slowwave.identity import SessionRef
from slowwave.memory import Memory
from slowwave_server.domain.recall_figures import FIGURES, Estimate, Figures, estimate_mean
from slowwave_server.services.embeddings.indexing import Indexing, index
from slowwave_server.services.evaluation.recall_data import RecallAgent, RecallEvent, questions_at
from slowwave_server.services.evaluation.recall_ways import Way, bm25_ways
from slowwave_server.services.flush.flusher import Flusher
from slowwave_server.services.search.statistics import refresh_grown_scopes

RECORDED_AT_ONCE = 100
"""Messages of a call, the most that one takes."""


class EvaluationFailed(Exception):
    """A session of the data set could not be flushed; the message names it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The figures of one question, by search method."""

    agent: str
    category: str | None
    ways: Mapping[str, Figures]


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records events and makes them searchable. indexing: None without vectors."""

    memory: Memory
    flusher: Flusher
    indexing: Indexing | None = None

    def record(self, agent: str, events: Sequence[RecallEvent]) -> int:
        """Record events in order and flush their sessions. Return the number of new memories."""
        for session, run in groupby(events, key=lambda event: event.session):
            messages = [event.message for event in run]
            for begin in range(0, len(messages), RECORDED_AT_ONCE):
                self.memory.turn_completed(agent, session, messages[begin : begin + RECORDED_AT_ONCE])
        stored = sum(self.flush(agent, session) for session in dict.fromkeys(event.session for event in events))
        if events:
            self.settle()
        return stored

    def settle(self) -> None:
        """Count the words of scopes as if they had been quiet for a long time, and make vectors."""
        refresh_grown_scopes(self.flusher.engine, self.flusher.clock(), quiet_seconds=0)
        if self.indexing is not None:
            index(self.indexing)

    def flush(self, agent: str, session: str) -> int:
        """Flush a session to its end. Return the number of new memories."""
        self.memory.session_idle(agent, session)
        ref, stored, more = SessionRef(self.memory.tenant, agent, session), 0, True
        while more:
            self.flusher.queue.offer(ref, "normal")
            result = self.flusher.flush(ref)
            if result.outcome not in {"stored", "no_reply", "clean"}:
                raise EvaluationFailed(f"session {session} of agent {agent} was not flushed: {result.outcome}")
            stored += result.stored
            more = result.more
        return stored


@dataclass(slots=True)
class RecallEvaluation:
    """Counts, and the figures of every question."""

    agents: int = 0
    messages: int = 0
    memories: int = 0
    judged: list[Judged] = field(default_factory=list)

    def means(self, category: str | None = None) -> dict[str, dict[str, Estimate]]:
        """Return the mean of each figure by search method, over the questions of a category (None: over all)."""
        asked = [one for one in self.judged if category is None or one.category == category]
        groups = [one.agent for one in asked]
        return {
            way: {
                figure: estimate_mean([one.ways[way][figure] for one in asked], groups)
                for figure in FIGURES
                if figure in asked[0].ways[way]
            }
            for way in (asked[0].ways if asked else ())
        }

    @property
    def categories(self) -> list[str]:
        """Return the categories of the questions, sorted."""
        return sorted({one.category for one in self.judged if one.category is not None})


def evaluate_recall(
    agents: Iterable[RecallAgent],
    recorder: Recorder,
    ways: Mapping[str, Way],
    ways_of: Callable[[RecallAgent], Mapping[str, Way]] = bm25_ways,
    told: Callable[[RecallAgent], None] = lambda _agent: None,
) -> RecallEvaluation:
    """Record every agent and ask its questions. ways: search methods by name; ways_of: makes the methods that need an
    agent.

    told: a function that is called after each agent. Raises EvaluationFailed.
    """
    total = RecallEvaluation()
    for agent in agents:
        asked = {**ways, **ways_of(agent)}
        ids: dict[tuple[str, int], str] = {}
        numbers: dict[str, int] = {}
        done = 0
        for sees, questions in questions_at(agent):
            news = agent.events[done:sees]
            total.memories += recorder.record(agent.name, news)
            _number(news, numbers, ids)
            done = sees
            for question in questions:
                figures = {name: way(question, ids) for name, way in asked.items()}
                total.judged.append(Judged(agent.name, question.category, figures))
        total.agents += 1
        total.messages += done
        told(agent)
    return total


def _number(events: Iterable[RecallEvent], numbers: dict[str, int], ids: dict[tuple[str, int], str]) -> None:
    """Note the number that each event got in its session."""
    for event in events:
        for _ in range(event.recorded):
            numbers[event.session] = numbers.get(event.session, 0) + 1
            ids[event.session, numbers[event.session]] = event.id
