"""Memory for agents and teams of Agno: a pre-hook reads it, a post-hook writes to it (extra `agno`).

    hooks = SlowwaveHooks(Memory.from_env())
    agent = Agent(
        id="travel",
        model=…,
        db=SqliteDb(…),
        instructions=hooks.instructions("You plan journeys."),
        pre_hooks=[hooks.before],
        post_hooks=[hooks.after],
    )

With `arun`, use `hooks.abefore` and `hooks.aafter`, which do not block the event loop. A private run (`is_private`)
gets a context from memory but is not recorded.
"""

import asyncio
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as CallTimedOut
from functools import partial
from typing import Any, Literal

from slowwave.async_memory import AsyncMemory
from slowwave.external_runs import name_run
from slowwave.integrations.agno_runs import SaidMessage, is_private, prompt_of, said_in
from slowwave.integrations.safe import MAX_TOKENS, NO_CONTEXT, PromptContext, SafeMemory
from slowwave.memory import Memory
from slowwave.messages import MAX_MESSAGES
from slowwave.prompt_notice import NOTICE

log = logging.getLogger(__name__)

THREADS = 4
CONTEXTS_KEPT = 512
QUERY_CHARACTERS = 1000

Source = Literal["events", "agno"]
AgentName = str | Callable[[str | None], str]

# Agno replaces {name} in instructions by session state, and `$` begins a variable: escape both, so that a text from the
# memory stays unchanged and can't reveal session state.
_PLACE = re.compile(r"\{(?=\w)")


