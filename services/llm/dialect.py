"""Find the fields of a chat request that an endpoint accepts: all endpoints offer "OpenAI's API", but each only a part
of it.

    json_schema ──▶ json_object with the schema ──▶ json_object ──▶ text only
    max_tokens  ──▶ max_completion_tokens           (the other way round at OpenAI itself)
    temperature ──▶ left out

Each arrow is one refusal that names the field. A dialect only loses fields, so a few attempts are enough.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from slowwave_server.domain.model_calls import Prompt
from slowwave_server.services.llm.answers import schema_words

_SHAPES = ("json_schema", "json_object with schema", "json_object", "words")
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured.output|grammar", re.IGNORECASE)
_LIMIT = re.compile(r"max_(?:completion_)?tokens", re.IGNORECASE)
_TEMPERATURE = re.compile(r"temperature", re.IGNORECASE)
# "max_tokens is too large" is no reason to send the value under another name.
_UNKNOWN = re.compile(
    r"unsupported|not supported|does not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|instead",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The forms that were not refused yet, best first: of requests for JSON, and of fields that limit the answer."""

    shapes: tuple[str, ...] = _SHAPES
    limits: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    temperature: bool = True

    def request(self, prompt: Prompt, *, model: str, max_output_tokens: int) -> dict[str, Any]:
        """Return the request's body."""
        shape = self.shapes[0] if prompt.schema is not None else "words"
        system = prompt.system
        body: dict[str, Any] = {"model": model, self.limits[0]: max_output_tokens}
        if self.temperature:
            body["temperature"] = 0
        if prompt.schema is not None:
            if shape == "json_schema":
                wanted = {"name": prompt.schema_name, "schema": prompt.schema, "strict": is_strict(prompt.schema)}
                body["response_format"] = {"type": "json_schema", "json_schema": wanted}
            else:
                system += schema_words(prompt.schema)
            if shape == "json_object with schema":
                body["response_format"] = {"type": "json_object", "schema": prompt.schema}
            elif shape == "json_object":
                body["response_format"] = {"type": "json_object"}
        body["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}]
        return body

    def without(self, refusal: str) -> "Dialect | None":
        """Return the dialect after a refusal with this message; None if it names no optional field."""
        if _UNKNOWN.search(refusal):
            if self.temperature and _TEMPERATURE.search(refusal):
                return replace(self, temperature=False)
            # Always send a limit, because the reservation assumes the highest cost of the answer.
            if len(self.limits) > 1 and _LIMIT.search(refusal):
                return replace(self, limits=self.limits[1:])
        if len(self.shapes) > 1 and _FORMAT.search(refusal):
            return replace(self, shapes=self.shapes[1:])
        return None


def first_dialect(host: str) -> Dialect:
    """Return the first form of a request for an endpoint. host: the host without its port."""
    if host == "api.openai.com":
        return Dialect(limits=("max_completion_tokens", "max_tokens"))
    # Local servers may silently ignore a limit that they don't know.
    return Dialect()


def is_strict(schema: Any) -> bool:
    """Return True if every object requires all its properties and allows no others, as `strict` demands."""
    if isinstance(schema, list | tuple):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(is_strict(part) for part in schema.values())
