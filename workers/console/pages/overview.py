"""The first page: what is wrong and what to do, and how things stand.

Must not know: how anything is measured.
"""

from collections.abc import Mapping

from redis.exceptions import RedisError
from starlette.responses import Response

from slowwave.coordination.heartbeat import swept_ago
from slowwave.coordination.keys import QUEUES
from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.services.access.console_users import sees_everything
from slowwave_server.services.reports.budget import caps_reached, reached_words
from slowwave_server.services.reports.status import read_status
from slowwave_server.workers.console.health_cache import Workers
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

WHERE: Mapping[str, tuple[str, str]] = {
    "dead-letters": ("/quarantine", "what was set aside"),
    "events-quarantined": ("/quarantine", "what was set aside"),
    "review-old": ("/review", "the review queue"),
    "review-many": ("/review", "the review queue"),
    "conflicts-old": ("/conflicts", "the conflicts"),
    "budget-spent": ("/budgets", "the budgets"),
    "jobs-late": ("/jobs", "the jobs"),
    "jobs-fail": ("/jobs", "the jobs"),
    "session-overdue": ("/agents", "the agents and their sessions"),
    "session-timeless": ("/agents", "the agents and their sessions"),
    "flushes-fail": ("/agents", "the agents and their sessions"),
    "backlog-grows": ("/agents", "the agents and their sessions"),
}
"""The page where a trouble can be looked at, or mended."""
Queue = tuple[str, int | None, list[str] | None]
GRAVITY = {name: place for place, name in enumerate(HEALTH_ISSUES)}


def overview(req: PageRequest) -> Response:
    """What is wrong, the gravest first, in the words of `domain.health_issues`; then figures of this tenant."""
    seen = req.state.watch.latest(again=req.word("again") is not None)
    with req.reading() as connection:
        status = read_status(connection, req.queue, req.tenant, req.now)
        caps = caps_reached(connection, req.tenant, req.settings.memory.llm, req.now)
        # What was found may count what is other tenants'.
        whole = sees_everything(connection, req.user)
    found = sorted((c for c in seen.checks if c.issue is not None), key=lambda c: GRAVITY.get(c.issue or "", 0))
    return req.page(
        "overview.html",
        seen=seen,
        status=status,
        caps=[reached_words(used) for used in caps],
        whole=whole,
        found=found,
        severity={name: issue.severity for name, issue in HEALTH_ISSUES.items()},
        where=WHERE,
        queues=_queues(status.queues, seen.workers),
        swept_ago=_swept(req),
        flower=req.state.settings.console.flower_url,
    )


def _queues(
    depths: Mapping[str, int] | None, workers: Workers | None
) -> list[tuple[str, int | None, list[str] | None]]:
    """Each queue: how many messages, and who takes from it; None where the broker doesn't say."""
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


ROUTES: list[Page] = [reads("/", overview)]
