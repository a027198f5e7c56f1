"""Tables of cases that one test goes through: an item of pytest costs milliseconds, more than most cases do."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """`pytest.mark.parametrize` in one test: it runs with every case, then fails with each case that failed.

    Fixtures are those of one test, so that no case may leave anything in them.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [dict(zip(keys, case if len(keys) > 1 else (case,), strict=True)) for case in cases]
    assert table, "a table without a case proves nothing"

    def of_all(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            wrong = []
            for case in table:
                try:
                    test(**fixtures, **case)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - each is told below
                    wrong.append(f"{case}: {type(error).__name__}: {error}")
            assert not wrong, "\n\n".join([f"{len(wrong)} of {len(table)} cases", *wrong])

        signature = inspect.signature(test)
        kept = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        assert len(kept) + len(keys) == len(signature.parameters), f"{test.__name__} takes {[*signature.parameters]}"
        run.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return run

    return of_all
