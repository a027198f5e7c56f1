"""All pages, by topic: each module here has its `ROUTES`.

Must not know: what a page shows.
"""

from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.pages import (
    agents,
    audit,
    budgets,
    conflicts,
    days,
    exports,
    forget,
    graph,
    keys,
    login,
    maintenance,
    memories,
    memory,
    names,
    overview,
    quarantine,
    recall,
    review,
    runs,
)
from slowwave_server.workers.console.routing import Page

_KNOWLEDGE = (memories, memory, conflicts, review, graph, names)
_WORK = (days, runs, budgets, quarantine, maintenance, forget, exports, keys, audit)
_ALL = (overview, agents, recall, login, *_KNOWLEDGE, *_WORK)
PAGES: tuple[Page, ...] = tuple(page for module in _ALL for page in module.ROUTES)
"""Every route of the console, in the order in which they are tried."""


_WANTED = (
    Link("Overview", "/"),
    Link("Agents", "/agents"),
    Link("Memories", "/memories"),
    Link("Review", "/review"),
    Link("Conflicts", "/conflicts"),
    Link("Graph", "/graph"),
    Link("Timeline", "/timeline"),
    Link("Names", "/names"),
    Link("Days", "/days"),
    Link("Search", "/search"),
    Link("Runs", "/runs"),
    Link("Budgets", "/budgets"),
    Link("Set aside", "/quarantine"),
    Link("Maintenance", "/maintenance"),
    Link("Exports", "/exports"),
    Link("API keys", "/keys", "operator"),
    Link("Audit log", "/audit", "operator"),
)
NAVIGATION = tuple(link for link in _WANTED if link.path in {page.path for page in PAGES})
