"""Days as callers ask for them: the payload of the public task that summarises one.

Must not know: when a day is due, what a summary says.
"""

import re
from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from slowwave.errors import InvalidMessage, shown
from slowwave.identity import check_name, shared_scope
from slowwave.messages import YEARS

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def day_of(value: Any) -> date:
    """Read a local day: text like 2026-03-05, of the years in which events are dated. Raises InvalidMessage."""
    try:
        # Neither a number nor a time: which day these mean would depend on a time zone.
        day = date.fromisoformat(value) if isinstance(value, str) and _DAY.fullmatch(value) else None
    except ValueError:
        day = None
    if day is None:
        raise InvalidMessage(f"a day is written like 2026-03-05, not {shown(value)}")
    if not YEARS[0] <= day.year <= YEARS[1]:
        raise InvalidMessage(f"a day lies in the years {YEARS[0]} to {YEARS[1]}, not {day.year}")
    return day


class SummarizeDay(BaseModel):
    """What `slowwave.summarize_day` takes: whose local day, of which scope.

    scope: room:NAME or team:NAME, else the agent's own. final: the day is over, and this is its last word until more
    comes; a day that goes on is summarised and stays open.
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
