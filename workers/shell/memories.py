"""`slowwave memories | explain`: what is remembered, and why.

Must not know: SQL, how memories are made.
"""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from domain.candidates import MemoryStatus, MemoryType
from domain.spoken_time import count_words
from workers.shell.options import REMEMBER, SCOPE_HELP, Agent, Json, Limit, scope_parts
from workers.shell.output import console, one_line, print_json, print_rows, safe, styled
from workers.shell.state import shell_of

if TYPE_CHECKING:
    from services.reports.explain import ChangeMade, Explanation
    from services.reports.memories import ListedMemory


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=REMEMBER)(memories)
    app.command(rich_help_panel=REMEMBER)(explain)


def memories(
    context: typer.Context,
    agent: Agent,
    *,
    status: Annotated[MemoryStatus | None, typer.Option(help="Default: all but archived.")] = None,
    kind: Annotated[MemoryType | None, typer.Option("--type", help="Only of this type.")] = None,
    session: Annotated[str | None, typer.Option(help="Only what comes from this session.")] = None,
    scope: Annotated[str | None, typer.Option(help=f"Instead of the agent's own: {SCOPE_HELP}")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List what an agent remembers, the newest first."""
    from services.reports.memories import list_memories

    shell = shell_of(context)
    place = None if scope is None else scope_parts(scope)
    with shell.connection() as connection:
        found = list_memories(
            connection,
            shell.tenant,
            agent,
            scope=place,
            session=session,
            status=status,
            kind=kind,
            limit=limit,
        )
    if as_json:
        print_json(found)
        return
    for memory in found:
        _list(memory)
    if not found:
        console().print("Nothing is remembered there yet.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")


def _list(memory: "ListedMemory") -> None:
    out = console()
    marks = [memory.type, memory.status, f"confidence {memory.confidence:.2f}", f"importance {memory.importance:.2f}"]
    since = f"from {memory.valid_from:%Y-%m-%d}"
    marks.append(since if memory.valid_to is None else f"{since} to {memory.valid_to:%Y-%m-%d}")
    sources = ", ".join(f"{source.session}#{source.seq}" for source in memory.sources[:5])
    if memory.source_count > 5:  # noqa: PLR2004 (as many as fit on a line)
        sources += f" and {memory.source_count - 5:,} more"
    out.print(styled(memory.content, "bold"), soft_wrap=True)
    out.print(styled(f"  {' · '.join(marks)}", "dim"), soft_wrap=True)
    out.print(styled(f"  {memory.id} · {sources}", "dim"), soft_wrap=True)


def explain(
    context: typer.Context,
    memory: Annotated[UUID, typer.Argument(help="The memory's id.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Say why a memory exists: what was said, what spoke for keeping it, and every change since."""
    from services.reports.explain import explain_memory

    shell = shell_of(context)
    with shell.connection() as connection:
        found = explain_memory(connection, shell.tenant, memory)
    if as_json:
        print_json(found)
    else:
        _explain(found)


def _explain(found: "Explanation") -> None:
    out = console()
    until = "" if found.valid_to is None else f" to {found.valid_to:%Y-%m-%d %H:%M}"
    out.print(styled(found.content, "bold"), soft_wrap=True)
    rows = [
        ("memory", str(found.id)),
        ("scope", found.scope),
        ("kind", f"{found.type}, {found.status}, on the word of: {found.trust}"),
        (
            "holds",
            f"from {found.valid_from:%Y-%m-%d %H:%M}{until} UTC; recorded {found.recorded_at:%Y-%m-%d %H:%M} UTC",
        ),
        ("confidence", f"{found.confidence:.2f}"),
        ("importance", f"{found.importance:.2f}"),
        ("because of", ", ".join(found.signals) or "no signal was noted"),
    ]
    if found.entities:
        rows.append(("about", ", ".join(found.entities)))
    if found.archive_reason is not None:
        rows.append(("archived", found.archive_reason))
    if found.superseded_by is not None:
        rows.append(("superseded", f"by {found.superseded_by}"))
    print_rows(out, rows, indent=2)
    out.print(f"\nSaid in {count_words(len(found.sources), 'event')}:")
    for source in found.sources:
        where = f"{source.agent} {source.session}#{source.seq}, {source.happened_at:%Y-%m-%d %H:%M} UTC"
        out.print(styled(f"  {where}", "dim"), soft_wrap=True)
        print_rows(out, [(f"{source.name or source.role}:", safe(source.content))], indent=4)
    out.print("\nChanges:")
    made = {flush.id: flush for flush in found.flushes}
    for change in found.changes:
        by = ""
        if change.flush is not None:
            by = f" by flush {change.flush}"
            if (flush := made.get(change.flush)) is not None:
                first, last = flush.from_seq, flush.to_seq
                window = f"{first}" if first == last else f"{first} to {last}"
                by += f" of {flush.session}#{window}, {flush.extractor} {flush.extractor_version}"
        out.print(f"  {change.made_at:%Y-%m-%d %H:%M:%S} UTC  {change.action}{safe(by)}", soft_wrap=True)
        print_rows(out, [(one_line(text, 300),) for text in _differences(change)], indent=4)


def _differences(change: "ChangeMade") -> list[str]:
    before, after = change.before or {}, change.after or {}
    lines = [change.reason] if change.action != "created" else []
    for key in after:
        if key == "sources":
            lines.append(f"sources + {', '.join(str(seq) for seq in after[key])}")
        elif key not in before:
            lines.append(f"{key} {_value(after[key])}")
        elif before[key] != after[key]:
            lines.append(f"{key} {_value(before[key])} → {_value(after[key])}")
    return lines


def _value(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)
