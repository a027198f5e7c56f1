"""The OpenAI Agents SDK with a memory: `python -m examples.openai_agents_memory`. No network, no key, no servers."""

import asyncio
import json
from collections.abc import Callable

from agents import Agent, RunConfig, Runner, SQLiteSession
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message

from examples import story
from examples.stack import own_stack, wait_for_memories
from slowwave import Memory
from slowwave.integrations.openai_agents import SlowwaveSession


def pretend(call: ModelCall) -> ModelStep:
    """Stand in for a model: the SDK's own ScriptedModel calls this."""
    return ModelStep([assistant_message(story.reply_to(json.dumps(call.input, ensure_ascii=False)))])


async def converse(memory: Memory, wait: Callable[[Memory], None]) -> str:
    """Hold both conversations, `wait` between them until the first is remembered; answer the last reply."""
    model = ScriptedModel([ModelStep.respond(pretend), ModelStep.respond(pretend)])
    agent = Agent("atlas", instructions="You book flights.", model=model)

    monday = await ask(
        agent, SlowwaveSession(memory, story.AGENT, SQLiteSession("monday"), user=story.PERSON), story.MONDAY
    )
    story.tell("Monday", story.MONDAY, monday)
    memory.session_idle(story.AGENT, "monday")
    wait(memory)

    tuesday = await ask(
        agent, SlowwaveSession(memory, story.AGENT, SQLiteSession("tuesday"), user=story.PERSON), story.TUESDAY
    )
    story.tell("Tuesday, in a new conversation", story.TUESDAY, tuesday)
    return tuesday


async def ask(agent: Agent[None], session: SlowwaveSession, question: str) -> str:
    """Run the agent: `session` records the turn, its filter gives the model the context."""
    run_config = RunConfig(call_model_input_filter=session.add_context, tracing_disabled=True)
    result = await Runner.run(agent, question, session=session, run_config=run_config)
    return str(result.final_output)


def main() -> None:
    """Run it on servers of its own."""
    with own_stack() as settings, Memory(settings) as memory:
        story.conclude(memory, asyncio.run(converse(memory, wait_for_memories)))


if __name__ == "__main__":
    main()
