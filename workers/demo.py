"""`slowwave demo`: conversations become memories before your eyes, on servers of their own, and nothing stays behind.

Everything in it is real: an embedded Postgres and Valkey in a temporary folder, two worker processes, beat and Flower.

Must not know: how the stack starts, how memories are made; it only uses what every user has.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.coordination.flush_queue import FlushQueue
from slowwave.identity import SessionRef
from slowwave.recall.hits import Hit
from slowwave.settings import PREFIX
from slowwave_server.models.engine import make_engine
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.services.reports.why import why_waiting
from slowwave_server.workers import demo_story as story
from slowwave_server.workers.app import utc_now
from slowwave_server.workers.stack.errors import StackError
from slowwave_server.workers.stack.stack import Stack, StackOptions

DEADLINE_SECONDS = 60.0


class DemoFailed(Exception):
    """Something that the demo promises did not happen; the message says what."""


def run_demo(console: Console) -> int:
    """Replay the story and answer the exit code: 0 if the fact of session A was known in session B."""
    began = time.monotonic()
    # Servers of its own: whatever the shell's variables name is somebody's data.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with tempfile.TemporaryDirectory(prefix="slowwave-demo-") as folder:
        options = StackOptions(data=Path(folder) / "data")
        try:
            with Stack(options, _say(console), environment) as stack:
                console.print(f"everything is up after {time.monotonic() - began:.1f} s\n")
                _Replay(stack, console, Path(folder) / "spool").run()
        except (DemoFailed, StackError) as error:
            console.print(f"[bold red]the demo failed:[/] {escape(str(error))}")
            return 1
        except KeyboardInterrupt:
            console.print("stopped; nothing is left running")
            return 130
    console.print(f"[dim]everything is stopped again, after {time.monotonic() - began:.1f} s in all[/]")
    return 0


class _Replay:
    def __init__(self, stack: Stack, console: Console, spool: Path) -> None:
        self._console = console
        self._settings = stack.settings.model_copy(update={"spool": spool})
        self._flower = stack.flower_url
        self._memory = Memory(self._settings, raise_errors=True)
        self._engine = make_engine(self._settings.database_url)
        self._queue = FlushQueue(connect_broker(self._settings))

    def run(self) -> None:
        try:
            self._capture()
            self._before()
            seconds = self._boost()
            hits = self._answer(seconds)
            self._explain(hits)
            self._once_more()
            self._conclude(hits)
        finally:
            self._memory.close()
            self._engine.dispose()

    def _capture(self) -> None:
        self._heading("1", f"{story.PERSON} talks to the agent in two sessions", "every hook returns after its commit")
        for session, turns in ((story.SESSION_A, story.TURNS_A), (story.SESSION_OTHER, story.TURNS_OTHER)):
            for number, turn in enumerate(turns):
                start = time.perf_counter()
                receipt = self._memory.turn_completed(story.AGENT, session, turn, key=f"demo:{session}:{number}")
                took = (time.perf_counter() - start) * 1000
                said = escape(turn[0]["content"])
                self._console.print(
                    f"  [cyan]captured[/] {session:>5} #{receipt.last_seq:<2} [dim]{took:4.1f} ms[/]  {said}"
                )

    def _before(self) -> None:
        self._heading("2", "Nothing is flushed yet, and the system can say why")
        for session in (story.SESSION_A, story.SESSION_OTHER):
            ref = SessionRef(self._settings.tenant, story.AGENT, session)
            with self._engine.connect() as connection:
                why = why_waiting(connection, self._queue, ref, self._settings.memory.auto_flush, now=utc_now())
            self._console.print(f"  [cyan]why[/] {session:>5}  {escape(why.sentence)}")

    def _boost(self) -> float:
        self._heading(
            "3", f"A prompt arrives in a third session: “{story.QUESTION}”", "its other sessions come first now"
        )
        start = time.perf_counter()
        boosted = self._memory.prompt_arrived(story.AGENT, story.SESSION_B)
        self._console.print(
            f"  [magenta]boosted[/] {', '.join(boosted)} [dim]in {(time.perf_counter() - start) * 1000:.1f} ms; "
            "the reply does not wait[/]"
        )
        if set(boosted) != {story.SESSION_A, story.SESSION_OTHER}:
            raise DemoFailed(f"both other sessions should have been boosted, not {boosted}")
        self._wait("the boosted sessions to be flushed", lambda: self._memory.status().dirty_sessions == 0)
        seconds = time.perf_counter() - start
        with self._engine.connect() as connection:
            flushes = connection.exec_driver_sql(
                "SELECT s.name, f.from_seq, f.to_seq, f.stored, f.noise, f.redactions FROM slowwave.flushes f"
                " JOIN slowwave.sessions s ON s.id = f.session_id ORDER BY f.id"
            ).all()
        for name, first, last, stored, noise, redactions in flushes:
            self._console.print(
                f"  [green]flushed[/] {name:>5} events {first} to {last}: {stored} memories, {noise} left as noise, "
                f"{redactions} secrets redacted"
            )
        return seconds

    def _answer(self, seconds: float) -> list[Hit]:
        self._heading(
            "4", f"What the agent knows in session “{story.SESSION_B}”, {seconds * 1000:.0f} ms after the prompt"
        )
        context = self._memory.context(story.AGENT, session=story.SESSION_B, query=story.LOOK_UP)
        self._console.print(Panel(escape(context.to_text().strip()), title="context()", border_style="dim"))
        hits = self._memory.search(story.AGENT, story.LOOK_UP, limit=5)
        table = Table("score", "kind", "content", "said in", title="search()", title_justify="left")
        for hit in hits:
            table.add_row(f"{hit.score:.2f}", hit.kind, escape(hit.content), _origin(hit))
        self._console.print(table)
        return hits

    def _explain(self, hits: list[Hit]) -> None:
        self._heading("5", "Why each memory exists")
        for hit in hits:
            if hit.kind != "memory":
                continue
            with self._engine.connect() as connection:
                reasons = explain_memory(connection, self._settings.tenant, UUID(hit.id))
            source = reasons.sources[0]
            self._console.print(
                f"  [bold]{escape(reasons.content)}[/]\n"
                f"    {reasons.type}, confidence {reasons.confidence:.2f}, importance {reasons.importance:.2f}: "
                f"{escape(', '.join(reasons.signals))}\n"
                f"    [dim]said by {escape(source.name or source.role)} in {source.session} #{source.seq}: "
                f"“{escape(source.content)}”[/]"
            )

    def _once_more(self) -> None:
        self._heading("6", "The same turn once more, as after a retry")
        receipt = self._memory.turn_completed(
            story.AGENT, story.SESSION_A, story.TURNS_A[0], key=f"demo:{story.SESSION_A}:0"
        )
        self._console.print(
            f"  [cyan]captured[/] added {receipt.added}, repeated {receipt.repeated}: nothing is doubled"
        )
        if receipt.added:
            raise DemoFailed("a repeated turn was recorded twice")

    def _conclude(self, hits: list[Hit]) -> None:
        told = [h for h in hits if h.kind == "memory" and all(s == story.SESSION_A for s, _ in h.sources)]
        for word in story.EXPECTED:
            if not any(word in hit.content for hit in told):
                raise DemoFailed(f"no memory from session {story.SESSION_A!r} that says {word!r} was found")
        fact = next(hit for hit in told if story.EXPECTED[0] in hit.content)
        seen = f"  [dim](Flower showed the tasks at {self._flower})[/]" if self._flower else ""
        self._console.print(f"\n[bold]told in session “{story.SESSION_A}”:[/]  “{story.TURNS_A[2][0]['content']}”")
        self._console.print(f"[bold]asked in session “{story.SESSION_B}”:[/] “{story.QUESTION}”")
        self._console.print(f"[bold green]answered from memory:[/]  {escape(fact.content)}  ({_origin(fact)}){seen}")

    def _heading(self, number: str, text: str, aside: str = "") -> None:
        self._console.print(f"\n[bold]{number}. {escape(text)}[/]" + (f"  [dim]{escape(aside)}[/]" if aside else ""))

    def _wait(self, what: str, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        pause = threading.Event()
        while not done():
            if time.monotonic() > deadline:
                raise DemoFailed(f"waited {DEADLINE_SECONDS:.0f} s for {what}")
            pause.wait(0.02)


def _origin(hit: Hit) -> str:
    return ", ".join(f"{session} #{seq}" for session, seq in hit.sources)


def _say(console: Console) -> Callable[[str, str], None]:
    def say(part: str, line: str) -> None:
        console.print(f"[cyan]{escape(part):>12}[/]  {escape(line)}", highlight=False, soft_wrap=True)

    return say
