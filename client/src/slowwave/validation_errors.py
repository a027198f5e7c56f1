"""Convert Pydantic's validation errors to plain sentences with the key, the allowed form, and the value.

tenant must be text of 1 to 200 characters, got ''
"""

from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from slowwave.errors import shown

_KINDS: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    SecretStr: "text",
    Path: "a path",
    dict: "keys and values",
    list: "a list",
    tuple: "a list",
}
_BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")
_SECRET = ("_url", "api_key", "password", "token")


def plain_problems(model: type[BaseModel], error: ValidationError) -> list[tuple[str, str]]:
    """Return (key, problem) for each error; the key is "" for an error of the whole value."""
    problems: dict[str, str] = {}
    for one in error.errors(include_url=False):
        field, place = _field_at(model, one["loc"])
        # For a union, Pydantic reports one error for each member.
        problems.setdefault(place, _problem(field, place, one))
    return list(problems.items())


def _problem(field: FieldInfo | None, place: str, one: Mapping[str, Any]) -> str:
    if one["type"] == "missing":
        return "is missing"
    if one["type"] == "extra_forbidden":
        return "is unknown"
    cause = one.get("ctx", {}).get("error")
    if isinstance(cause, Exception):
        return str(cause)
    form = None if field is None else _form(field)
    got = "" if place.endswith(_SECRET) else f", got {shown(one['input'])}"
    return f"can't be used{got}" if form is None else f"must be {form}{got}"


def _field_at(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[FieldInfo | None, str]:
    """Return the field at a location, and its key without Pydantic's additions for members of unions."""
    field: FieldInfo | None = None
    place: list[str] = []
    inner: Any = model
    for part in location:
        fields = inner.model_fields if _is_model(inner) else {}
        if part in fields:
            field = fields[str(part)]
            inner = field.annotation
        elif _is_model(inner):  # a key that the model does not know
            field = inner = None
        elif place and isinstance(part, str):
            break
        else:
            field = None
        place.append(str(part))
    return field, ".".join(place)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _form(field: FieldInfo) -> str | None:
    form = _kind(field.annotation)
    if form is None:
        return None
    bounds = {name: getattr(rule, name) for rule in field.metadata for name in _BOUNDS if hasattr(rule, name)}
    return form + _bounds_in_words(bounds)


def _kind(annotation: Any) -> str | None:
    """Return the allowed form of a type in words, or None."""
    origin = get_origin(annotation)
    if origin is Literal:
        return "one of " + ", ".join(map(str, get_args(annotation)))
    if origin in {Union, UnionType}:
        kinds = [_kind(member) for member in get_args(annotation) if member is not type(None)]
        return " or ".join(kind for kind in dict.fromkeys(kinds) if kind) if all(kinds) else None
    if _is_model(annotation):
        return f"keys and values ({', '.join(annotation.model_fields)})"
    return _KINDS.get(origin or annotation)


def _bounds_in_words(bounds: Mapping[str, Any]) -> str:
    words: list[str] = []
    if "ge" in bounds and "le" in bounds:
        words = [f"from {bounds['ge']:g} to {bounds['le']:g}"]
    else:
        for name, word in (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below")):
            words += [f"{word} {bounds[name]:g}"] if name in bounds else []
    if "max_length" in bounds:
        words.append(f"of {bounds.get('min_length', 0)} to {bounds['max_length']} characters")
    elif "min_length" in bounds:
        words.append("that is not empty")
    return f" {' and '.join(words)}" if words else ""
