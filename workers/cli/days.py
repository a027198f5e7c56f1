"""`slowwave day list | show`: days and their summaries."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.options import Agent, Json, Limit, Scope, day_option, scope_parts
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.days.book import DayEntry
    from slowwave_server.services.reports.days import DayStory, SummaryVersion

SameDay = Annotated[str, typer.Argument(metavar="DAY", help="A local day, such as 2026-03-05.", show_default=False)]


def list_days(
    context: typer.Context,
    agent: Annotated[str | None, typer.Argument(help="Only this agent's days.", show_default=False)] = None,
    *,
    since: Annotated[str | None, typer.Option(metavar="DAY", help="Only this day and later days.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List days, the newest first: messages, unsummarised messages, status, last error."""
    from slowwave_server.services.days.book import day_book

    first = None if since is None else day_option("--since", since)
    shell = shell_of(context)
    with shell.driver() as connection:
        found = day_book(connection, shell.tenant, agent, since=first, limit=limit)
    if as_json:
        print_json([_document(entry) for entry in found])
        return
    out = console()
    if not found:
        out.print("No day matches.")
        return
    head = ("day", "agent", "scope", "messages", "new", "status", "last error")
    rows = [tuple(styled(title, "dim") for title in head), *(_row(entry) for entry in found)]
    print_rows(out, rows)
    if len(found) == limit:
        console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")


def _row(entry: "DayEntry") -> tuple[Any, ...]:
    return (
        styled(entry.ref.day.isoformat(), "bold"), entry.ref.agent, entry.ref.scope or "own",
        f"{entry.total_messages:,}", f"{entry.messages_since_last_summary:,}",
        _status(entry.status, entry.version), one_line(entry.last_error or "", 200),
    )  # fmt: skip


def _status(status: str, version: int) -> str:
    return f"{status} ({version})" if version else status


def _document(entry: "DayEntry") -> dict[str, Any]:
    """An entry without row numbers."""
    from slowwave_server.workers.shared.json_document import document

    ref = entry.ref
    fields: dict[str, Any] = document(entry)
    del fields["ref"]
    return {"agent": ref.agent, "scope": ref.scope, "day": ref.day} | fields


def show(
    context: typer.Context,
    agent: Agent,
    day: SameDay,
    *,
    scope: Scope = None,
    version: Annotated[int | None, typer.Option(min=1, help="The version of the summary; default: the newest.")] = None,
    as_json: Json = False,
) -> None:
    """Show the summary of a day, each line with its source event."""
    from slowwave_server.services.reports.days import read_day

    if scope is not None:
        scope_parts(scope)
    which, shell = day_option("DAY", day), shell_of(context)
    with shell.connection() as connection:
        found = read_day(connection, shell.tenant, agent, which, scope=scope, version=version)
    if as_json:
        print_json(found)
    else:
        _show(found)


def _show(story: "DayStory") -> None:
    out = console()
    where = "" if story.scope is None else f" in {story.scope}"
    new = story.messages_since_last_summary
    said = pluralize(story.total_messages, "message") + (f", {new:,} of them not summarised yet" if new else "")
    rows = [("day", f"{story.day} of {story.agent}{where}"), ("status", _status(story.status, story.version))]
    rows.append(("messages", said))
    if story.summary is not None:
        rows.append(("summary", _made(story.summary)))
    if len(story.versions) > 1:
        rows.append(("versions", ", ".join(map(str, story.versions))))
    if story.last_error:
        rows.append(("error", one_line(story.last_error, 300)))
    print_rows(out, rows)
    if story.summary is None:
        out.print("There is no summary yet. A summary is made after enough new messages, or after a quiet period.")
        return
    _show_lines(story.summary)


def _made(told: "SummaryVersion") -> str:
    ending = ", final" if told.final else ""
    made = f"{told.made_at:%Y-%m-%d %H:%M} UTC"
    return f"version {told.version}{ending}, of {pluralize(told.messages, 'message')}, {made}, by {told.summarizer}"


def _show_lines(told: "SummaryVersion") -> None:
    from slowwave_server.domain.summaries.lines import HEADINGS

    out, heading = console(), None
    for line in told.lines:
        if HEADINGS.get(line["facet"], line["facet"]) != heading:
            heading = HEADINGS.get(line["facet"], line["facet"])
            out.print()
            out.print(styled(heading, "bold"))
        out.print(f"- {safe(line['text'])}", soft_wrap=True)
        if trace := _trace(line):
            out.print(styled(f"  {trace}", "dim"), soft_wrap=True)
    if not told.lines:
        out.print("Nothing of it was worth telling.")


def _trace(line: "dict[str, Any]") -> str:
    """The source event of a line; an imported summary may lack some parts."""
    origin = f"{line['session']}#{line['seq']}" if line.get("session") and line.get("seq") else None
    at = line.get("at")
    when = f"{at[:16].replace('T', ' ')} UTC" if at else None
    return " · ".join(part for part in (origin, when, line.get("speaker")) if part)
