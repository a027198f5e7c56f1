"""The table of Redis keys in `coordination/keys.py` is complete: every key of the code has a kind, and a row there."""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from slowwave.coordination import keys
from slowwave.coordination.key_kinds import KINDS, kind_of

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "slowwave": ROOT / "client/src/slowwave",
    **{f"slowwave_server.{name}": ROOT / name for name in ("services", "tasks", "workers")},
}
ANY_TYPE = "any"


def rows() -> list[tuple[str, str]]:
    """The keys of the table with their types, "" where a row shares the type of the row above.

    Names in capitals stand for values; here each is an x.
    """
    types = "|".join(sorted({kind.type for kind in KINDS} | {ANY_TYPE}))
    found = re.findall(rf"^    (slowwave:\S+) +({types})?\b", keys.__doc__ or "", re.MULTILINE)
    return [(re.sub(r"[A-Z]+", "x", name), told) for name, told in found]


def keys_in_code() -> Iterator[tuple[str, str]]:
    """Each key that a module makes of its PREFIX: the module, and the key with an x for each value."""
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            if 'f"{PREFIX}' not in source:
                continue
            name = ".".join((package, *path.relative_to(folder).with_suffix("").parts))
            prefix = getattr(importlib.import_module(name), "PREFIX", "")
            if prefix.startswith(keys.PREFIX):
                yield from ((name, prefix + rest) for rest in _after_prefix(ast.parse(source)))


def _after_prefix(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr) and _begins_with_prefix(node):
            parts = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values[1:])
            rest = "".join(map(str, parts))
            # A star marks a pattern of keys; a brace at the end, the beginning of an agent's keys.
            if rest and "*" not in rest and not rest.endswith("}"):
                yield rest


def _begins_with_prefix(node: ast.JoinedStr) -> bool:
    first = node.values[0]
    return isinstance(first, ast.FormattedValue) and ast.unparse(first.value) == "PREFIX"


def test_every_key_of_the_code_has_a_kind() -> None:
    made = sorted(keys_in_code())
    assert len(made) >= 10
    assert [(module, key) for module, key in made if kind_of(key) is None] == []


def test_the_table_of_keys_has_each_kind_with_its_type() -> None:
    table = rows()
    assert [(key, told) for key, told in table if told != ANY_TYPE and kind_of(key) is None] == []
    kinds = {kind.name: kind for key, told in table if told != ANY_TYPE and (kind := kind_of(key)) is not None}
    ours = {kind.name for kind in KINDS if kind.pattern.startswith(keys.PREFIX)}
    assert set(kinds) == ours
    differ = [(key, told) for key, told in table if (kind := kind_of(key)) and told not in {"", kind.type}]
    assert differ == []
