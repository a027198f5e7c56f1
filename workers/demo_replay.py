"""Replay the demo: conversations, passes, a question, an undo and a context, on a real stack.

The output is not prepared: the replay reads the data that the workers committed.

It uses only the public interface.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from redis import Redis
from rich.console import Console
from sqlalchemy import Engine

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.coordination.consolidation_queue import ask_for_pass
from slowwave.settings import Settings
from slowwave_server.models.engine import make_engine
from slowwave_server.services.reports.memories import list_memories
from slowwave_server.services.reports.review import Asked, ListedQuestion, list_questions, what_answers_do
from slowwave_server.services.reports.run_list import list_runs
from slowwave_server.services.reports.runs import RunStory, read_run
from slowwave_server.services.review.decision import Decision
from slowwave_server.services.review.decisions import decide_cases
from slowwave_server.services.undo.undo import undo
from slowwave_server.workers import demo_story as story
from slowwave_server.workers.demo_page import DemoPage, Flushed

DEADLINE_SECONDS = 60.0
_SCOPE = ("agent", story.AGENT)
_FLUSHED = (
    "SELECT f.redactions FROM slowwave.flushes f JOIN slowwave.sessions s ON s.id = f.session_id"
    " WHERE s.name = %s ORDER BY f.id DESC LIMIT 1"
)


class DemoFailed(Exception):
    """An expected result of the demo did not happen; the message names it."""


class Replay:
    """Replays the two weeks that end at `now` on the servers of `settings`, and prints the results."""

    def __init__(self, settings: Settings, console: Console, now: datetime) -> None:
        self._settings = settings
        self._tenant = settings.tenant
        self._page = DemoPage(console)
        self._now = now
        self._begin = (now - timedelta(days=story.DAYS)).replace(hour=9, minute=0, second=0, microsecond=0)
        self._memory = Memory(settings, raise_errors=True)
        self._engine: Engine = make_engine(settings.database_url)
        self._broker: Redis = connect_broker(settings)

    def run(self) -> None:
        """Replay everything. Raises DemoFailed."""
        try:
            self._page.step("Week one", f"{story.PERSON} talks, and workers read each conversation when it ends")
            self._talk(story.WEEK_ONE)
            self._page.step("A worker tidies up", "in a light pass, which runs every few minutes")
            self._tidy()
            self._page.step("Week two")
            self._talk(story.WEEK_TWO)
            self._page.step("A worker tidies up again")
            self._tidy()
            self._page.step(
                "No rule decides between two memories", f"so {story.OPERATOR}, who runs the agent, is asked"
            )
            self._ask()
            self._page.step("What the agent knows today")
            self._recall()
        finally:
            self._memory.close()
            self._engine.dispose()
            self._broker.close()

    def _talk(self, chats: Sequence[story.Chat]) -> None:
        for chat in chats:
            at = self._begin + timedelta(days=chat.day)
            turn = [
                {"role": "user", "name": story.PERSON, "content": chat.said, "at": at},
                {"role": "assistant", "content": chat.answered, "at": at + timedelta(minutes=1)},
            ]
            self._memory.turn_completed(story.AGENT, chat.session, turn, key=chat.session)
            self._memory.session_idle(story.AGENT, chat.session)
            self._wait(f"the flush of {chat.session!r}", lambda: self._memory.status().dirty_sessions == 0)
            self._page.said(at, story.PERSON, chat.said, self._flushed(chat.session))

    def _flushed(self, session: str) -> Flushed:
        with self._engine.connect() as connection:
            memories = list_memories(connection, self._tenant, story.AGENT, session=session)
            redactions: int = connection.exec_driver_sql(_FLUSHED, (session,)).scalar_one()
        return Flushed(tuple(memory.content for memory in memories), redactions)

    def _tidy(self) -> None:
        before = self._newest_run()
        ask_for_pass(self._broker, self._tenant, *_SCOPE, "light")
        self._wait("a light pass", lambda: self._newest_run(finished=True) > before)
        self._page.tidied(self._story(self._newest_run()))

    def _newest_run(self, *, finished: bool = False) -> int:
        with self._engine.connect() as connection:
            runs = list_runs(connection, self._tenant, scope=_SCOPE)
        return max((run.id for run in runs if run.completed_at is not None or not finished), default=0)

    def _story(self, run: int) -> RunStory:
        with self._engine.connect() as connection:
            return read_run(connection, self._tenant, run)

    def _ask(self) -> None:
        question = self._open_question()
        (conflict,) = question.conflicts
        answers = {
            "the later one holds": Decision("keep", conflict.newer.id),
            "the earlier one holds": Decision("keep", conflict.older.id),
            "both hold": Decision("reject"),
            "neither holds": Decision("neither"),
            "both mean the same": Decision("merge"),
        }
        names = {conflict.newer.id: "the later one", conflict.older.id: "the earlier one"}
        with self._engine.connect() as connection:
            effects = what_answers_do(connection, self._tenant, "conflict", conflict.id, answers, names)
        self._page.asked(question, effects)
        self._undo(self._answer("neither holds", answers))
        if self._open_question().id != question.id:
            raise DemoFailed(f"question {question.id} should be open again")
        self._answer("the later one holds", answers)

    def _open_question(self) -> ListedQuestion:
        with self._engine.connect() as connection:
            asked = list_questions(connection, self._tenant, Asked(_SCOPE))
        if len(asked) != 1 or len(asked[0].conflicts) != 1:
            raise DemoFailed(f"one question about one contradiction should be open, not {len(asked)}")
        return asked[0]

    def _answer(self, words: str, answers: Mapping[str, Decision]) -> int:
        """Answer the open question, and return the number of the run."""
        conflict = self._open_question().conflicts[0].id
        by, now = story.OPERATOR, self._now
        report = decide_cases(self._engine, self._tenant, "conflict", [conflict], answers[words], by=by, now=now)
        if report.run is None:
            raise DemoFailed(f"the answer was refused: {report.results[0].text}")
        self._page.answered(by, words, report)
        return report.run

    def _undo(self, run: int) -> None:
        report = undo(self._engine, self._tenant, run, by=story.OPERATOR, now=self._now)
        self._page.undone(story.OPERATOR, report, self._story(report.run))

    def _recall(self) -> None:
        self._memory.prompt_arrived(story.AGENT, story.TODAY)
        context = self._memory.context(story.AGENT, session=story.TODAY, query=story.QUESTION).to_text()
        hits = self._memory.search(story.AGENT, story.QUESTION, limit=4)
        then = self._begin + timedelta(days=story.WEEK_TWO[0].day - 1)
        with self._engine.connect() as connection:
            held = list_memories(connection, self._tenant, story.AGENT, as_of=then)
        self._page.known(story.PERSON, story.QUESTION, context, hits)
        self._page.held(then, [memory.content for memory in held])
        for fact in story.EXPECTED:
            if fact not in context:
                raise DemoFailed(f"the context of the last prompt does not say {fact!r}")

    def _wait(self, what: str, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        pause = threading.Event()
        while not done():
            if time.monotonic() > deadline:
                raise DemoFailed(f"waited {DEADLINE_SECONDS:.0f} s for {what}")
            pause.wait(0.02)
