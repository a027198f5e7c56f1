"""Payloads of the public tasks, by the name of the task."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from slowwave.errors import InvalidMessage, shown
from slowwave.external_runs import READ_SESSION, ReadSession
from slowwave.identity import check_name, shared_scope
from slowwave.messages import (
    CONSOLIDATE_SCOPE,
    CURATE_SCOPE,
    DELIVER_OUTBOX,
    FLUSH_SESSION,
    PROMPT_ARRIVED,
    RECORD_TURN,
    REMEMBER,
    RUN_MAINTENANCE,
    SUMMARIZE_DAY,
    YEARS,
    FlushSession,
    PromptArrived,
    RecordTurn,
)
from slowwave.working import ConsolidateScope, OfTenantScope, Remember

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def day_of(value: Any) -> date:
    """Parse a local day such as 2026-03-05, within the years that events may have. Raises InvalidMessage."""
    try:
        # Reject numbers and datetimes: which day they mean would depend on a time zone.
        day = date.fromisoformat(value) if isinstance(value, str) and _DAY.fullmatch(value) else None
    except ValueError:
        day = None
    if day is None:
        raise InvalidMessage(f"day must be written like 2026-03-05, got {shown(value)}")
    if not YEARS[0] <= day.year <= YEARS[1]:
        raise InvalidMessage(f"the year of a day must be from {YEARS[0]} to {YEARS[1]}, got {day.year}")
    return day


class SummarizeDay(BaseModel):
    """The payload of `slowwave.summarize_day`: an agent's local day in one scope.

    scope: room:NAME or team:NAME; None for the agent's own. final: True if the day is over, so that its summary becomes
    final until another event of the day arrives; False to write a summary and leave the day open.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tenant: str | None = None
    agent: str
    day: Annotated[date, BeforeValidator(day_of)]
    scope: str | None = None
    ticket: str | None = None
    final: bool = False

    @model_validator(mode="after")
    def _names_are_names(self) -> "SummarizeDay":
        check_name("agent", self.agent)
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        if self.scope is not None:
            shared_scope(self.scope)
        return self


class CurateScope(OfTenantScope):
    """The payload of `slowwave.curate_scope`: the task turns notes of days in this scope into long-term memories."""


class DeliverOutbox(OfTenantScope):
    """The payload of `slowwave.deliver_outbox`: the task imports hand edits of the scope's files, then writes them."""

    ticket: str | None = None


class RunMaintenance(BaseModel):
    """The payload of `slowwave.run_maintenance`: the name of a job; the task runs the job if it is due."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    job: str = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _job_is_a_name(self) -> "RunMaintenance":
        check_name("job", self.job)
        return self


PAYLOADS: Mapping[str, type[BaseModel]] = {
    RECORD_TURN: RecordTurn,
    PROMPT_ARRIVED: PromptArrived,
    FLUSH_SESSION: FlushSession,
    REMEMBER: Remember,
    CONSOLIDATE_SCOPE: ConsolidateScope,
    CURATE_SCOPE: CurateScope,
    DELIVER_OUTBOX: DeliverOutbox,
    RUN_MAINTENANCE: RunMaintenance,
    SUMMARIZE_DAY: SummarizeDay,
    READ_SESSION: ReadSession,
}
"""The contract that docs/tasks.schema.json publishes."""
