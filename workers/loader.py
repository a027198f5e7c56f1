"""Celery's loader without imports from the current folder.

Celery puts the current folder first in the import path while it imports the modules of tasks. A user's own redis.py
would then be imported in place of the package. The server is an installed package, so it does not need this.
"""

from collections.abc import Callable
from typing import Any

from celery.loaders.app import AppLoader


class InstalledLoader(AppLoader):
    """Imports modules from the import path alone."""

    def import_from_cwd(self, module: str, imp: Callable[..., Any] | None = None, package: str | None = None) -> Any:
        """Import a module; the name of this method is Celery's."""
        return (self.import_module if imp is None else imp)(module, package=package)
