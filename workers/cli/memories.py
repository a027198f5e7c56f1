"""`slowwave memories | explain`: what is remembered, and why.

Must not know: SQL, how memories are made.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.memory_types import MemoryType
from slowwave_server.domain.candidates import MemoryStatus
from slowwave_server.workers.cli.options import (
    REMEMBER,
    SCOPE_HELP,
    Agent,
    Json,
    Limit,
    MemoryId,
    moment_option,
    scope_parts,
)
from slowwave_server.workers.cli.output import console, print_json, styled
from slowwave_server.workers.cli.state import shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.memories import ListedMemory


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
    as_of: Annotated[str | None, typer.Option(help="Only what held then, by event time: a day or a time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As it was known then: a day or a time.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List what an agent remembers, the newest first; also what held, or was known, at another time."""
    from slowwave_server.services.reports.memories import list_memories

    shell = shell_of(context)
    held, known = moment_option("--as-of", as_of), moment_option("--known-at", known_at)
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
            as_of=held,
            known_at=known,
            limit=limit,
        )
    if as_json:
        print_json(found)
        return
    for memory in found:
        _list(memory)
    if not found:
        console().print("Nothing, at that time." if held or known else "Nothing is remembered there yet.")
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
    told = sources or ", ".join(f"read in {file}" for file in memory.files) or "noted by the agent"
    out.print(styled(f"  {memory.id} · {told}", "dim"), soft_wrap=True)


def explain(
    context: typer.Context,
    memory: MemoryId,
    *,
    reveal: Annotated[
        bool,
        typer.Option("--reveal", help="Show secrets in what was said: for operators, and recorded in the audit log."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell the whole life of a memory: what was said, what spoke for keeping it, every change, all that it touches."""
    from slowwave_server.services.access.audit_log import note_act
    from slowwave_server.services.reports.evidence import RevealRefused, check_reveal
    from slowwave_server.services.reports.explain import explain_memory
    from slowwave_server.workers.cli.life import print_life
    from slowwave_server.workers.cli.state import operator

    shell = shell_of(context)
    which = shell.memory_id(memory)
    with shell.connection() as connection:
        if reveal:
            try:
                check_reveal(connection, f"evidence of memory {which} of tenant {shell.tenant!r}", operator())
            except RevealRefused as refused:
                raise typer.BadParameter(str(refused), param_hint="--reveal") from refused
        found = explain_memory(connection, shell.tenant, which, reveal=reveal)
        if reveal:
            what = f"what was said for memory {which}"
            note_act(connection, "reveal", operator(), what, tenant=shell.tenant, via="shell", now=shell.now())
            connection.commit()
    if as_json:
        print_json(found)
    else:
        print_life(found)
