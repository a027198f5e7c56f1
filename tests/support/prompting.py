"""Prompts, drivers and clocks for tests of models."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from pydantic import SecretStr

from proof.fake_model import FakeModel
from slowwave_server.domain.model_calls import Prompt
from slowwave_server.services.llm.openai_driver import OpenAIDriver

KEY = "sk-Tested-4815162342"
SAID = "Maya keeps her spare key under the blue pot"
NOON = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"memories": {"type": "array", "items": {"type": "string"}}},
    "required": ["memories"],
    "additionalProperties": False,
}


def prompt(**changed: Any) -> Prompt:
    fields = {"purpose": "extract", "version": "extract/1", "system": "Find facts.", "user": SAID, "schema": SCHEMA}
    return Prompt(**{**fields, **changed})


def openai_driver(base_url: str, *, key: str = KEY, model: str = "tiny") -> OpenAIDriver:
    return OpenAIDriver(base_url, model, SecretStr(key), clock=lambda: NOON)


@contextmanager
def driven(answer: Any, **options: Any) -> Iterator[tuple[OpenAIDriver, FakeModel]]:
    with FakeModel(answer=answer, **options) as fake:
        yield openai_driver(fake.base_url), fake
