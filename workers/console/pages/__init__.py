"""All pages: each module of this package has its `ROUTES`, some of them with a link in the sidebar."""

from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

from slowwave_server.workers.console.app_state import Group
from slowwave_server.workers.console.routing import Page

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
PAGES: tuple[Page, ...] = tuple(page for module in _MODULES for page in module.ROUTES)
"""Every route of the console, in the order in which they are tried."""

_LINKS = [page.link for page in PAGES if page.link is not None]
NAVIGATION = tuple(sorted(_LINKS, key=lambda link: (get_args(Group).index(link.group), link.place)))
"""The links of the sidebar, in its order."""
