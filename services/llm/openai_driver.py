"""The driver for endpoints with OpenAI's chat API, through the package `openai` (the extra `models`).

One call is one request: the package's own retries are off. The time limit covers the whole call, because some endpoints
send blanks to keep the connection open, and each blank restarts the client's own time-out.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any
from weakref import finalize

import httpx2
import openai
from pydantic import SecretStr

from slowwave.recall.tokens import estimate
from slowwave_server.domain.model_calls import Answer, ModelFailed, Prompt, Unanswered
from slowwave_server.services.llm.answers import read_answer
from slowwave_server.services.llm.dialect import Dialect, first_dialect
from slowwave_server.services.llm.drivers import RequestRefused, prompt_tokens
from slowwave_server.services.llm.endpoint_failures import Endpoint, refusal_words
from slowwave_server.services.llm.hanging_up import HangUp

MAX_ANSWER_BYTES = 4_000_000
MAX_TOKENS = 100_000_000
"""An endpoint that says that one call took more has miscounted."""
CONNECT_SECONDS = 5.0
_BAD_REQUEST = frozenset({400, 404, 415, 422, 501})
_SERVER_ERROR = 500


@dataclass
class OpenAIDriver:
    """One model at one endpoint. clock: the current time, aware; monotonic: a monotonic clock in seconds.

    The client is made at the first call of a process, and again after a fork: processes share no connections.
    """

    base_url: str = field(repr=False)
    model: str
    api_key: SecretStr
    clock: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    _dialect: Dialect = field(init=False, repr=False)
    _where: Endpoint = field(init=False, repr=False)
    _lock: Lock = field(init=False, repr=False, default_factory=Lock)
    _hang_up: HangUp = field(init=False, repr=False, default_factory=HangUp)
    _client: tuple[int, openai.OpenAI] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        self._where = Endpoint(self.base_url, self.clock)
        self._dialect = first_dialect(self._where.host.partition(":")[0])
        # At DEBUG the libraries log whole requests with texts of conversations, and at INFO addresses with passwords.
        logging.getLogger("openai").setLevel(logging.INFO)
        logging.getLogger("httpx2").setLevel(logging.WARNING)

    @property
    def name(self) -> str:
        return f"openai {self.model}"

    @property
    def endpoint(self) -> str:
        return self._where.key

    def complete(self, prompt: Prompt, *, max_output_tokens: int, timeout_seconds: float) -> Answer:
        """Make one call. Raises Unanswered, UnfitAnswer, RequestRefused, AccessRefused, ModelFailed."""
        dialect = self._dialect
        request = dialect.request(prompt, model=self.model, max_output_tokens=max_output_tokens)
        failure: Exception | None = None
        try:
            body = self._body(request, timeout_seconds)
        except (openai.APIError, httpx2.HTTPError) as error:
            failure = self._failure(error, dialect)
        # Raise outside the handler: an exception raised inside would carry the request, with the key, as its context.
        if failure is not None:
            raise failure
        if len(body) > MAX_ANSWER_BYTES:
            most = prompt_tokens(prompt) + max_output_tokens
            raise ModelFailed(f"{self._where.host} sent more than {MAX_ANSWER_BYTES:,} bytes", most)
        return self._answer(prompt, body)

    def _body(self, request: dict[str, Any], timeout_seconds: float) -> bytes:
        deadline = self.monotonic() + timeout_seconds
        timeout = httpx2.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds))
        headers = {} if self.api_key.get_secret_value() else {"Authorization": openai.Omit()}
        create: Any = self._connected().chat.completions.with_streaming_response.create
        read = bytearray()
        sent = {**request, "timeout": timeout, "extra_headers": headers}
        with self._hang_up.after(timeout_seconds), create(**sent) as response:
            for chunk in response.iter_bytes():
                read += chunk
                if self.monotonic() > deadline:
                    break
                if len(read) > MAX_ANSWER_BYTES:
                    return bytes(read)
        # A closed connection may look like the end of the answer.
        if self.monotonic() > deadline:
            raise httpx2.ReadTimeout("")
        return bytes(read)

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None or self._client[0] != os.getpid():
                # The package requires a key, and would take one from the environment, which is not for this endpoint.
                key = self.api_key.get_secret_value() or "none"
                http = openai.DefaultHttpxClient(event_hooks={"response": [self._hang_up.watch]})
                client = openai.OpenAI(api_key=key, base_url=self.base_url, max_retries=0, http_client=http)
                self._client = (os.getpid(), client)
                # Its connections stay open between calls, and are closed with the driver.
                finalize(self, client.close).atexit = False
            return self._client[1]

    def _failure(self, error: openai.APIError | httpx2.HTTPError, dialect: Dialect) -> Exception:
        failure = self._where.failure(error)
        if not isinstance(error, openai.APIStatusError):
            return failure
        words = refusal_words(error)
        # llama-cpp-python's server answers 500 for a field that it can't accept, and explains it in text.
        invalid = error.status_code == _SERVER_ERROR and "validation error" in words
        if not invalid and (type(failure) is not ModelFailed or error.status_code not in _BAD_REQUEST):
            return failure
        if left := dialect.without(words):
            with self._lock:
                # Parallel calls that learn the same refusal change the dialect only once.
                if self._dialect == dialect:
                    self._dialect = left
            return RequestRefused(f"{failure}: it doesn't know a field of the request")
        return failure

    def _answer(self, prompt: Prompt, body: bytes) -> Answer:
        said = _parsed(body)
        choice, text = _first_choice(said)
        if choice is None:
            raise self._no_choice(said)
        asked, wrote = _usage(said, prompt, text)
        self._check_ending(choice, asked + wrote)
        text, data = read_answer(prompt, text, asked + wrote)
        return Answer(text, data, asked, wrote, str(said.get("model") or self.model)[:200])

    def _check_ending(self, choice: Mapping[str, Any], tokens: int) -> None:
        ending = choice.get("finish_reason")
        if ending == "length":
            raise ModelFailed("the answer was cut off at its greatest length (memory.llm.max_output_tokens)", tokens)
        if ending == "content_filter" or choice["message"].get("refusal"):
            raise ModelFailed(f"{self._where.host} declined to answer", tokens)
        if ending == "error":
            raise Unanswered(f"{self._where.host} broke off its answer", tokens=tokens)

    def _no_choice(self, said: Mapping[str, Any]) -> Exception:
        """Return the failure of an answer without a choice: gateways put the error behind a 200 into the body."""
        error = said.get("error")
        status = error.get("code") if isinstance(error, Mapping) else None
        if isinstance(status, int) and status in range(400, 600):
            return self._where.of_status(status, None)
        return ModelFailed(f"what {self._where.host} answered is not OpenAI's chat API: look at memory.llm.base_url")


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _first_choice(said: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """Return the first choice and its text, or (None, "") without a message."""
    choices = said.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        return None, ""
    text = message.get("content")
    return choice, text if isinstance(text, str) else ""


def _usage(said: Mapping[str, Any], prompt: Prompt, text: str) -> tuple[int, int]:
    """Return (input, output) tokens as the endpoint counted them, or else estimated."""
    usage = said.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    asked, wrote = counted.get("prompt_tokens"), counted.get("completion_tokens")
    return (
        asked if isinstance(asked, int) and 0 < asked <= MAX_TOKENS else prompt_tokens(prompt),
        wrote if isinstance(wrote, int) and 0 <= wrote <= MAX_TOKENS and (wrote or not text) else estimate(text),
    )
