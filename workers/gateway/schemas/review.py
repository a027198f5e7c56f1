"""Questions, and the answers to them, as JSON."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator

from slowwave_server.workers.gateway.schemas.curation import RunChange
from slowwave_server.workers.gateway.schemas.shapes import Answer, Body, Page, Share

DecisionKind = Literal["accept", "reject", "merge", "keep", "neither"]


class ReviewSource(Answer):
    """An event that says one side, without its secrets."""

    agent: str
    session: str
    seq: int
    speaker: str
    content: str
    happened_at: datetime


class ReviewSide(Answer):
    """A memory that a question is about."""

    id: UUID
    content: str
    type: str
    status: str
    trust: str
    confidence: Share
    importance: Share
    valid_from: datetime
    reaffirmed_at: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    merged_into: UUID | None
    revision: int
    source_count: int
    sources: list[ReviewSource]


class ReviewConflict(Answer):
    """A contradiction that a question is about. newer and older: by when each was last said to hold."""

    id: int
    status: Literal["open", "resolved", "dismissed"]
    reason: str
    resolution: str | None
    noticed_at: datetime
    newer: ReviewSide
    older: ReviewSide


class Review(Answer):
    """A question that a person, or a program in their place, answers."""

    number: int
    scope: str
    tier: Literal["low", "medium", "high"]
    state: Literal["open", "accepted", "rejected", "merged", "expired"]
    why: str
    run: int | None
    asked_at: datetime
    expires_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    memory: ReviewSide | None
    conflicts: list[ReviewConflict]


class ReviewPage(Page):
    """One page of questions, those with most at stake first."""

    items: list[Review]


class ReviewChoice(Answer):
    """An answer that may be given, and what it would do."""

    decision: DecisionKind
    memory: UUID | None = Field(description="Give it with the decision; null where none is needed.")
    effect: str


class ReviewDetail(Answer):
    """A question with the answers that may be given; none once it is decided."""

    review: Review
    choices: list[ReviewChoice]
    seen: dict[UUID, int] = Field(
        description="Memories with their revisions. Give it with the decision: if one changed since, the answer is 409."
    )


class ReviewDecision(Body):
    """An answer. accept: the memory may stand; of a contradiction, the later statement holds. reject: the memory is
    wrong; of a contradiction, both hold. merge: both say the same, and `memory` stays. keep: of a contradiction,
    `memory` holds. neither: of a contradiction, both are wrong.
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
    """What an answer did. `POST /v1/runs/{run}/undo` takes it back."""

    number: int
    text: str
    run: int
    changes: list[RunChange]
