"""Agents, days, requests, forgets and runs, as JSON."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from slowwave_server.services.reports.days import SummaryVersion
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Agent(Answer):
    """One agent. The counts `sessions` and `dirty` stop at 1,000."""

    agent: str = Field(validation_alias="name")
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
    """A local day of an agent in a scope, with the state of its summary."""

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


class DayStory(Day):
    """A day with one version of its summary."""

    versions: list[int]
    summary: SummaryVersion | None


class Why(Answer):
    """The reason why a session is not processed yet."""

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
    session: Name | None = Field(default=None, description="A session of `agent`.")
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
    """The data that would be deleted. Confirm within 7 days with `POST /v1/forgets/{id}/confirm`."""

    id: UUID
    target: str
    counts: dict[str, int]
    sessions: list[str] = Field(description="Some of the conversations that would be deleted.")
    hints: list[str]
    confirm: str = Field(description="Send it back to confirm.")


class ForgetConfirmation(Body):
    """The confirmation of a preview."""

    confirm: Annotated[str, StringConstraints(max_length=210)]


class Forgotten(Answer):
    """The deleted data. A forget can't be undone."""

    receipt: int
    target: str
    counts: dict[str, int]
    sessions: list[str]
    hints: list[str]
    problems: list[str] = Field(description="Steps that failed; repeat the same forget to finish them.")


class Run(Answer):
    """A run: the changes of one pass, decision, edit, import or undo."""

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
    """One change of a run. `before` and `after` contain the changed fields."""

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
    """The options of an undo."""

    no_repeat: bool = Field(default=False, description="True: later passes don't make the same decisions again.")


class Undone(Answer):
    """The result of an undo. It is a run, and can be undone."""

    run: int
    undone: int
    summary: str
    restored: int
    removed: int
    kept: int
    refused: list[str] = Field(description="For each part of the run that could not be undone, the reason.")
