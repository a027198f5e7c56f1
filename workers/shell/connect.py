"""`slowwave connect`: give a coding agent's host the hooks and the MCP server of its memory, or take them away.

Must not know: what the entries say, what a hook does.
"""

import difflib
import os
import shutil
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from slowwave_server.workers.shell.options import RUN, Json
from slowwave_server.workers.shell.output import console, print_json, styled
from slowwave_server.workers.shell.sentences import USAGE, complain
from slowwave_server.workers.shell.state import shell_of


class Host(StrEnum):
    """The hosts that are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    CURSOR = "cursor"


class Branches(StrEnum):
    """Whether the branches of a repository share a memory."""

    SHARED = "shared"
    APART = "apart"


NOTES = {
    Host.CLAUDE_CODE: "Claude Code reads this when its next session starts; `/hooks` there lists the hooks.",
    Host.CODEX: "Codex runs hooks only after you have reviewed and trusted them: open `/hooks` in Codex once.",
    Host.OPENCODE: "OpenCode reads this when it starts again.",
    Host.CURSOR: "Cursor takes a context only as a conversation begins; later its agent asks the MCP server.",
}


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command(rich_help_panel=RUN)(connect)
    app.command(rich_help_panel=RUN, context_settings={"ignore_unknown_options": True})(hook)


def hook(
    words: Annotated[list[str], typer.Argument(metavar="HOST EVENT [OPTIONS]", help="See docs/coding-agents.md.")],
) -> None:
    """Answer an event of a coding agent's host: its JSON on stdin. `slowwave connect` has hosts call it."""
    from slowwave.hosts.hook import run

    run(words)


def connect(
    context: typer.Context,
    host: Annotated[Host, typer.Argument(help="The host.", show_default=False)],
    *,
    project: Annotated[
        bool, typer.Option("--project", help="For everybody in the project of the working directory, in its files.")
    ] = False,
    agent: Annotated[str | None, typer.Option(help="Whose memory; default: the repository's.")] = None,
    branches: Annotated[Branches, typer.Option(help="Whether a repository's branches share a memory.")] = (
        Branches.SHARED
    ),
    wait: Annotated[
        float | None, typer.Option(min=0.0, max=30.0, help="Seconds that a session's start may wait for its context.")
    ] = None,
    mcp: Annotated[bool, typer.Option("--mcp/--no-mcp", help="Whether the host gets the memory's MCP server.")] = True,
    remove: Annotated[bool, typer.Option("--remove", help="Take hooks and server away.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show the differences.")] = False,
    as_json: Json = False,
) -> None:
    """Give a coding agent a memory: write its hooks and MCP server. Shows the differences, and asks."""
    from slowwave.identity import check_name
    from slowwave_server.workers.shell.host_entries import Wanted, Where, changes
    from slowwave_server.workers.shell.host_files import Broken, Draft, draft_of, settings_draft

    if as_json and not (yes or dry_run):
        raise typer.BadParameter("--json does not ask: give --dry-run, or --yes to do it")
    if not remove:
        _ = shell_of(context).settings  # settings that can't be used are refused here, and not at each hook
    options = _options(check_name("agent", agent) if agent is not None else None, branches, wait)
    where = Where(Path.home(), os.environ, Path.cwd() if project else None)
    # Cursor starts a person's MCP servers in no project, so their agent has to be named.
    served = mcp and (host != Host.CURSOR or project or agent is not None)
    wanted = Wanted(_program(project=project), options, with_mcp=served, remove=remove)
    try:
        drafts: list[Draft] = [draft_of(change) for change in changes(host.value, where, wanted)]
        drafts += [] if remove else settings_draft(os.environ, Path.cwd())
    except Broken as broken:
        complain(str(broken), "mend the file, then give the same command again; nothing was changed")
        raise typer.Exit(USAGE) from None
    changed = [draft for draft in drafts if draft.changed]
    if not as_json:
        _show(changed)
    if changed and not dry_run:
        if not yes:
            typer.confirm("Write this?", abort=True)
        for draft in changed:
            draft.write()
    _tell(host, changed, served=served, remove=remove, done=not dry_run, as_json=as_json)


def _options(agent: str | None, branches: Branches, wait: float | None) -> list[str]:
    options: list[str] = [] if agent is None else ["--agent", agent]
    options += ["--branches", branches.value] if branches == Branches.APART else []
    return options + ([] if wait is None else ["--wait", f"{wait:g}"])


def _program(*, project: bool) -> Sequence[str]:
    """A person's hosts get the full path, since they start with another PATH; a project's files are for everybody."""
    if project:
        return ("slowwave",)
    beside = Path(sys.executable).with_name("slowwave")
    return (str(beside) if beside.exists() else shutil.which("slowwave") or "slowwave",)


def _show(changed: Sequence[Any]) -> None:
    out = console()
    for draft in changed:
        old, new = (text.splitlines(keepends=True) for text in draft.shown())
        for line in difflib.unified_diff(old, new, str(draft.path), str(draft.path)):
            style = {"+": "green", "-": "red"}.get(line[:1], "")
            out.print(styled(line.rstrip("\n"), style), soft_wrap=True)


def _tell(host: Host, changed: Sequence[Any], *, served: bool, remove: bool, done: bool, as_json: bool) -> None:
    if as_json:
        documents = [{"path": str(draft.path), "removed": draft.removes} for draft in changed]
        print_json({"host": host.value, "changed": documents, "written": bool(done and changed)})
        return
    out = console()
    if not changed:
        out.print("Nothing to change.")
    elif done:
        out.print("Done." if remove else f"Done. {NOTES[host]}", soft_wrap=True)
    if not remove and not served and host == Host.CURSOR:
        out.print("No MCP server: with --agent NAME or --project it knows whose memory it is.", soft_wrap=True)
