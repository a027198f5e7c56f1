"""A folder whose modules have the names of ours, of Celery's and of the broker's: each raises where it is imported."""

from pathlib import Path

MODULES = (
    *("beat_schedule", "celery", "celeryconfig", "flowerconfig", "kombu", "redis", "slowwave"),
    *("tasks", "workers", "packaging", "sqlalchemy"),
)
PACKAGES = ("domain", "models", "services")


def make_hostile(folder: Path) -> Path:
    """Fill a folder, and answer it."""
    for name in PACKAGES:
        (folder / name).mkdir()
    for file in [*(f"{name}.py" for name in MODULES), *(f"{name}/__init__.py" for name in PACKAGES)]:
        (folder / file).write_text(f"raise RuntimeError({file!r} + ' of the current folder was imported')\n")
    return folder
