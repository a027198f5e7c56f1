"""LangGraph with a memory: `python -m examples.langgraph_memory`. No network, no key, no servers."""

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from examples import story
from examples.stack import own_stack, wait_for_memories
from slowwave import Memory
from slowwave.integrations.langgraph import SlowwaveTurns
from slowwave.integrations.langgraph_store import SlowwaveStore


class PretendedModel(BaseChatModel):
    """Stands in for a model: a chat model of LangChain's that follows the story's rule."""

    @property
    def _llm_type(self) -> str:
        return "pretended"

    def _generate(self, messages: list[BaseMessage], *_args: Any, **_options: Any) -> ChatResult:
        answer = story.reply_to("\n".join(str(message.text) for message in messages))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def build(memory: Memory) -> Any:
    """Make a graph of two nodes: one answers with the agent's context, one records the turn."""
    model, turns = PretendedModel(), SlowwaveTurns(memory, story.AGENT, user=story.PERSON)

    async def answer(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        known = await turns.acontext(state["messages"], config)
        return {"messages": [await model.ainvoke([*known, *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_node("record", turns.node())
    graph.add_edge(START, "answer")
    graph.add_edge("answer", "record")
    graph.add_edge("record", END)
    return graph.compile(checkpointer=InMemorySaver(), store=SlowwaveStore(memory, story.AGENT))


async def converse(memory: Memory, wait: Callable[[Memory], None]) -> str:
    """Hold both conversations, `wait` between them until the first is remembered; answer the last reply."""
    graph = build(memory)
    story.tell("Monday", story.MONDAY, await ask(graph, "monday", story.MONDAY))
    memory.session_idle(story.AGENT, "monday")
    wait(memory)

    tuesday = await ask(graph, "tuesday", story.TUESDAY)
    story.tell("Tuesday, in a new conversation", story.TUESDAY, tuesday)
    found = await graph.store.asearch(("agent", story.AGENT), query="Which seat does Maya like?")
    print(f"\nThe graph's store finds: {found[0].value['content']}" if found else "\nThe graph's store finds nothing.")
    return tuesday


async def ask(graph: Any, thread: str, question: str) -> str:
    """Put a question to the graph in one of its threads."""
    state = await graph.ainvoke({"messages": [("user", question)]}, {"configurable": {"thread_id": thread}})
    return str(state["messages"][-1].text)


def main() -> None:
    """Run it on servers of its own."""
    with own_stack() as settings, Memory(settings) as memory:
        story.conclude(memory, asyncio.run(converse(memory, wait_for_memories)))


if __name__ == "__main__":
    main()
