"""Shared parts of the curation schemas: refused extra fields, fields read from reports, numbers and pages."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
"""A confidence or an importance."""


class Body(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel):
    """An answer, read from the fields of a report."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class Page(Answer):
    """One page of a list."""

    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last page.")
