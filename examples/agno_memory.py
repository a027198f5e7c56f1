"""Agno with a memory: `python -m examples.agno_memory`. No network, no key, no servers.

Agno keeps the conversations, in a SQLite file. Hooks only name each run, and workers read it there (`memory.source`).
"""

import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.response import ModelResponse

from examples import story
from examples.stack import DEADLINE_SECONDS, own_stack, wait_for_memories
from slowwave import Memory
from slowwave.integrations.agno import SlowwaveHooks


class Pretended(Model):
    """Stands in for a model: Agno calls it as it calls any other."""

    def invoke(self, *_: Any, messages: Sequence[Any] = (), **__: Any) -> ModelResponse:
        """Answer by the rule of the story, from all that Agno hands over."""
        prompt = "\n".join(str(message.content) for message in messages)
        return ModelResponse(role="assistant", content=story.reply_to(prompt))

    async def ainvoke(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """As `invoke`."""
        return self.invoke(*args, **kwargs)

    def invoke_stream(self, *args: Any, **kwargs: Any) -> Iterator[ModelResponse]:
        """As `invoke`, in one piece."""
        yield self.invoke(*args, **kwargs)

    async def ainvoke_stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ModelResponse]:
        """As `invoke`, in one piece."""
        yield self.invoke(*args, **kwargs)

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return ModelResponse(content=response)

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return ModelResponse(content=response)


def converse(memory: Memory, db: Any, wait: Callable[[Memory], None]) -> str:
    """Hold both conversations, `wait` between them until the first is remembered; answer the last reply.

    db: where Agno keeps them, which workers read as well.
    """
    hooks = SlowwaveHooks(memory, source="agno")
    agent = Agent(
        id=story.AGENT,
        model=Pretended(id="pretended"),
        db=db,
        instructions=hooks.instructions("You book flights."),
        pre_hooks=[hooks.before],
        post_hooks=[hooks.after],
        telemetry=False,
    )
    monday = agent.run(story.MONDAY, session_id="monday")
    story.tell("Monday", story.MONDAY, str(monday.content))
    wait(memory)

    tuesday = agent.run(story.TUESDAY, session_id="tuesday")
    story.tell("Tuesday, in a new conversation", story.TUESDAY, str(tuesday.content))
    hooks.close()
    return str(tuesday.content)


def wait_until_remembered(memory: Memory) -> None:
    """Wait until the workers have read what Agno keeps, and have made memories of it. Raises TimeoutError."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    pause = threading.Event()
    while not memory.session_idle(story.AGENT, "monday").last_seq:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the workers have not read Agno's session within {DEADLINE_SECONDS:.0f} s")
        pause.wait(0.05)
    wait_for_memories(memory)


def main() -> None:
    """Run it on servers of its own."""
    with tempfile.TemporaryDirectory(prefix="slowwave-example-agno-") as folder:
        store = f"sqlite:///{Path(folder) / 'agno.db'}"
        variables = {
            "SLOWWAVE_MEMORY__SOURCE": "agno",
            "SLOWWAVE_MEMORY__AGNO__DB_URL": store,
            "SLOWWAVE_MEMORY__AUTO_FLUSH__FLUSH_INTERVAL_SECONDS": "1",
        }
        with own_stack(variables) as settings, Memory(settings) as memory:
            story.conclude(memory, converse(memory, SqliteDb(db_url=store), wait_until_remembered))


if __name__ == "__main__":
    main()
