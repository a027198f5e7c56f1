"""The table of Redis keys in `coordination/keys.py` is complete: every key of the code has a kind there."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

from slowwave.coordination import keys
from slowwave.coordination.key_kinds import kind_of

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "slowwave": ROOT / "client/src/slowwave",
    **{f"slowwave_server.{name}": ROOT / name for name in ("services", "tasks", "workers")},
}


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
