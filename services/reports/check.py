"""One finding of the doctor: fine, an issue of the catalogue with its details, or unknown."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, Select

from slowwave_server.domain.health_issues import HEALTH_ISSUES
from slowwave_server.domain.spoken_time import pluralize

TENANTS_NAMED = 10

Verdict = Literal["ok", "problem", "unknown"]


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. verdict: unknown if the check could not run. finding: details for a person.

    Of a problem, issue is its name in the catalogue (`domain.health_issues`), title and cure its words there; here:
    what to run or change in this very case, where more can be said.
    """

    name: str
    verdict: Verdict
    finding: str
    issue: str | None = None
    title: str | None = None
    cure: str | None = None
    here: str | None = None


def fine(name: str, finding: str) -> Check:
    """Nothing is wrong."""
    return Check(name, "ok", finding)


def unknown(name: str, finding: str) -> Check:
    """A check that could not run."""
    return Check(name, "unknown", finding)


def problem(name: str, issue: str, finding: str, here: str | None = None) -> Check:
    """An issue of the catalogue, by its name there."""
    known = HEALTH_ISSUES[issue]
    return Check(name, "problem", finding, known.name, known.title, known.cure, here)


def counts_by_tenant(connection: Connection, query: Select[str, int], by: str = "tenant") -> list[tuple[str, int]]:
    """The result of a query of (tenant, count), grouped: the first tenants by name, and one more if there are more."""
    column = query.selected_columns[by]
    rows = connection.execute(query.group_by(column).order_by(column).limit(TENANTS_NAMED + 1))
    return [(tenant, count) for tenant, count in rows]


def told_by_tenant(counts: list[tuple[str, int]], thing: str) -> str:
    """These counts in words."""
    shown = [f"{pluralize(count, thing)} of tenant {tenant!r}" for tenant, count in counts[:TENANTS_NAMED]]
    return ", ".join(shown) + (", and more of other tenants" if len(counts) > TENANTS_NAMED else "")
