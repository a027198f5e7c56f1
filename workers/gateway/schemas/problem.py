"""The body of every error answer (RFC 9457)."""

from pydantic import BaseModel, ConfigDict, Field


class Mistake(BaseModel):
    """One invalid field of a request."""

    where: str = Field(description="The field: `messages[0].role`, `query.limit`.", examples=["messages[0].role"])
    what: str = Field(examples=["is missing"])


class Problem(BaseModel):
    """The error, and how to fix it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "/problems/not-found",
                    "title": "Not found",
                    "status": 404,
                    "detail": "there is no agent 'support' that this key reaches",
                    "request_id": "5f0c7a1c2b9e4d3f8a6b1c2d",
                }
            ]
        }
    )

    type: str = Field(description="`/problems/NAME`, which does not change; programs compare it.")
    title: str
    status: int
    detail: str = Field(description="One sentence about this request.")
    cure: str | None = Field(None, description="The fix.")
    errors: list[Mistake] | None = None
    request_id: str = Field(description="The value of the header X-Request-Id, which the gateway's log contains.")
