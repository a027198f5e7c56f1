"""The local day of an agent: its time zone and the hour at which its day begins."""

import difflib
from dataclasses import dataclass
from zoneinfo import available_timezones

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from slowwave.errors import SlowwaveError
from slowwave.identity import check_name
from slowwave.settings import Days
from slowwave_server.services.lookup import find_agent

LAST_HOUR = 23
_READ = text("SELECT a.name, a.time_zone, a.cutoff_hour FROM slowwave.agents a WHERE a.id = :id")
_WRITE = text("""
UPDATE slowwave.agents a SET time_zone = coalesce(:time_zone, a.time_zone),
                             cutoff_hour = coalesce(CAST(:cutoff_hour AS integer), a.cutoff_hour)
WHERE a.id = :id RETURNING a.name, a.time_zone, a.cutoff_hour
""")
_MAKE = text(
    "INSERT INTO slowwave.agents (tenant, name, time_zone, cutoff_hour)"
    " VALUES (:tenant, :name, :time_zone, :cutoff_hour) ON CONFLICT DO NOTHING"
)
_TRY = text("SELECT now() AT TIME ZONE :time_zone")


class InvalidDay(SlowwaveError, ValueError):
    """An invalid time zone or cut-off hour; the message says which, and names the nearest zone."""


@dataclass(frozen=True, slots=True)
class AgentDays:
    """The day boundary of an agent. timezone: an IANA name; cutoff_hour: when the agent's day begins (0 to 23)."""

    agent: str
    timezone: str
    cutoff_hour: int


def configure_agent(
    connection: Connection,
    tenant: str,
    agent: str,
    *,
    timezone: str | None = None,
    cutoff_hour: int | None = None,
    new: Days | None = None,
) -> AgentDays:
    """Set the given values and return the current ones. They apply to future events; stored events keep their day.

    new: the values of an agent that has no events yet. Such an agent is created, so that imported history gets the
    right days. With None, the agent must exist. Raises UnknownName, InvalidName, InvalidDay.
    """
    if timezone is None and cutoff_hour is None:
        return AgentDays(*connection.execute(_READ, {"id": find_agent(connection, tenant, agent)}).one())
    if cutoff_hour is not None and not 0 <= cutoff_hour <= LAST_HOUR:
        raise InvalidDay(f"a day begins at an hour from 0 to {LAST_HOUR}, not {cutoff_hour}")
    if timezone is not None:
        _check_zone(connection, timezone)
    if new is not None:
        begins = {"time_zone": new.timezone, "cutoff_hour": new.cutoff_hour}
        connection.execute(_MAKE, {"tenant": tenant, "name": check_name("agent", agent), **begins})
    agent_id = find_agent(connection, tenant, agent)
    values = {"id": agent_id, "time_zone": timezone, "cutoff_hour": cutoff_hour}
    return AgentDays(*connection.execute(_WRITE, values).one())


def _check_zone(connection: Connection, name: str) -> None:
    known = available_timezones()
    if name not in known:
        by_fold = {zone.casefold(): zone for zone in sorted(known)}
        close = difflib.get_close_matches(name.casefold(), by_fold, n=1)
        raise InvalidDay(
            f"{name!r} is not an IANA time zone" + (f"; did you mean {by_fold[close[0]]!r}?" if close else "")
        )
    try:
        with connection.begin_nested():
            connection.execute(_TRY, {"time_zone": name})
    except DBAPIError:
        raise InvalidDay(f"this Postgres does not know the time zone {name!r}") from None
