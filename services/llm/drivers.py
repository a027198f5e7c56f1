"""The protocol of a driver: one call of one model, and the meaning of each kind of failure for the caller.

    Driver.complete ──▶ Answer
        ├── Unanswered         retry later: no connection, a time-out, 408, 409, 429, 5xx, exit status 75
        ├── UnfitAnswer        no JSON, or JSON that does not fit the schema: one more call may succeed
        ├── RequestRefused     the endpoint doesn't know a field; the driver now omits it: one more call
        ├── AccessRefused      the key or its account is refused: a retry is useless until somebody corrects it
        └── ModelFailed        any other failure that a retry would not change

A driver makes one call. The caller makes each further call, which is reserved, settled and paid like the first.
"""

import json
from typing import Protocol

from slowwave.recall.tokens import estimate
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt

_TOKENS_A_MESSAGE = 8
"""The tokens that endpoints add to each message; a high estimate."""


class UnfitAnswer(ModelFailed):
    """The model answered in another form than requested. The message contains no text of the answer."""


class RequestRefused(ModelFailed):
    """The endpoint refused a field of the request before any work; the driver omits the field from now on.

    A driver raises this error only a few times, because the number of fields is small.
    """


class AccessRefused(ModelFailed):
    """The endpoint refuses this key or account (401, 403, a used-up quota), so every prompt would fail."""


class Driver(Protocol):
    """A way to call one model. Several threads may call its methods at once."""

    @property
    def name(self) -> str:
        """Driver and model, for ledgers and reports: "openai gpt-…", "command llm"."""
        ...

    @property
    def endpoint(self) -> str:
        """The unit that fails as a whole: a host or a program, with a digest of its full address, never a key."""
        ...

    def complete(self, prompt: Prompt, *, max_output_tokens: int, timeout_seconds: float) -> Answer:
        """Make one call. Raises Unanswered or a ModelFailed; `tokens` of either is its cost."""
        ...


def prompt_tokens(prompt: Prompt) -> int:
    """Estimate a question's tokens, rather too many, with its schema, which some endpoints get as text."""
    schema = "" if prompt.schema is None else json.dumps(prompt.schema)
    return estimate(prompt.system) + estimate(prompt.user) + 2 * estimate(schema) + 3 * _TOKENS_A_MESSAGE
