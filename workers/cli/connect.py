"""`slowwave connect`, `slowwave hook`: the hooks and the MCP server in the settings of a coding agent."""

import difflib
import os
import shutil
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave_server.workers.cli.options import Json, Yes, refuse_question
from slowwave_server.workers.cli.output import console, print_json, styled
from slowwave_server.workers.cli.sentences import complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND, USAGE

if TYPE_CHECKING:
    from slowwave_server.workers.cli.host_entries import Wanted, Where
    from slowwave_server.workers.cli.host_files import Draft


class Host(StrEnum):
    """The supported hosts of coding agents."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    CURSOR = "cursor"


class Branches(StrEnum):
    """How the branches of a repository use the memory: together, or each its own."""

    SHARED = "shared"
    APART = "apart"


InProject = Annotated[
    bool,
    typer.Option(
        "--project", help="Write the files of the project in the working directory, for everybody who works on it."
    ),
]
NOTES = {
    Host.CLAUDE_CODE: "Claude Code reads this when its next session starts; `/hooks` in it lists the hooks.",
    Host.CODEX: "Codex runs hooks only after you have reviewed and trusted them: open `/hooks` in Codex once.",
    Host.OPENCODE: "OpenCode reads this at its next start.",
    Host.CURSOR: "Cursor takes a context only when a conversation begins; later its agent uses the MCP server.",
}


def hook(
    words: Annotated[list[str], typer.Argument(metavar="HOST EVENT [OPTIONS]", help="See docs/coding-agents.md.")],
) -> None:
    """Answer an event of a coding agent, given as JSON on stdin. `slowwave connect` makes hosts call it."""
    from slowwave.hosts.hook import run

    run(words)


def connect(
    context: typer.Context,
    host: Annotated[Host, typer.Argument(help="The coding agent's host.", show_default=False)],
    *,
    project: InProject = False,
    agent: Annotated[str | None, typer.Option(help="The agent; default: one per repository.")] = None,
    branches: Annotated[
        Branches, typer.Option(help="Whether the branches of a repository share one memory.")
    ] = Branches.SHARED,
    wait: Annotated[
        float | None, typer.Option(min=0.0, max=30.0, metavar="SECONDS", help="How long a hook may wait for a context.")
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp/--no-mcp", help="Whether to add the MCP server.")] = True,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the hooks and the MCP server.")] = False,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the differences; change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Give a coding agent a memory: write its hooks and its MCP server. Shows the differences, and asks."""
    from slowwave.identity import check_name
    from slowwave_server.workers.cli.host_entries import Wanted, Where

    refuse_question(as_json=as_json, yes=yes, dry_run=dry_run)
    if not remove:
        _ = shell_of(context).settings  # invalid settings fail here, not in each hook
    options = _options(check_name("agent", agent) if agent is not None else None, branches, wait)
    where = Where(Path.home(), os.environ, Path.cwd() if project else None)
    lacking = _why_no_server(host, named=project or agent is not None) if mcp and not remove else None
    wanted = Wanted(_program(project=project), options, with_mcp=mcp and lacking is None, remove=remove)
    changed = _drafts(host, where, wanted)
    if not as_json:
        _show(changed)
    if changed and not dry_run:
        _write(changed, ask=not yes)
    if as_json:
        documents = [{"path": str(draft.path), "removed": draft.removes} for draft in changed]
        print_json({"host": host.value, "changed": documents, "written": bool(changed) and not dry_run})
        return
    _tell(host, changed, lacking=lacking, remove=remove, done=not dry_run)


def _drafts(host: Host, where: "Where", wanted: "Wanted") -> list["Draft"]:
    """Return the files that would change. Exits if one can't be changed."""
    from slowwave_server.workers.cli.host_entries import changes
    from slowwave_server.workers.cli.host_files import Broken, draft_of, settings_draft

    try:
        drafts = [draft_of(change) for change in changes(host.value, where, wanted)]
        drafts += [] if wanted.remove else settings_draft(where.environment, Path.cwd())
    except Broken as broken:
        complain(str(broken), "correct the file, then run the same command again; nothing was changed")
        raise typer.Exit(USAGE) from None
    return [draft for draft in drafts if draft.changed]


def _write(changed: Sequence["Draft"], *, ask: bool) -> None:
    from slowwave_server.workers.cli.host_files import Broken

    if ask:
        typer.confirm("Write these changes?", abort=True)
    try:
        for draft in changed:
            draft.write()
    except Broken as broken:
        complain(str(broken), "run the same command again")
        raise typer.Exit(FOUND) from None


def _why_no_server(host: Host, *, named: bool) -> str | None:
    """Return why the host gets no MCP server, or None. named: the agent is known without a working directory."""
    from slowwave.hosts.places import URL

    if os.environ.get(URL):
        return f"`slowwave mcp` needs a database login, and {URL} names a gateway; use the MCP endpoint of the gateway"
    if host == Host.CURSOR and not named:
        return "Cursor starts a person's MCP servers outside of projects; add --agent NAME or --project"
    return None


def _options(agent: str | None, branches: Branches, wait: float | None) -> list[str]:
    options: list[str] = [] if agent is None else ["--agent", agent]
    options += ["--branches", branches.value] if branches == Branches.APART else []
    return options + ([] if wait is None else ["--wait", f"{wait:g}"])


def _program(*, project: bool) -> Sequence[str]:
    """Return the program in a hook: `slowwave` in a project, else its full path: the host may have another PATH."""
    if project:
        return ("slowwave",)
    beside = Path(sys.executable).with_name("slowwave")
    return (str(beside) if beside.exists() else shutil.which("slowwave") or "slowwave",)


def _show(changed: Sequence["Draft"]) -> None:
    out = console()
    for draft in changed:
        old, new = (text.splitlines(keepends=True) for text in draft.shown())
        for line in difflib.unified_diff(old, new, str(draft.path), str(draft.path)):
            style = {"+": "green", "-": "red"}.get(line[:1], "")
            out.print(styled(line.rstrip("\n"), style), soft_wrap=True)


def _tell(host: Host, changed: Sequence["Draft"], *, lacking: str | None, remove: bool, done: bool) -> None:
    out = console()
    if not changed:
        out.print("Nothing to change.")
    elif done:
        out.print("Done." if remove else f"Done. {NOTES[host]}", soft_wrap=True)
    if lacking is not None:
        out.print(f"No MCP server: {lacking}.", soft_wrap=True)
