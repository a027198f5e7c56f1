"""Pydantic AI with a memory: `python -m examples.pydantic_ai_memory`. No network, no key, no servers."""

import asyncio
from collections.abc import Callable

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from examples import story
from examples.stack import own_stack, wait_for_memories
from slowwave import Memory
from slowwave.integrations.pydantic_ai import SlowwaveMemory


def pretend(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """Stand in for a model: Pydantic AI's own FunctionModel calls this."""
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    return ModelResponse([TextPart(story.reply_to("\n".join(str(part.content) for part in parts)))])


async def converse(memory: Memory, wait: Callable[[Memory], None]) -> str:
    """Hold both conversations, `wait` between them until the first is remembered; answer the last reply."""
    capability = SlowwaveMemory(memory, story.AGENT, session=lambda run: run.deps, user=story.PERSON)
    agent = Agent(FunctionModel(pretend), deps_type=str, capabilities=[capability], instructions="You book flights.")

    monday = await agent.run(story.MONDAY, deps="monday")
    story.tell("Monday", story.MONDAY, monday.output)
    memory.session_idle(story.AGENT, "monday")
    wait(memory)

    tuesday = await agent.run(story.TUESDAY, deps="tuesday")
    story.tell("Tuesday, in a new conversation", story.TUESDAY, tuesday.output)
    return str(tuesday.output)


def main() -> None:
    """Run it on servers of its own."""
    with own_stack() as settings, Memory(settings) as memory:
        story.conclude(memory, asyncio.run(converse(memory, wait_for_memories)))


if __name__ == "__main__":
    main()
