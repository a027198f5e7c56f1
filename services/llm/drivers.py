"""The protocol of a driver: one call of one model, and the meaning of each kind of failure for the caller.

    Driver.complete ──▶ Answer
        ├── Unanswered         later again: no connection, a time-out, 408, 409, 429, 5xx, exit status 75
        ├── UnfitAnswer        no JSON, or not what the schema asks for: one more call may do better
        ├── RequestRefused     the endpoint doesn't know a field; the driver has learnt it: one more call
        ├── AccessRefused      the key, or the account behind it: asking again is of no use until somebody mends it
        └── ModelFailed        anything else that asking again would not change

A driver asks once. Each further call is the caller's own: reserved, counted and paid for like the first.
"""

import json
from typing import Protocol

from slowwave.recall.tokens import estimate
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt

_TOKENS_A_MESSAGE = 8
"""The tokens that endpoints add to each message; a high estimate."""


class UnfitAnswer(ModelFailed):
    """The model answered in another form than requested. The message holds none of its text."""


class RequestRefused(ModelFailed):
    """The endpoint refused a field of the request before any work; the driver leaves it out from now on.

    A driver raises it a few times at most: there are only so many fields.
    """


class AccessRefused(ModelFailed):
    """The endpoint refuses this key or account (401, 403, a used-up quota): no other prompt would fare better."""


class Driver(Protocol):
    """One way to a model. Its methods may be called from many threads at once."""

    @property
    def name(self) -> str:
        """Driver and model, for ledgers and reports: "openai gpt-…", "command llm"."""
        ...

    @property
    def endpoint(self) -> str:
        """The unit that fails as a whole: a host or a program, with a digest of its full address; never a key."""
        ...

    def complete(self, prompt: Prompt, *, max_output_tokens: int, timeout_seconds: float) -> Answer:
        """Ask once. Raises Unanswered or a ModelFailed; `tokens` of either says what it cost."""
        ...


def prompt_tokens(prompt: Prompt) -> int:
    """Tokens of a question, rather too many than too few, with its schema, which some endpoints need in words."""
    schema = "" if prompt.schema is None else json.dumps(prompt.schema)
    return estimate(prompt.system) + estimate(prompt.user) + 2 * estimate(schema) + 3 * _TOKENS_A_MESSAGE
