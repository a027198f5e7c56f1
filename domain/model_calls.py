"""Prompts to a model and its answers: the interface between code that needs a sentence and code that calls the model.

a prompt ──▶ AskModel.ask ──▶ an answer
│
├── TransientError   the environment failed: retry later (Unanswered: during the call itself)
├── BudgetReached    the cap is reached: use the rules, and report it
└── ModelFailed      this prompt got no usable answer, and a retry would not help
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from slowwave_server.domain.failures import TransientError

Purpose = Literal["extract", "synthesize", "adjudicate", "triples", "summarize"]


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these fields, in the strict form that endpoints accept."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def rows_schema(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object whose only field is an array of objects with these fields."""
    return object_schema({name: {"type": "array", "items": object_schema(fields)}})


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt. version: "NAME/NUMBER" of the prompt's text, for the ledger.

    system: the task, in Slowwave's own words. user: the data, fenced. schema: a JSON schema (an object) that the answer
    must fit, None for plain text; schema_name: the endpoint's name for the schema. accepted: a looser schema for
    checking the answer, if the caller checks the rest itself. no_reply: a plain text that is also a valid answer when a
    schema is given. This text and an empty answer mean the same: there is nothing to say, and `Answer.data` is None.
    about: the subject of the prompt in names and numbers, equal in each retry; None if no caller waits for this answer.
    """

    purpose: Purpose
    version: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    no_reply: str | None = None
    about: str | None = None
    accepted: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer. data: the parsed JSON, checked against the prompt's schema; None without JSON.

    tokens: the number of tokens, by the endpoint or else estimated. model: the model's name, as the endpoint gave it.
    """

    text: str
    data: Any
    input_tokens: int
    output_tokens: int
    model: str

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Spender:
    """The payer: a tenant, the agent that owns the memories (None: a room or team), and the run that asks, if any."""

    tenant: str
    agent: str | None = None
    run: int | None = None


class ModelFailed(Exception):
    """No usable answer, and a retry would not help: a refused request or a wrong shape. tokens: what the call cost."""

    def __init__(self, message: str, tokens: int = 0) -> None:
        super().__init__(message)
        self.tokens = tokens


class Unanswered(TransientError):
    """A call that was sent and got no answer: retry later.

    tokens: the known cost: 0 if the endpoint refused before any work (no connection, 429, 5xx), None if the cost is
    unknown (a time-out, a cut connection); the whole reservation of the call then counts as spent.
    """

    def __init__(self, message: str, *, tokens: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.tokens = tokens


class BudgetReached(Exception):
    """A cap is reached, and no model was called. cap: its setting; until: its end, None for a cap per run."""

    def __init__(self, cap: str, until: datetime | None = None) -> None:
        super().__init__(f"{cap} is reached" + (f", until {until:%Y-%m-%d %H:%M} UTC" if until else ""))
        self.cap = cap
        self.until = until


class AskModel(Protocol):
    """Calls a model within budgets. name: driver and model, for ledgers and reports ("openai gpt-…")."""

    @property
    def name(self) -> str: ...

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:
        """Send the prompt, with no transaction open. Raises TransientError, BudgetReached, ModelFailed."""
        ...
