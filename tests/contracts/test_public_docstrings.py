"""Docstrings of the public Python API: every argument, result and example is there, and every example compiles."""

import ast
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import slowwave
from tests.support.tables import for_each

METHODS_WITHOUT_RESULT = {"None", None}


def _public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in slowwave.__all__:
        value = getattr(slowwave, name)
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            for method, _ in inspect.getmembers(value, callable):
                raw = inspect.getattr_static(value, method)
                call = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
                of_slowwave = str(getattr(call, "__module__", None)).startswith("slowwave")
                if inspect.isfunction(call) and of_slowwave and not method.startswith("_"):
                    yield f"{name}.{method}", call


CALLS = dict(_public_calls())
CLASSES = [name for name in slowwave.__all__ if inspect.isclass(getattr(slowwave, name))]


def _sections(call: Callable[..., Any]) -> dict[str, str]:
    parts = re.split(r"(?m)^(Args|Attributes|Returns|Yields|Raises|Example):\n", inspect.getdoc(call) or "")
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@for_each("name", CALLS)
def test_public_call_describes_every_argument_and_result(name: str) -> None:
    call = CALLS[name]
    sections = _sections(call)
    told = set(re.findall(r"(?m)^    \*{0,2}(\w+):", sections.get("Args", "")))
    assert told == set(inspect.signature(call).parameters) - {"self", "cls"}
    result = inspect.signature(call).return_annotation
    assert result in METHODS_WITHOUT_RESULT or {"Returns", "Yields"} & sections.keys()


@pytest.mark.parametrize("name", sorted({name.partition(".")[0] for name in CALLS} & {"Memory", "AsyncMemory"}))
def test_every_call_of_the_memory_has_an_example(name: str) -> None:
    calls = [call for call in CALLS if call.startswith(f"{name}.")]
    assert [call for call in calls if "Example" not in _sections(CALLS[call])] == []


@for_each("name", CLASSES)
def test_public_class_describes_its_fields(name: str) -> None:
    kind = getattr(slowwave, name)
    told = set(re.findall(r"(?m)^    (\w+):", _sections(kind).get("Attributes", "")))
    assert inspect.getdoc(kind)
    assert told >= set(getattr(kind, "__dataclass_fields__", {})) | set(getattr(kind, "_fields", ()))


def test_every_example_of_the_public_api_compiles() -> None:
    parser = doctest.DocTestParser()
    examples = [
        (name, example.source)
        for name, value in {**CALLS, **{name: getattr(slowwave, name) for name in CLASSES}}.items()
        for example in parser.get_examples(inspect.getdoc(value) or "")
    ]
    assert len(examples) > 30
    for name, source in examples:
        compile(source, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
