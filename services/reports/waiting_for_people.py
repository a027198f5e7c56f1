"""Check for work that waits too long for a person: quarantine, dead letters, conflicts, questions, budgets."""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import Connection, func, select

from slowwave.settings import Llm
from slowwave_server.domain.health_limits import CONFLICT_OLD, REVIEW_MANY, REVIEW_OLD
from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.models import Agent, DeadLetter, Event, Flush, Session
from slowwave_server.services.reports.check import Check, counts_by_tenant, fine, problem, told_by_tenant
from slowwave_server.services.reports.metrics.budgets import cap_of, is_spent, read_usage
from slowwave_server.services.reports.metrics.waiting_for_people import read_waiting_for_people

SPENT_NAMED = 5


def check_quarantine(connection: Connection) -> Check:
    """Check for events in quarantine."""
    by_tenant = (
        select(Agent.tenant, func.count())
        .join(Session, Session.agent_id == Agent.id)
        .join(Flush, Flush.session_id == Session.id)
        .join(Event, (Event.session_id == Flush.session_id) & Event.seq.between(Flush.from_seq, Flush.to_seq))
        .where(Flush.outcome == "quarantined", Event.quarantined_at.is_not(None))
    )
    found = counts_by_tenant(connection, by_tenant)
    if not found:
        return fine("quarantine", "no event was set aside")
    return problem("quarantine", "events-quarantined", f"set aside: {told_by_tenant(found, 'event')}")


def check_letters(connection: Connection) -> Check:
    """Check for dead letters that wait for a decision."""
    tenant = func.coalesce(DeadLetter.tenant, "(unreadable)").label("tenant")
    query = select(tenant, func.count()).where(DeadLetter.state == "open")
    found = counts_by_tenant(connection, query, tenant.name)
    if not found:
        return fine("dead letters", "none is open")
    return problem("dead letters", "dead-letters", f"open: {told_by_tenant(found, 'letter')}")


def check_decisions(connection: Connection, *, now: datetime) -> Iterator[Check]:
    """Check that people answer questions and conflicts. Counts all tenants together."""
    found = read_waiting_for_people(connection, now=now)
    number = int(sum(found.review_open.values()))
    questions = f"{pluralize(number, 'question')} open"
    waited = f"{questions}, the first for {duration_words(found.review_oldest_seconds)}"
    if found.review_oldest_seconds > REVIEW_OLD.total_seconds():
        yield problem("review", "review-old", waited)
    elif number > REVIEW_MANY:
        yield problem("review", "review-many", waited)
    else:
        yield fine("review", waited if found.review_oldest_seconds else questions)
    conflicts = f"{pluralize(found.conflicts_open, 'contradiction')} open"
    waited = f"{conflicts}, the first for {duration_words(found.conflicts_oldest_seconds)}"
    if found.conflicts_oldest_seconds > CONFLICT_OLD.total_seconds():
        yield problem("conflicts", "conflicts-old", waited)
    else:
        yield fine("conflicts", waited if found.conflicts_open else conflicts)


def check_budget(connection: Connection, caps: Llm, *, now: datetime) -> Check:
    """Check whether a tenant's cap lets no further model call pass. Covers all tenants."""
    if caps.driver == "none":
        return fine("budget", "no model is set up, so nothing is spent")
    spent = [usage for usage in read_usage(connection, now=now) if is_spent(usage, caps)]
    if not spent:
        return fine("budget", "no cap of a tenant is reached")
    told = [f"the {u.period}'s {cap_of(caps, u.period):,} tokens of tenant {u.tenant!r}" for u in spent[:SPENT_NAMED]]
    more = f", and {len(spent) - SPENT_NAMED} more" if len(spent) > SPENT_NAMED else ""
    return problem("budget", "budget-spent", f"spent: {', '.join(told)}{more}")
