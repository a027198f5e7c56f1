"""What is asked of a model and what it answers: the contract between those who need a sentence and those who call.

    a prompt ──▶ AskModel.ask ──▶ an answer
                     │
                     ├── TransientError   the surroundings failed: later again (Unanswered: in the call itself)
                     ├── BudgetReached    the cap is reached: do it by the rules, and say so
                     └── ModelFailed      this prompt got no answer of use, and asking again would not help

Must not know: which model, how it is reached, where budgets are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from slowwave_server.domain.failures import TransientError

Purpose = Literal["extract", "synthesize", "adjudicate", "triples", "summarize"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked. version: "NAME/NUMBER" of the prompt's text, for the ledger.

    system: the task, words of this project alone. user: the data, fenced. schema: a JSON schema (an object) that the
    answer must fit, None where plain text is wanted; schema_name: what the endpoint calls it. accepted: a looser schema
    that the answer is checked against, if the caller checks the rest itself. no_reply: a plain text that is an answer,
    too, if a schema is given. With it, an empty answer means the same: there is nothing to say, `Answer.data` is None.
    about: what is asked about, in names and numbers, the same at each try; None if nobody waits for just this answer.
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
    """What a model said. data: the parsed JSON, checked against the prompt's schema; None where it had none.

    tokens: as the endpoint counted them, else an estimate. model: the name that it gave.
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
    """Who pays: a tenant, the agent whose memories it is about (None: of a room or team), the run that asks, if any."""

    tenant: str
    agent: str | None = None
    run: int | None = None


class ModelFailed(Exception):
    """No answer of use, and none is to be hoped for: a refused request, an answer that doesn't fit its schema.

    tokens: what it cost all the same.
    """

    def __init__(self, message: str, tokens: int = 0) -> None:
        super().__init__(message)
        self.tokens = tokens


class Unanswered(TransientError):
    """A call that was sent and got no answer: later again.

    tokens: what it cost as far as is known: 0 where it was refused before any work (no connection, 429, 5xx), None
    where nobody knows (a time-out, a cut connection); then all that was reserved for it counts as spent.
    """

    def __init__(self, message: str, *, tokens: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after=retry_after)
        self.tokens = tokens


class BudgetReached(Exception):
    """A cap is reached, and nothing was asked. cap: its setting; until: when it ends, None for that of a run."""

    def __init__(self, cap: str, until: datetime | None = None) -> None:
        super().__init__(f"{cap} is reached" + (f", until {until:%Y-%m-%d %H:%M} UTC" if until else ""))
        self.cap = cap
        self.until = until


class AskModel(Protocol):
    """Asks within budgets. name: driver and model, for ledgers and reports ("openai gpt-…")."""

    @property
    def name(self) -> str: ...

    def ask(self, prompt: Prompt, spender: Spender) -> Answer:
        """Ask, with no transaction open. Raises TransientError, BudgetReached, ModelFailed."""
        ...
