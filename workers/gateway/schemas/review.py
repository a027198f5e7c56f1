"""Questions, and the answers to them, as JSON."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator

from slowwave_server.services.review.conflict_sides import Side
from slowwave_server.workers.gateway.schemas.curation import RunChange
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page

DecisionKind = Literal["accept", "reject", "merge", "keep", "neither"]


class ReviewConflict(Answer):
    """The contradiction of a question. newer and older: ordered by the last time at which each was said."""

    id: int
    status: Literal["open", "resolved", "dismissed"]
    reason: str
    resolution: str | None
    noticed_at: datetime
    newer: Side
    older: Side


class Review(Answer):
    """A question for a person, or for a program that answers instead."""

    number: int = Field(validation_alias="id")
    scope: str
    tier: Literal["low", "medium", "high"]
    state: Literal["open", "accepted", "rejected", "merged", "expired"]
    why: str
    run: int | None
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    memory: Side | None
    conflicts: list[ReviewConflict]


class ReviewPage(Page):
    """One page of questions, the highest tier first."""

    items: list[Review]


class ReviewChoice(Answer):
    """A possible answer and its effect."""

    decision: DecisionKind
    memory: UUID | None = Field(description="Send it with the decision; null if none is needed.")
    effect: str


class ReviewDetail(Answer):
    """A question with its possible answers; no answers if it is decided."""

    review: Review
    choices: list[ReviewChoice]
    seen: dict[UUID, int] = Field(
        description="Memories with their revisions. Send it with the decision: 409 if a memory has changed since."
    )


class ReviewDecision(Body):
    """An answer. accept: the memory may be used; for a contradiction, the later statement is true. reject: the memory
    is wrong; for a contradiction, both are true. merge: both say the same, and `memory` stays. keep: for a
    contradiction, `memory` is true.
    neither: for a contradiction, both are wrong.
    """

    decision: DecisionKind
    memory: UUID | None = None
    seen: dict[UUID, Annotated[int, Field(ge=0, lt=2**31)]] | None = None

    @model_validator(mode="after")
    def _names_what_is_kept(self) -> "ReviewDecision":
        if self.decision == "keep" and self.memory is None:
            raise ValueError("keep needs memory: say which of the two holds")
        return self


class Decided(Answer):
    """The result of an answer. `POST /v1/runs/{run}/undo` reverts it."""

    number: int
    text: str
    run: int
    changes: list[RunChange]