class SlowwaveHooks:
    """Hooks for one or many agents or teams of Agno. A hook never raises into a run, and delays the run only briefly.

    agent: the agent's name in Slowwave. The default is the id of Agno's agent or team, or its name if it has no id. For
    an agent that serves many people, pass a function that maps the user's id to a name; each name has a separate
    memory.
    scope: the scope that sessions write to, "room:NAME" or "team:NAME". scopes: further scopes to read.
    user: the name of the person who speaks, used with the source "events".
    source: "events" records the messages; "agno" only names the run, and workers read it from Agno's store. The default
    is `memory.source` of the settings.
    timeout_seconds: the longest time that a hook waits for the memory. After it the work continues in a thread, and a
    run whose context is late starts without a context.
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        *,
        agent: AgentName | None = None,
        scope: str | None = None,
        scopes: Sequence[str] = (),
        user: str | None = None,
        source: Source | None = None,
        max_tokens: int = MAX_TOKENS,
        timeout_seconds: float = 1.0,
    ) -> None:
        self._memory = memory.memory if isinstance(memory, AsyncMemory) else memory
        self._agent = agent
        self._options: dict[str, Any] = {"scope": scope, "scopes": scopes, "user": user, "max_tokens": max_tokens}
        # An invalid name is a mistake in the host's code, so raise at once.
        SafeMemory(self._memory, agent if isinstance(agent, str) else "agent", **self._options)
        rules = self._memory.store.settings.memory
        self._source: Source = source or rules.source
        self._look_after = rules.auto_flush.idle_seconds
        self._scope = scope
        self._timeout_seconds = timeout_seconds
        self._contexts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None
        self._pid = 0

    def before(
        self, run_input: Any, run_context: Any, session: Any, agent: Any = None, team: Any = None, user_id: Any = None
    ) -> None:
        """Agno's pre-hook: flush the agent's other sessions first, and read the context for `instructions`."""
        if future := self._begin(run_input, run_context, session, agent or team, user_id):
            self._wait(future, "there is no context yet")

    async def abefore(
        self, run_input: Any, run_context: Any, session: Any, agent: Any = None, team: Any = None, user_id: Any = None
    ) -> None:
        """As `before`, for `arun`."""
        if future := self._begin(run_input, run_context, session, agent or team, user_id):
            await self._await(future, "there is no context yet")

    def after(
        self, run_output: Any, run_context: Any, session: Any, agent: Any = None, team: Any = None, user_id: Any = None
    ) -> None:
        """Agno's post-hook: record the messages of the run, or name the run for the workers."""
        if future := self._end(run_output, run_context, session, agent or team, user_id):
            self._wait(future, "recording goes on in a thread")

    async def aafter(
        self, run_output: Any, run_context: Any, session: Any, agent: Any = None, team: Any = None, user_id: Any = None
    ) -> None:
        """As `after`, for `arun`."""
        if future := self._end(run_output, run_context, session, agent or team, user_id):
            await self._await(future, "recording goes on in a thread")

    def instructions(self, *own: str) -> Callable[..., str]:
        """Return instructions for an agent or a team: its own, followed by the context, fenced as data."""

        def with_memory(agent: Any = None, team: Any = None, run_context: Any = None) -> str:
            known = self._contexts.get(getattr(run_context, "run_id", None) or "", "")
            if getattr(agent or team, "resolve_in_context", True):
                known = _PLACE.sub("{ ", known).replace("$", "$$")
            return "\n\n".join(part for part in (*own, known) if part)

        return with_memory

    def close(self) -> None:
        """Wait for the threads that hooks started. The memory stays open, and the hooks stay usable."""
        with self._lock:
            threads, self._threads = self._threads, None
        if threads is not None and self._pid == os.getpid():
            threads.shutdown()

    def _begin(self, run_input: Any, context: Any, session: Any, who: Any, user_id: Any) -> "Future[None] | None":
        safe = self._safe(who, user_id)
        if safe is None:
            return None
        query = prompt_of(run_input)[:QUERY_CHARACTERS] or None
        private = is_private(session, context)

        def work() -> None:
            safe.boost(context.session_id)
            if self._source == "agno" and not private:
                # Name the run before it begins: even if this process dies, workers look for the run.
                self._name(safe, context, wait_seconds=self._look_after)
            self._keep(context.run_id, safe.read(context.session_id, query))

        return self._submit(work)

    def _end(self, run: Any, context: Any, session: Any, who: Any, user_id: Any) -> "Future[None] | None":
        with self._lock:
            self._contexts.pop(context.run_id, None)
        safe = self._safe(who, user_id)
        if safe is None or is_private(session, context, run):
            return None
        if self._source == "agno":
            return self._submit(partial(self._name, safe, context))
        # Read the run now, because Agno may change it later.
        said = safe.safely("a turn was not recorded", context.session_id, partial(said_in, run), [])
        return self._submit(partial(self._record, safe, context.session_id, said)) if said else None

    def _name(self, safe: SafeMemory, context: Any, *, wait_seconds: float = 0.0) -> None:
        call = partial(
            name_run,
            self._memory,
            safe.agent,
            context.session_id,
            context.run_id,
            source="agno",
            wait_seconds=wait_seconds,
            scope=self._scope,
        )
        safe.safely("a run was not named", context.session_id, call, None)

    def _record(self, safe: SafeMemory, session: str, said: Sequence[SaidMessage]) -> None:
        for start in range(0, len(said), MAX_MESSAGES):
            part = said[start : start + MAX_MESSAGES]
            call = partial(self._memory.turn_completed, safe.agent, session, part, scope=self._scope)
            safe.safely("a turn was not recorded", session, call, None)

    def _keep(self, run_id: str, known: PromptContext) -> None:
        if known is NO_CONTEXT or not known:
            return
        with self._lock:
            self._contexts[run_id] = f"{NOTICE}\n\n{known.text}"
            if len(self._contexts) > CONTEXTS_KEPT:
                self._contexts.popitem(last=False)

    def _safe(self, who: Any, user_id: Any) -> SafeMemory | None:
        """Return the memory of the agent that runs; None, with a log line, if the run names no agent."""
        try:
            if callable(self._agent):
                name = self._agent(user_id)
            else:
                name = self._agent or getattr(who, "id", None) or getattr(who, "name", None) or ""
            return SafeMemory(self._memory, name, **self._options)
        except Exception as error:  # noqa: BLE001 (a run must go on, whatever became of its memory)
            log.warning("a run has no memory, because its agent is unknown (%s)", type(error).__name__)
            return None

    def _submit(self, work: Callable[[], None]) -> "Future[None]":
        with self._lock:
            # A forked child has none of its parent's threads.
            if self._threads is None or self._pid != os.getpid():
                self._threads, self._pid = ThreadPoolExecutor(THREADS, thread_name_prefix="slowwave-agno"), os.getpid()
            return self._threads.submit(work)

    def _wait(self, future: "Future[None]", otherwise: str) -> None:
        try:
            future.result(self._timeout_seconds)
        except CallTimedOut:
            log.warning("the memory took more than %s s: %s", self._timeout_seconds, otherwise)

    async def _await(self, future: "Future[None]", otherwise: str) -> None:
        _, pending = await asyncio.wait([asyncio.wrap_future(future)], timeout=self._timeout_seconds)
        if pending:
            log.warning("the memory took more than %s s: %s", self._timeout_seconds, otherwise)
