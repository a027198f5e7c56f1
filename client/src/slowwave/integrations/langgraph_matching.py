"""LangGraph's filters and conditions, for stores that evaluate filters themselves."""

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.store.base import MatchCondition

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "$eq": eq, "$ne": ne, "$gt": gt, "$gte": ge, "$lt": lt, "$lte": le,
}  # fmt: skip


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Raise ValueError if a filter has an unknown operator."""
    signs = {sign for rule in wanted.values() for sign in _rules(rule)}
    if unknown := sorted(str(sign) for sign in signs - _OPERATORS.keys()):
        raise ValueError(f"a filter has the operators {', '.join(_OPERATORS)}, not {unknown[0]!r:.20}")


def matches(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return True if a value passes a filter: plain values must be equal, and all operators of a mapping must hold."""
    for name, rule in wanted.items():
        for sign, bound in _rules(rule).items():
            try:
                if not _OPERATORS[sign](value.get(name), bound):
                    return False
            except TypeError:
                return False
    return True


def fits(namespace: tuple[str, ...], rule: "MatchCondition") -> bool:
    """Return True if a namespace has the prefix or suffix of a condition; "*" matches any one label."""
    if len(rule.path) > len(namespace):
        return False
    part = namespace[: len(rule.path)] if rule.match_type == "prefix" else namespace[len(namespace) - len(rule.path) :]
    return all(wanted in ("*", label) for wanted, label in zip(rule.path, part, strict=True))


def _rules(rule: Any) -> Mapping[str, Any]:
    """Return the operators of a filter: a plain value means equality, a mapping with `$` keys holds operators."""
    signed = isinstance(rule, Mapping) and any(str(key).startswith("$") for key in rule)
    return rule if signed else {"$eq": rule}
