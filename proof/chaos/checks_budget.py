"""Check I7, budgets: tokens are reserved before a model call, and no tenant pays less than it used."""

import json
from collections.abc import Iterator

from proof.chaos.evidence import Evidence
from proof.chaos.findings import Finding, none_of, rows
from proof.chaos.places import lines_of
from slowwave.settings import Llm, load_settings

_OPEN = "SELECT id, purpose, reserved_at FROM slowwave.llm_calls WHERE outcome IS NULL"
_DEARER = "SELECT id, tokens_reserved, tokens_settled FROM slowwave.llm_calls WHERE tokens_settled > tokens_reserved"
_SUMS = """
    WITH counted AS (
        SELECT c.tenant, w.agent, p.period, p.starts, count(*) AS calls, coalesce(sum(c.tokens_settled), 0) AS settled,
               coalesce(sum(c.tokens_reserved) FILTER (WHERE c.outcome IS NULL), 0) AS reserved
        FROM slowwave.llm_calls c
        CROSS JOIN LATERAL (SELECT '' AS agent UNION SELECT c.agent WHERE c.agent IS NOT NULL) AS w
        CROSS JOIN LATERAL (VALUES ('day', (c.reserved_at AT TIME ZONE 'UTC')::date),
            ('week', date_trunc('week', c.reserved_at AT TIME ZONE 'UTC')::date)) AS p (period, starts)
        GROUP BY 1, 2, 3, 4
    )
    SELECT tenant, agent, period, starts, u.calls, c.calls AS counted, u.tokens_settled, c.settled, u.tokens_reserved
    FROM slowwave.llm_usage u FULL JOIN counted c USING (tenant, agent, period, starts)
    WHERE coalesce(u.calls, 0) <> coalesce(c.calls, 0) OR coalesce(u.tokens_settled, 0) <> coalesce(c.settled, 0)
        OR coalesce(u.tokens_reserved, 0) <> coalesce(c.reserved, 0)
"""
_OVER = """
    SELECT tenant, agent, period, starts, tokens_settled + tokens_reserved FROM slowwave.llm_usage
    WHERE (agent = '') = :whole AND period = :period AND tokens_settled + tokens_reserved > :cap
"""
_TOTALS = """
    SELECT count(*) AS calls, coalesce(sum(coalesce(tokens_settled, tokens_reserved)), 0) AS paid,
           coalesce(sum(tokens_settled) FILTER (WHERE outcome = 'answered' AND counted), 0) AS answered
    FROM slowwave.llm_calls
"""


def everything_is_settled(evidence: Evidence) -> list[Finding]:
    """Check that no call is open, that no call cost more than its reservation, and that the sums equal those of the
    calls.

    A call of a worker that was killed or could not reach Postgres stays open until the tenant's next call counts it in
    full. Until then its reservation counts, which the sums show.
    """
    engine = evidence.engine
    return [
        *([] if _may_be_lost(evidence) else none_of(engine, "I7", "calls of a model are open", _OPEN)),
        *none_of(engine, "I7", "calls cost more than was set aside for them", _DEARER),
        *none_of(engine, "I7", "sums are not those of their calls", _SUMS),
    ]


def caps_hold(evidence: Evidence) -> list[Finding]:
    """Check that no tenant and no agent used more in a day or a week than the settings allow."""
    caps = _caps(evidence)
    if caps is None:
        return []
    bounds = (
        (True, "day", caps.daily_token_budget),
        (True, "week", caps.weekly_token_budget),
        (False, "day", caps.agent_daily_token_budget),
        (False, "week", caps.agent_weekly_token_budget),
    )
    return [
        finding
        for whole, period, cap in bounds
        if cap
        for finding in none_of(
            evidence.engine,
            "I7",
            f"sums are over the cap of {cap} a {period}",
            _OVER,
            whole=whole,
            period=period,
            cap=cap,
        )
    ]


def as_the_endpoint_counted(evidence: Evidence) -> list[Finding]:
    """Check that every call at the endpoint was reserved before and fully paid, and that no answer cost more than it
    should.

    A call that is still open counts with its reservation, as it does for budgets.
    """
    (ours,) = rows(evidence.engine, _TOTALS)
    heard = list(lines_of(evidence.places.model_calls))
    used = sum(line["input"] + line["output"] for line in heard)
    detail = f"ledger {ours.calls} calls, {ours.paid} tokens; endpoint {len(heard)} calls, {used} tokens"
    return [
        Finding("I7", what, detail)
        for what, wrong in (
            ("the endpoint was asked more often than the ledger knows", len(heard) > ours.calls),
            ("the endpoint used more tokens than were paid", used > ours.paid),
            ("answers were paid with more than the endpoint counted", ours.answered > used),
        )
        if wrong
    ]


CHECKS = (everything_is_settled, caps_hold, as_the_endpoint_counted)


def _may_be_lost(evidence: Evidence) -> bool:
    """Return True if a fault may have kept a worker from settling its calls."""
    return any(
        str(fault["kind"]).startswith(("worker", "postgres", "spool")) for fault in lines_of(evidence.places.faults)
    )


def _caps(evidence: Evidence) -> Llm | None:
    return next((load_settings(settings).memory.llm for settings in environments(evidence)), None)


def environments(evidence: Evidence) -> Iterator[dict[str, str]]:
    """Return the settings with which each producer talked, as variables."""
    for path in sorted(evidence.folder.glob("environment-*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))
