"""Agents, days, requests, forgets and runs, as JSON."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Agent(Answer):
    """One agent. sessions and dirty are counted up to 1,000."""

    agent: str
    timezone: str
    cutoff_hour: int
    created_at: datetime
    sessions: int
    dirty: int = Field(description="Sessions with events that no flush has read.")
    oldest_dirty_at: datetime | None


class AgentPage(Page):
    """One page of agents, by name."""

    items: list[Agent]


class Day(Answer):
    """A local day of an agent in a scope, and how far it is summarised."""

    agent: str
    scope: str | None = Field(description="Null for the agent's own scope.")
    day: date
    status: Literal["open", "settling", "final"]
    version: int
    total_messages: int
    messages_since_last_summary: int
    finalized_at: datetime | None
    last_error: str | None


class DayPage(Page):
    """One page of days, the newest first."""

    items: list[Day]


class DaySummary(Answer):
    """One version of a day's summary."""

    version: int
    final: bool
    messages: int
    segments: int
    made_by: str
    summarizer: str
    made_at: datetime
    text: str
    lines: list[dict[str, Any]]


class DayStory(Day):
    """A day with one version of its summary."""

    versions: list[int]
    summary: DaySummary | None


class Why(Answer):
    """Why a session waits."""

    reason: str
    sentence: str
    until: datetime | None
    also: list[str]
    cure: str | None


class Request(Answer):
    """A request to a worker, and its result."""

    id: UUID
    kind: Literal["correct", "archive", "forget_preview", "forget", "undo"]
    state: Literal["waiting", "running", "done", "failed"]
    created_at: datetime
    finished_at: datetime | None
    result: dict[str, Any] | None
    error: str | None


class ForgetTarget(Body):
    """The target of a forget: an agent, a session of an agent, a scope, or a memory."""

    agent: Name | None = None
    session: Name | None = Field(default=None, description="Goes with `agent`.")
    scope: Annotated[str, StringConstraints(max_length=205)] | None = Field(
        default=None, description="`room:NAME`, `team:NAME`, or `agent:NAME` for an agent's own scope."
    )
    memory: UUID | None = None

    @model_validator(mode="after")
    def _names_one_thing(self) -> "ForgetTarget":
        if sum(given is not None for given in (self.agent, self.scope, self.memory)) != 1:
            raise ValueError("give one of agent, scope and memory; session goes with agent")
        if self.session is not None and self.agent is None:
            raise ValueError("session needs agent: sessions are known by both")
        return self


class ForgetPreview(Answer):
    """What would go. Confirm within 7 days with `POST /v1/forgets/{id}/confirm`."""

    id: UUID
    target: str
    counts: dict[str, int]
    sessions: list[str] = Field(description="Some of the conversations that would go.")
    hints: list[str]
    confirm: str = Field(description="Repeat it to confirm.")


class ForgetConfirmation(Body):
    """Repeats what the preview asked for."""

    confirm: Annotated[str, StringConstraints(max_length=210)]


class Forgotten(Answer):
    """What went. It can't be undone."""

    receipt: int
    target: str
    counts: dict[str, int]
    sessions: list[str]
    hints: list[str]
    problems: list[str] = Field(description="What could not be cleared; the same forget once more does the rest.")


class Run(Answer):
    """A pass, a decision, a correction, an import or an undo: what changed memories together."""

    id: int
    kind: str
    status: str
    job: str | None
    scope: str | None
    started_at: datetime
    completed_at: datetime | None
    seconds: float | None
    by: str | None = Field(description="`key:NAME` for a key of this API.")
    summary: str | None
    error: str | None
    undoes: int | None
    undone_by: int | None
    part_of: int | None


class RunPage(Page):
    """One page of runs, the newest first."""

    items: list[Run]


class RunChange(Answer):
    """One change of a run. `before` and `after` hold what differed."""

    action: str
    memory: UUID | None
    content: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str
    evidence: list[str]


class RunStory(Page):
    """A run with a page of its changes, in their order."""

    run: Run
    actions: dict[str, int]
    added: dict[str, int]
    changed: int
    parts: list[int]
    items: list[RunChange]


class UndoBody(Body):
    """How a run is undone."""

    no_repeat: bool = Field(default=False, description="Keep later passes from deciding the same again.")


class Undone(Answer):
    """What an undo did. It is a run itself, and can be undone."""

    run: int
    undone: int
    summary: str
    restored: int
    removed: int
    kept: int
    refused: list[str] = Field(description="Of each part of the run that stays, why.")
