"""The fields of a chat request that an endpoint accepts: all endpoints speak "OpenAI's API", and each one only a part.

    json_schema ──▶ json_object with the schema ──▶ json_object ──▶ words alone
    max_tokens  ──▶ max_completion_tokens           (the other way round at OpenAI itself)
    temperature ──▶ left out

Each arrow is one refusal that names the field. A dialect only loses fields, so a few tries suffice.
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
# "max_tokens is too large" is no reason to send it under another name.
_UNKNOWN = re.compile(
    r"unsupported|not supported|does not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|instead",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """shapes, limits: ways of asking for JSON and of bounding the answer that were not refused yet, the best first."""

    shapes: tuple[str, ...] = _SHAPES
    limits: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    temperature: bool = True

    def request(self, prompt: Prompt, *, model: str, max_output_tokens: int) -> dict[str, Any]:
        """The request's body."""
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
        """The dialect after an endpoint refused a request with this message; None if the message names none of our
        fields.
        """
        if _UNKNOWN.search(refusal):
            if self.temperature and _TEMPERATURE.search(refusal):
                return replace(self, temperature=False)
            # Never without a bound: what an answer may cost is reserved before.
            if len(self.limits) > 1 and _LIMIT.search(refusal):
                return replace(self, limits=self.limits[1:])
        if len(self.shapes) > 1 and _FORMAT.search(refusal):
            return replace(self, shapes=self.shapes[1:])
        return None


def first_dialect(host: str) -> Dialect:
    """The first form of a request that is tried at an endpoint. host: without its port."""
    if host == "api.openai.com":
        return Dialect(limits=("max_completion_tokens", "max_tokens"))
    # Local servers may ignore a bound that they don't know, without a word.
    return Dialect()


def is_strict(schema: Any) -> bool:
    """Whether every object in it names all its properties as required and allows no others, as `strict` demands."""
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
