"""What tests of Agno share: agents on its real classes. Their model answers by a rule and keeps what it was sent."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse


@dataclass
class ScriptedModel(Model):
    """Answers with `answer(prompt)`; `seen` holds the messages of each call as (role, content)."""

    id: str = "scripted"
    answer: Callable[[str], str] = lambda prompt: f"Noted: {len(prompt)} characters."
    seen: list[list[tuple[str, str]]] = field(default_factory=list)

    def invoke(self, *args: Any, messages: Sequence[Any] = (), **kwargs: Any) -> ModelResponse:
        self.seen.append([(message.role, str(message.content)) for message in messages])
        return ModelResponse(role="assistant", content=self.answer(str(messages[-1].content)))

    async def ainvoke(self, *args: Any, **kwargs: Any) -> ModelResponse:
        return self.invoke(*args, **kwargs)

    def invoke_stream(self, *args: Any, **kwargs: Any) -> Iterator[ModelResponse]:
        yield self.invoke(*args, **kwargs)

    async def ainvoke_stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ModelResponse]:
        yield self.invoke(*args, **kwargs)

    def _parse_provider_response(self, response: Any, **kwargs: Any) -> ModelResponse:
        return ModelResponse()

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return ModelResponse()

    @property
    def system(self) -> str:
        """The system message of the last call."""
        return "\n".join(content for role, content in self.seen[-1] if role == "system")


def make_agent(hooks: Any = None, *, awaited: bool = False, **options: Any) -> Agent:
    """An agent `maya` that speaks to no network; hooks: SlowwaveHooks, awaited: for `arun`."""
    if hooks is not None:
        options["pre_hooks"] = [hooks.abefore if awaited else hooks.before]
        options["post_hooks"] = [hooks.aafter if awaited else hooks.after]
        options.setdefault("instructions", hooks.instructions("You keep a household."))
    options.setdefault("model", ScriptedModel())
    return Agent(id="maya", telemetry=False, **options)


@dataclass
class CallingModel(ScriptedModel):
    """Calls tools first: of each step (text or None, tool, arguments as JSON); then it answers as any other."""

    steps: list[tuple[str | None, str, str]] = field(default_factory=list)

    def invoke(self, *args: Any, messages: Sequence[Any] = (), **kwargs: Any) -> ModelResponse:
        if not self.steps:
            return super().invoke(*args, messages=messages, **kwargs)
        text, tool, arguments = self.steps.pop(0)
        call = {"id": f"c{len(self.steps)}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        return ModelResponse(role="assistant", content=text, tool_calls=[call])


def book(seat: str) -> str:
    """Book a seat."""
    if seat == "4A":
        raise ValueError("4A is taken")
    return f'{{"seat": "{seat}", "status": "booked"}}'


CALLS: list[tuple[str | None, str, str]] = [
    ("Let me see.", "book", '{"seat": "4A"}'),
    (None, "book", '{"seat": "4B"}'),
]
TOLD = [
    ("user", "user", "Book me a seat.", None),
    ("assistant", "assistant", "Let me see.", None),
    ("tool", "tool_call", 'book(seat="4A")', None),
    ("tool", "tool", "4A is taken", "true"),
    ("tool", "tool_call", 'book(seat="4B")', None),
    ("tool", "tool", "seat: 4B\nstatus: booked", None),
]
"""What `CALLS` make of "Book me a seat.": kind, role, content and error of each event; behind them comes the answer."""
