"""One finding of the doctor: fine, an issue of the catalogue with its details, or unknown."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.domain.spoken_time import pluralize

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

TENANTS_NAMED = 10

Verdict = Literal["ok", "problem", "unknown"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. verdict: fine, problem, or unknown if the check could not run. finding: the details for a person.

    issue: for a problem, the name of the issue in the catalogue (`domain.health_issues`); title, cure: its texts there;
    here: an extra command or change for this case, or None.
    """

    name: str
    verdict: Verdict
    finding: str
    issue: str | None = None
    title: str | None = None
    cure: str | None = None
    here: str | None = None


def fine(name: str, finding: str) -> Check:
    """Return a finding without a problem."""
    return Check(name, "ok", finding)


def unknown(name: str, finding: str) -> Check:
    """Return a finding of a check that could not run."""
    return Check(name, "unknown", finding)


def problem(name: str, issue: str, finding: str, here: str | None = None) -> Check:
    """Return a finding for an issue of the catalogue, by the issue's name."""
    known = HEALTH_ISSUES[issue]
    return Check(name, "problem", finding, known.name, known.title, known.cure, here)


def counts_by_tenant(connection: "Connection", query: "Select[str, int]", by: str = "tenant") -> list[tuple[str, int]]:
    """Return the result of a grouped query of (tenant, count): the first tenants, and one more if there are more."""
    column = query.selected_columns[by]
    rows = connection.execute(query.group_by(column).order_by(column).limit(TENANTS_NAMED + 1))
    return [(tenant, count) for tenant, count in rows]


def told_by_tenant(counts: list[tuple[str, int]], thing: str) -> str:
    """Return these counts in words."""
    shown = [f"{pluralize(count, thing)} of tenant {tenant!r}" for tenant, count in counts[:TENANTS_NAMED]]
    return ", ".join(shown) + (", and more of other tenants" if len(counts) > TENANTS_NAMED else "")
