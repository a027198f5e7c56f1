"""All pages, by topic: each module has its `ROUTES`."""

from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.pages import (
    agent,
    agents,
    aliases,
    audit,
    budgets,
    days,
    exports,
    find,
    forget,
    graph,
    inbox,
    jobs,
    keys,
    live,
    login,
    memories,
    memory,
    overview,
    quarantine,
    recall,
    runs,
    session,
)
from slowwave_server.workers.console.routing import Page

_KNOWLEDGE = (memories, memory, inbox, graph, aliases)
_WORK = (days, runs, budgets, quarantine, jobs, forget, exports, keys, audit)
_ALL = (overview, agents, agent, session, recall, login, find, live, *_KNOWLEDGE, *_WORK)
PAGES: tuple[Page, ...] = tuple(page for module in _ALL for page in module.ROUTES)
"""Every route of the console, in the order in which they are tried."""

NAVIGATION = (
    Link("Home", "/", "Work", "home", "h"),
    Link("Inbox", "/inbox", "Work", "inbox", "i", badge="inbox"),
    Link("Quarantine", "/quarantine", "Work", "quarantine", "q", badge="quarantine"),
    Link("Agents", "/agents", "Knowledge", "agents", "a", also=("/agent", "/session")),
    Link("Memories", "/memories", "Knowledge", "memories", "m"),
    Link("Timeline", "/timeline", "Knowledge", "timeline"),
    Link("Graph", "/graph", "Knowledge", "graph"),
    Link("Aliases", "/aliases", "Knowledge", "aliases"),
    Link("Recall", "/recall", "Knowledge", "recall", "s"),
    Link("Days", "/days", "History", "days", "d"),
    Link("Runs", "/runs", "History", "runs", "r"),
    Link("Audit log", "/audit", "History", "audit", role="operator"),
    Link("Jobs", "/jobs", "System", "jobs", "j"),
    Link("Budgets", "/budgets", "System", "budgets", "b"),
    Link("API keys", "/keys", "System", "keys", "k", role="operator"),
    Link("Exports", "/exports", "System", "exports"),
    Link("Forget", "/forget", "System", "forget", role="operator"),
)
"""The links of the sidebar, in its order."""
