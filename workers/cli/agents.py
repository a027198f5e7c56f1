"""`slowwave agent list | show | clock`: agents, and when their local day begins."""

from typing import Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, Json, Limit
from slowwave_server.workers.cli.output import console, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of


def list_agents(
    context: typer.Context,
    *,
    after: Annotated[str | None, typer.Option(metavar="NAME", help="Begin after this name.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List agents by name, with their sessions and how many of these have unprocessed events."""
    from slowwave_server.services.reports.agents import list_agents as read_agents

    shell = shell_of(context)
    with shell.driver() as connection:
        found = read_agents(connection, shell.tenant, after=after, limit=limit)
    if as_json:
        print_json(found)
    elif found:
        rows = [(styled(one.name), f"{one.sessions:,}", f"{one.dirty:,}", one.timezone) for one in found]
        print_rows(console(), [("agent", "sessions", "unprocessed", "time zone"), *rows])
    else:
        console().print("There are no agents." if after is None else "There are no more agents.")


def show(context: typer.Context, agent: Agent, *, as_json: Json = False) -> None:
    """Show one agent: its sessions, its memories by status, its notes and open questions."""
    from slowwave_server.services.reports.agents import SESSIONS_COUNTED, read_agent

    shell = shell_of(context)
    with shell.driver() as connection:
        found = read_agent(connection, shell.tenant, agent)
    if as_json:
        print_json(found)
        return
    one = found.agent
    at_least = "at least " if one.sessions == SESSIONS_COUNTED else ""
    since = "" if one.oldest_dirty_at is None else f", the oldest since {one.oldest_dirty_at:%Y-%m-%d %H:%M} UTC"
    memories = ", ".join(f"{count:,} {status}" for status, count in sorted(found.memories.items()))
    memories = f"at least {memories}" if found.more_memories else memories or "none"
    rows: list[tuple[str, ...]] = [
        ("agent", styled(one.name, "bold")),
        ("created", f"{one.created_at:%Y-%m-%d %H:%M} UTC"),
        ("day begins", f"{one.cutoff_hour:02}:00, {one.timezone}"),
        ("sessions", f"{at_least}{one.sessions:,}; {one.dirty:,} with unprocessed events{since}"),
        ("memories", memories),
        ("notes", f"{pluralize(found.notes, 'note')} in working memory"),
        ("inbox", pluralize(found.questions, "open question")),
    ]
    print_rows(console(), rows)


def clock(
    context: typer.Context,
    agent: Agent,
    *,
    timezone: Annotated[str | None, typer.Option(help="An IANA name, such as Europe/Berlin.")] = None,
    cutoff_hour: Annotated[
        int | None, typer.Option(min=0, max=23, metavar="HOUR", help="The hour at which the agent's day begins.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or change when an agent's local day begins. A change applies to future events; earlier days stay.

    You can set it before the agent's first turn, so that history that you import later gets the right days.
    """
    from slowwave_server.domain.local_days import bounds_of, local_day
    from slowwave_server.services.days.agents import configure_agent

    shell = shell_of(context)
    with shell.connection() as connection:
        begins = shell.settings.memory.days
        found = configure_agent(connection, shell.tenant, agent, timezone=timezone, cutoff_hour=cutoff_hour, new=begins)
        connection.commit()
    today = local_day(shell.now(), found.timezone, found.cutoff_hour)
    since, until = bounds_of(today, found.timezone, found.cutoff_hour)
    if as_json:
        fields = {"agent": found.agent, "timezone": found.timezone, "cutoff_hour": found.cutoff_hour}
        print_json(fields | {"today": today, "since": since, "until": until})
        return
    rows = [
        ("agent", found.agent),
        ("time zone", found.timezone),
        ("day begins", f"{found.cutoff_hour:02}:00"),
        ("today", f"{today}, from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC"),
    ]
    print_rows(console(), rows)
