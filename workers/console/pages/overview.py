"""Home: open tasks, each with its action; the present state; and charts of the past."""

from collections.abc import Mapping
from typing import Any

from redis.exceptions import RedisError
from starlette.responses import Response

from slowwave.coordination.keys import QUEUES
from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.services.access.console_users import sees_everything
from slowwave_server.services.maintenance.heartbeat import swept_ago
from slowwave_server.services.reports.budget import caps_reached, reached_words
from slowwave_server.services.reports.history import RANGES, Range, read_history
from slowwave_server.services.reports.inbox import count_kinds
from slowwave_server.services.reports.status import Status, read_status
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.charts import draw_charts
from slowwave_server.workers.console.health_cache import Workers
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

WHERE: Mapping[str, tuple[str, str]] = {
    "dead-letters": ("/quarantine", "Open quarantine"),
    "events-quarantined": ("/quarantine", "Open quarantine"),
    "review-old": ("/inbox", "Open the inbox"),
    "review-many": ("/inbox", "Open the inbox"),
    "conflicts-old": ("/inbox", "Open the inbox"),
    "budget-spent": ("/budgets", "Open budgets"),
    "jobs-late": ("/jobs", "Open jobs"),
    "jobs-fail": ("/jobs", "Open jobs"),
    "passes-rolled-back": ("/runs", "Open runs"),
    "session-overdue": ("/agents", "Open agents"),
    "session-timeless": ("/agents", "Open agents"),
    "flushes-fail": ("/agents", "Open agents"),
    "backlog-grows": ("/agents", "Open agents"),
}
"""The page on which a problem can be looked at or fixed, and the words of the link."""
ABOUT_INBOX = frozenset({"review-old", "review-many", "conflicts-old"})
"""Problems that the card of the inbox shows already, if this tenant has open items."""
RANGE_WORDS: Mapping[Range, str] = {"hour": "1 hour", "hours": "24 hours", "week": "7 days", "quarter": "90 days"}
CHECK_SECONDS = 2.0
"""How long the live part waits for the doctor. It asks every 3 s, so a change shows within 5 s."""
GRAVITY = {name: place for place, name in enumerate(HEALTH_ISSUES)}


def overview(req: PageRequest) -> Response:
    """Show the whole page."""
    again, over = req.word("again") is not None, _range(req)
    values = _now(req, again=again)
    with req.reading() as connection:
        steps = read_history(connection, req.tenant, req.now, over=over)
    queues = _queues(values["status"].queues, values["seen"].workers)
    flower = req.state.settings.console.flower_url
    return req.page("overview.html", queues=queues, flower=flower, **_charts(over, steps), **values)


def live_home(req: PageRequest) -> Response:
    """Return open tasks and present figures, for a page that is open."""
    return req.part("parts/home.html", **_now(req, wait_seconds=CHECK_SECONDS))


def live_charts(req: PageRequest) -> Response:
    """Return the charts, for a page that is open."""
    over = _range(req)
    with req.reading() as connection:
        steps = read_history(connection, req.tenant, req.now, over=over)
    return req.part("parts/charts.html", **_charts(over, steps))


def _now(req: PageRequest, *, again: bool = False, wait_seconds: float = 0.0) -> dict[str, Any]:
    """Return problems, the most severe first; open items; figures of this tenant."""
    seen = req.state.watch.latest(again=again, wait_seconds=wait_seconds)
    with req.reading() as connection:
        status = read_status(connection, req.queue, req.tenant, req.now)
        caps = caps_reached(connection, req.tenant, req.settings.memory.llm, req.now)
        inbox = count_kinds(connection, req.tenant)
        # A finding may contain counts of other tenants.
        whole = sees_everything(connection, req.user)
    open_items = sum(inbox.values())
    found = [check for check in seen.checks if check.issue is not None]
    found.sort(key=lambda check: GRAVITY.get(check.issue or "", 0))
    shown = [check for check in found if not (open_items and check.issue in ABOUT_INBOX)]
    waiting = _quarantined(status) and not any(WHERE.get(c.issue or "", ("",))[0] == "/quarantine" for c in shown)
    return {
        "seen": seen,
        "status": status,
        "caps": [reached_words(used) for used in caps],
        "inbox": inbox,
        "quarantined": _quarantined(status) if waiting else 0,
        "whole": whole,
        "found": shown,
        "asks": len(shown) + bool(open_items) + bool(waiting) + len(caps),
        "severity": {name: issue.severity for name, issue in HEALTH_ISSUES.items()},
        "where": WHERE,
        "swept_ago": _swept(req),
    }


def _quarantined(status: Status) -> int:
    return status.quarantined + status.dead_letters


def _charts(over: Range, steps: Any) -> dict[str, Any]:
    return {"charts": draw_charts(steps), "over": over, "ranges": RANGE_WORDS}


def _range(req: PageRequest) -> Range:
    """Return the range in the address; 24 hours without a valid one."""
    asked = req.word("range")
    return next((one for one in RANGES if one == asked), "hours")


def _queues(
    depths: Mapping[str, int] | None, workers: Workers | None
) -> list[tuple[str, int | None, list[str] | None]]:
    """Return each queue with its number of messages and its consumers; None if the broker does not answer."""
    return [
        (
            queue,
            None if depths is None else depths.get(queue, 0),
            None if workers is None else [worker for worker, takes in workers.items() if queue in takes],
        )
        for queue in QUEUES
    ]


def _swept(req: PageRequest) -> float | None:
    try:
        return swept_ago(req.state.redis)
    except RedisError:
        return None


LINK = Link(
    title="Home",
    group="Work",
    place=1,
    icon="M4 11l8-7 8 7v9h-5v-6h-6v6H4z",
    shows="problems, the worst first, each with its fix; open work; charts",
    key="h",
)
ROUTES: list[Page] = [
    reads("/", overview, link=LINK),
    reads("/live/home", live_home),
    reads("/live/charts", live_charts),
]
