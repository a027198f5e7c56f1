"""Celery tasks. A task parses its payload, calls a service, and returns. Names and JSON arguments of tasks are a public
contract.

The decorator `slowwave_task` (`base.py`) declares a task. Routes, the schedule of beat and docs/reference follow from
the declarations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from slowwave.settings import Settings

Period = float | Callable[[Settings], float | None]


@dataclass(frozen=True, slots=True)
class DeclaredTask:
    """One task. every: beat sends the task after so many seconds, or as the settings say; None: beat does not send it.

    at_start: True if every worker sends the task when it is ready.
    """

    name: str
    queue: str
    every: Period | None
    at_start: bool

    def seconds(self, settings: Settings) -> float | None:
        """Return the period for these settings; None if beat does not send the task."""
        return self.every(settings) if callable(self.every) else self.every


DECLARED: dict[str, DeclaredTask] = {}


def all_tasks() -> Mapping[str, DeclaredTask]:
    """Import every module of this package, and return the tasks that the modules declare, by name."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return DECLARED
