"""docs/reference/http.md: every route of the gateway with its right, parameters and fields, from OpenAPI."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from docs_reference.openapi_document import openapi_document
from docs_reference.tables import code, table

HEAD = """# HTTP routes

Every route of the gateway, from [the OpenAPI document](../openapi.json), which also has examples. [The HTTP
API](../http.md) explains keys, errors, retries and lists. Every change accepts the header `Idempotency-Key`.
"""
TITLES = {
    "health": "Health checks",
    "record": "Record",
    "read": "Read",
    "memories": "Memories",
    "agents": "Agents, days and sessions",
    "reviews": "Questions",
    "runs": "Runs",
    "forgetting": "Forget",
    "administration": "Administration",
    "changes": "Changes",
    "webhooks": "Webhooks",
}
COLUMNS = ("name", "place", "type", "required", "meaning")


def http_page() -> str:
    """The page as Markdown."""
    document = json.loads(openapi_document())
    schemas = document["components"]["schemas"]
    routes = [
        (method.upper(), path, route)
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    ]
    parts = [HEAD]
    for tag, group in groupby(sorted(routes, key=_place), key=lambda route: route[2]["tags"][0]):
        parts.append(f"## {TITLES.get(tag, tag.capitalize())}\n")
        parts += [_section(method, path, route, schemas) for method, path, route in group]
    return "\n".join(parts)


def _place(route: tuple[str, str, Mapping[str, Any]]) -> int:
    order = list(TITLES)
    tag = route[2]["tags"][0]
    return order.index(tag) if tag in order else len(order)


def _section(method: str, path: str, route: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    rights = ", ".join(code(right) for right in route.get("x-slowwave-rights") or ()) or "no key needed"
    lines = [f"### {method} {path}\n", f"{route.get('description', '').strip()} Right: {rights}.\n"]
    rows = [*_parameters(route, schemas), *_fields(route, schemas)]
    if rows:
        lines.append(table(COLUMNS, rows))
    kept = {status: one for status, one in route["responses"].items() if status != "default"}
    answers = [f"{code(status)} {_answer(one, schemas)}" for status, one in kept.items()]
    lines.append(f"Responses: {'; '.join(answers)}.\n")
    return "\n".join(lines)


def _parameters(route: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for one in route.get("parameters", ()):
        if one["name"] != "Idempotency-Key":
            schema = one.get("schema", {})
            meaning = one.get("description") or schema.get("description", "")
            required = "yes" if one.get("required") else ""
            yield code(one["name"]), one["in"], _type(schema, schemas), required, _line(meaning)


def _fields(route: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    body = _resolved(content.get("schema", {}), schemas)
    for name, schema in body.get("properties", {}).items():
        required = "yes" if name in body.get("required", ()) else ""
        yield code(name), "body", _type(schema, schemas), required, _line(schema.get("description", ""))


def _answer(response: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    content: Mapping[str, Any] = next(iter(response.get("content", {}).values()), {})
    fields = _resolved(content.get("schema", {}), schemas).get("properties", {})
    return "with " + ", ".join(code(name) for name in fields) if fields else response.get("description", "").lower()


def _resolved(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema behind references and beside null."""
    if "$ref" in schema:
        return _resolved(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    others = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return _resolved(others[0], schemas) if len(others) == 1 else schema


def _type(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    found = _resolved(schema, schemas)
    if "enum" in found:
        return ", ".join(code(str(value)) for value in found["enum"])
    if "anyOf" in found:
        return " or ".join(dict.fromkeys(_type(one, schemas) for one in found["anyOf"] if one.get("type") != "null"))
    if found.get("type") == "array":
        return f"list of {_type(found.get('items', {}), schemas)}"
    return str(found.get("format") or found.get("const") or found.get("type", "any"))


def _line(text: str) -> str:
    return " ".join(text.split())
