"""docs/reference/settings.md: every key with its variable, type, bounds and default, from the settings classes."""

import types
import typing
from collections.abc import Iterator
from inspect import getdoc
from typing import Any

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from docs_reference.tables import code, paragraphs, table
from slowwave.settings import Settings, variable_of

HEAD = """# Settings, generated from the code

Every key with its variable, type, bounds and default. [Settings](../settings.md) describes the purpose of each, and
the places from which Slowwave reads settings.
"""
Row = tuple[str, str, str, str, str]
NAMES = {str: "text", int: "whole number", float: "number", bool: "true or false", SecretStr: "secret"}


def settings_page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for path, section in sections(Settings):
        found = rows(section, path)
        if not found:
            continue
        title = f"`{path}`" if path else "Top level"
        parts += [f"## {title}\n", f"{paragraphs(getdoc(section) or '')}\n"]
        parts.append(table(("key", "variable", "type", "bounds", "default"), found.values()))
    return "\n".join(parts)


def sections(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Every section with its path, parents before children."""
    yield path, model
    for name, field in model.model_fields.items():
        inner = _section(field)
        if inner is not None:
            yield from sections(inner, f"{path}.{name}" if path else name)


def rows(section: type[BaseModel], path: str) -> dict[str, Row]:
    """The keys of one section, each with its row of the table."""
    own = {f"{path}.{name}".lstrip("."): field for name, field in section.model_fields.items() if not _section(field)}
    return {
        key: (code(key), code(variable_of(key)), _type(field.annotation), _bounds(field), _default(field))
        for key, field in own.items()
    }


def defaults() -> dict[str, str]:
    """Every key with its default, as the page shows it."""
    return {key: row[-1] for path, section in sections(Settings) for key, row in rows(section, path).items()}


def _section(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _type(kind: Any) -> str:
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return ", ".join(code(str(choice)) for choice in typing.get_args(kind))
    if origin in {typing.Union, types.UnionType}:
        return " or ".join("none" if part is type(None) else _type(part) for part in typing.get_args(kind))
    if origin is typing.Annotated:
        return _type(typing.get_args(kind)[0])
    if origin in {tuple, list, frozenset, set}:
        inner = [part for part in typing.get_args(kind) if part is not Ellipsis]
        return f"list of {_type(inner[0])}" if inner else "list"
    if origin is dict:
        return "names with values"
    return NAMES.get(kind, getattr(kind, "__name__", str(kind)).lower())


def _bounds(field: FieldInfo) -> str:
    words = []
    for rule in field.metadata:
        match rule:
            case Ge():
                words.append(f"≥ {rule.ge:,}")
            case Gt():
                words.append(f"> {rule.gt:,}")
            case Le():
                words.append(f"≤ {rule.le:,}")
            case Lt():
                words.append(f"< {rule.lt:,}")
            case MinLen():
                words.append(f"≥ {rule.min_length:,} long")
            case MaxLen():
                words.append(f"≤ {rule.max_length:,} long")
            case _:
                pass  # a rule in code has its own error message
    return ", ".join(words)


def _default(field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    if isinstance(default, bool):
        return code(str(default).lower())
    if default is None or default in ("", (), [], {}):
        return ""
    return code(str(default))
