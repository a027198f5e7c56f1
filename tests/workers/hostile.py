"""Folders whose modules have the names of the server's own or of its dependencies. Each module raises on import."""

from collections.abc import Sequence
from pathlib import Path

SERVERS_OWN = ("beat_schedule.py", "tasks.py", "workers.py", *(f"{name}/__init__.py" for name in ("domain", "models")))
"""A user may well have these. A program in such a folder imports its own ones, and Slowwave must not."""
ALL = (
    *SERVERS_OWN,
    *("services/__init__.py", "slowwave.py", "celeryconfig.py", "flowerconfig.py"),
    *(f"{name}.py" for name in ("celery", "kombu", "packaging", "psycopg", "redis", "sqlalchemy", "tornado", "yaml")),
)
"""With the client's name and those of dependencies, too: only programs that leave the folder out of their path run."""


def make_hostile(folder: Path, files: Sequence[str] = ALL) -> Path:
    """Fill a folder, and answer it."""
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(f"raise RuntimeError({file!r} + ' of the current folder was imported')\n")
    return folder
