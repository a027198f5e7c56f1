"""Reads of an agent over HTTP: context and search."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from slowwave.recall import Format, Order
from slowwave.recall.search import MAX_LIMIT
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body

Scopes = Annotated[
    tuple[str, ...],
    Field(max_length=100, description="`room:NAME` or `team:NAME`: other scopes to read, besides the agent's own."),
]
Json = dict[str, Any]


class ContextWanted(Body):
    """The conversation of the next prompt."""

    session: str | None = Field(None, description="The session of the prompt; its own latest events are left out.")
    query: str | None = Field(None, description="The topic of the prompt.", examples=["Where do I live?"])
    days: Annotated[int, Field(ge=0, le=366)] | None = Field(
        None, description="The number of local days whose summaries are included."
    )
    scopes: Scopes = ()
    max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    format: Format = Field("markdown", description="The format of `text`.")
    noted: bool = Field(True, description="Whether the memories of the context count as shown to the session.")


class Context(Answer):
    """The context for the agent's next prompt."""

    model_config = ConfigDict(extra="allow", frozen=True)

    text: str = Field(description="The text for a prompt, in which quoted conversation is fenced as data.")
    tokens: int | None = Field(description="The number of tokens of `text`, if the request had `max_tokens`.")
    left_out: int = Field(description="The number of lines that did not fit.")
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
    """A search."""

    query: str = Field(examples=["Where does the customer live?"])
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = 10
    scopes: Scopes = ()
    include_review: bool = Field(False, description="Also memories that wait for a person's decision.")
    order: Order = Field("auto", description="`auto`: by time if the question asks for an order, else by relevance.")
    max_tokens: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    min_relevance: Annotated[float, Field(ge=0, le=1)] = 0.0
    min_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="Leave out hits with less than this share of the strongest hit's evidence."
    )
    now: AwareDatetime | None = Field(
        None, description="The time from which relative times in the query count; default: now."
    )
    around: Annotated[int, Field(ge=0, le=10)] = Field(0, description="Passages to add before and after an event.")


class Hit(Answer):
    """One memory or one event."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str = Field(description="A memory's id, or SESSION#SEQ of an event.")
    kind: Literal["memory", "event"]
    content: str
    score: float = Field(description="Higher is better; comparable within one answer only.")
    status: str
    valid_from: str = Field(description="The start of a memory's validity, or the time of an event, in ISO 8601.")
    valid_to: str | None
    sources: list[list[Any]] = Field(description="[session, seq] of every source event.")
    scope: str | None = Field(description="Null for the agent's own scope.")
    type: str
    speaker: str | None
    part: int | None
    relevance: float | None = Field(description="From 0 to 1, comparable between answers.")
    why: Json | None
    contradicts: list[str]


class Found(Answer):
    """The hits of a search, the best first."""

    hits: list[Hit]
