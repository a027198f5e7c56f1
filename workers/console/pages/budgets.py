"""Budgets: calls and tokens by day, week, model and purpose; the remaining budget; and when a reached cap ends."""

from starlette.responses import Response

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.reports.budget import BudgetReport, reached_words, read_budget
from slowwave_server.services.reports.spending import Spending, read_spending
from slowwave_server.workers.console.app_state import Link
from slowwave_server.workers.console.bar_chart import BarChart, draw_bar_chart
from slowwave_server.workers.console.request import PageRequest
from slowwave_server.workers.console.routing import Page, reads

AGENTS = 50
LABELLED = 7
"""Every LABELLED-th bar has its date below it."""


def show(req: PageRequest) -> Response:
    """Show used and remaining budget: of the tenant and its most expensive agents, or of the tenant and one agent."""
    agent = req.word("agent")
    caps = req.settings.memory.llm
    with req.reading() as connection:
        found = read_budget(connection, req.tenant, caps, req.now, agent=agent, limit=AGENTS)
        spent = read_spending(connection, req.tenant, req.now, agent=agent)
    return req.page(
        "budgets.html",
        agent=agent,
        found=found,
        spent=spent,
        reached=[f"{reached_words(used)}." for used in found.used if used.reached],
        plot=_plot(found, spent, agent),
        cap=_daily_cap(found, agent),
    )


def _plot(found: BudgetReport, spent: Spending, agent: str | None) -> BarChart | None:
    """Return the chart of daily spending; None if no day had a model call."""
    if not any(day.calls for day in spent.days):
        return None
    values = []
    for age, day in enumerate(reversed(spent.days)):
        words = f"{day.day}: {day.tokens:,} tokens, {pluralize(day.calls, 'call')}"
        values.append((day.tokens, words, f"{day.day:%m-%d}" if age % LABELLED == 0 else ""))
    return draw_bar_chart(values[::-1], limit=_daily_cap(found, agent))


def _daily_cap(found: BudgetReport, agent: str | None) -> int | None:
    (used,) = [used for used in found.used if used.period == "day" and used.agent == agent]
    return used.cap


LINK = Link(
    title="Budgets", group="System", place=2, icon="M5 20V10M12 20V4M19 20v-7", shows="tokens and caps", key="b"
)
ROUTES: list[Page] = [reads("/budgets", show, link=LINK)]
