"""Read a model's answer: its text, or JSON checked against the schema.

Some models wrap JSON in a fence or write their reasoning before it; both are removed. No error contains the answer's
text.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from slowwave_server.domain.model_calls import Prompt
from slowwave_server.services.llm.drivers import UnfitAnswer

MAX_CHARACTERS = 1_000_000

_NO_JSON = object()

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\n(.*?)\n?```\s*\Z", re.DOTALL)
# Postgres can store neither.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_answer(prompt: Prompt, said: str, tokens: int) -> tuple[str, Any]:
    """Return (text, data): data is the JSON if the prompt has a schema, None for its `no_reply` and for plain text.

    An empty text, {}, [], "" and null mean the same as `no_reply`, if the prompt has one.

    tokens: the cost of the call, which a failure contains. Raises UnfitAnswer.
    """
    if len(said) > MAX_CHARACTERS:
        raise UnfitAnswer(f"the answer is longer than {MAX_CHARACTERS:,} characters", tokens)
    text = _UNSTORABLE.sub("", _THOUGHTS.sub("", said)).strip()
    if not text:
        if prompt.no_reply is not None:
            return text, None
        raise UnfitAnswer("the answer is empty", tokens)
    if prompt.no_reply is not None and text.strip("\"'`. \n") == prompt.no_reply:
        return text, None
    if prompt.schema is None:
        return text, None
    data = _parsed(text)
    if data is _NO_JSON:
        raise UnfitAnswer("the answer is not JSON", tokens)
    if prompt.no_reply is not None and isinstance(data, dict | list | str | None) and not data:
        return text, None
    if broken := broken_rule(prompt.accepted or prompt.schema, data):
        raise UnfitAnswer(f"the answer doesn't fit its schema at {broken}", tokens)
    return text, data


def broken_rule(schema: Mapping[str, Any], data: Any) -> str | None:
    """Return the place in the schema of the first rule that `data` breaks, in words of the schema only."""
    # Import only after a model has answered: with packages for formats installed, the import of jsonschema takes a
    # second.
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    error = next(Draft202012Validator(schema).iter_errors(data), None)
    return None if error is None else "/".join(str(part) for part in error.absolute_schema_path)


def schema_words(schema: Mapping[str, Any]) -> str:
    """Return the schema for a model that gets it as text."""
    return f"\n\nAnswer with JSON alone, which fits this JSON schema:\n{json.dumps(schema)}"


def _parsed(text: str) -> Any:
    """Return the JSON in the text, or _NO_JSON. An exception raised here would carry the text as its context."""
    fence = _FENCE.match(text)
    try:
        # Standard JSON has no NaN.
        return _cleaned(json.loads(fence.group(1) if fence else text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        return _NO_JSON


def _cleaned(value: Any) -> Any:
    """Remove characters that can't be stored."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {_UNSTORABLE.sub("", name): _cleaned(item) for name, item in value.items()}
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
