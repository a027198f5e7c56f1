"""`slowwave memory list | show`: what agents remember, and why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.memory_types import MemoryStatus, MemoryType
from slowwave_server.workers.cli.options import (
    Agent,
    Json,
    Limit,
    MemoryId,
    Scope,
    moment_option,
    scope_parts,
)
from slowwave_server.workers.cli.output import console, print_json, styled
from slowwave_server.workers.cli.state import operator, shell_of
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave_server.services.reports.explain import Explanation
    from slowwave_server.services.reports.memories import ListedMemory

OnlyStatus = Annotated[
    MemoryStatus | None, typer.Option(help="Only memories with this status; default: all but archived.")
]
AsOf = Annotated[str | None, typer.Option(help="Only memories that were valid at this day or time (event time).")]


def list_memories(
    context: typer.Context,
    agent: Agent,
    *,
    status: OnlyStatus = None,
    kind: Annotated[MemoryType | None, typer.Option("--type", help="Only memories of this type.")] = None,
    session: Annotated[str | None, typer.Option(help="Only memories that come from this session.")] = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: Annotated[str | None, typer.Option(help="The memories as they were stored at this day or time.")] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List an agent's memories, the newest first; optionally as of another time."""
    from slowwave_server.services.reports.memories import list_memories as read_memories

    shell = shell_of(context)
    held, known = moment_option("--as-of", as_of), moment_option("--known-at", known_at)
    place = None if scope is None else scope_parts(scope)
    # Only a list of another time is read with SQLAlchemy.
    with shell.driver() if known is None else shell.connection() as connection:
        found = read_memories(
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
    _print_all(found, limit, filtered=bool(held or known or kind or status or session))


def _print_all(found: "Sequence[ListedMemory]", limit: int, *, filtered: bool) -> None:
    for memory in found:
        _print(memory)
    if not found:
        console().print("No memory matches." if filtered else "There are no memories yet.")
    elif len(found) == limit:
        console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")


def _print(memory: "ListedMemory") -> None:
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


def show(
    context: typer.Context,
    memory: MemoryId,
    *,
    reveal: Annotated[
        bool,
        typer.Option("--reveal", help="Show masked secrets in the source events; the audit log records this."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a memory with its sources, the signals for keeping it, all changes, links and conflicts."""
    from slowwave_server.services.reports.explain import explain_memory
    from slowwave_server.services.reports.memory_ids import check_memory_name, memory_called
    from slowwave_server.workers.cli.life import print_life

    check_memory_name(memory)  # before any connection is opened
    shell = shell_of(context)
    if reveal:
        found = _reveal(shell, memory)
    else:
        with shell.driver() as connection:
            found = explain_memory(connection, shell.tenant, memory_called(connection, shell.tenant, memory))
    if as_json:
        print_json(found)
    else:
        print_life(found)


def _reveal(shell: Shell, memory: str) -> "Explanation":
    """Explain a memory with its secrets, and note the act. Raises BadParameter for a login that may not."""
    from slowwave_server.services.access.audit_log import note_act
    from slowwave_server.services.memories.masking import RevealRefused, check_reveal
    from slowwave_server.services.reports.explain import explain_memory
    from slowwave_server.services.reports.memory_ids import memory_called

    with shell.connection() as connection:
        which = memory_called(connection, shell.tenant, memory)
        try:
            check_reveal(connection, f"evidence of memory {which} of tenant {shell.tenant!r}", operator())
        except RevealRefused as refused:
            raise typer.BadParameter(str(refused), param_hint="--reveal") from refused
        found = explain_memory(connection, shell.tenant, which, reveal=True)
        what = f"source events of memory {which}"
        note_act(connection, "reveal", operator(), what, tenant=shell.tenant, via="shell", now=shell.now())
        connection.commit()
    return found
