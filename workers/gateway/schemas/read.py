"""What an agent reads over HTTP: context and search."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from slowwave.recall import Format, Order
from slowwave.recall.search import MAX_LIMIT
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body

Scopes = Annotated[
    tuple[str, ...], Field(max_length=100, description="`room:NAME` or `team:NAME`, read besides the agent's own.")
]
Json = dict[str, Any]


class ContextWanted(Body):
    """The conversation that needs the context."""

    session: str | None = Field(None, description="The session that asks: its own tail is left out.")
    query: str | None = Field(None, description="What the conversation is about.", examples=["Where do I live?"])
    days: Annotated[int, Field(ge=0, le=366)] | None = Field(None, description="How many local days count as recent.")
    scopes: Scopes = ()
    max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    format: Format = Field("markdown", description="The form of `text`.")
    noted: bool = Field(True, description="Whether the memories of the context count as shown to the session.")


class Context(Answer):
    """What the agent should know."""

    model_config = ConfigDict(extra="allow", frozen=True)

    text: str = Field(description="For a prompt; what was said stands fenced, as data.")
    tokens: int | None = Field(description="What `text` takes, where `max_tokens` was given.")
    left_out: int = Field(description="How many lines found no room.")
    instructions: tuple[Json, ...] = ()
    instructions_left_out: int = 0
    profile: tuple[Json, ...] = ()
    days: tuple[Json, ...] = ()
    memories: tuple["Hit", ...] = ()
    passages: tuple["Hit", ...] = ()
    recent: tuple["Hit", ...] = ()
    conflicts: tuple[Json, ...] = ()
    elsewhere: tuple[Json, ...] = ()
    span: int = 2


class SearchWanted(Body):
    """A question."""

    query: str = Field(examples=["Where does the customer live?"])
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    scopes: Scopes = ()
    include_review: bool = Field(False, description="Also memories that wait for a person's decision.")
    order: Order = Field("auto", description="`relevance`, `time`, or `auto`: by time for questions of order.")
    max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    min_relevance: Annotated[float, Field(ge=0, le=1)] = 0.0
    now: AwareDatetime | None = Field(None, description="When the question is asked; at the moment, if left out.")
    around: Annotated[int, Field(ge=0, le=10)] = Field(0, description="Passages before and behind an event.")


class Hit(Answer):
    """One memory or one event."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str = Field(description="A memory's id, or SESSION#SEQ of an event.")
    kind: Literal["memory", "event"]
    content: str
    score: float = Field(description="Higher is better, comparable within one answer.")
    status: str
    valid_from: str = Field(description="Since when it holds, or when it was said, in ISO 8601.")
    valid_to: str | None
    sources: list[list[Any]] = Field(description="[session, seq] of every event that says it.")
    scope: str | None = Field(description="Null for the agent's own.")
    type: str
    speaker: str | None
    part: int | None
    relevance: float | None = Field(description="From 0 to 1, comparable between answers.")
    why: Json | None
    contradicts: list[str]


class Found(Answer):
    """What answers a question, the best first."""

    hits: list[Hit]
