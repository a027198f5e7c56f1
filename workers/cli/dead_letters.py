"""`slowwave dead-letters list | show | redrive | dismiss`: payloads that could not be taken.

Must not know: why a task refuses a payload.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave_server.domain.spoken_time import duration_words, pluralize
from slowwave_server.workers.cli.options import MEND, Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, safe, styled
from slowwave_server.workers.cli.sentences import FOUND, complain
from slowwave_server.workers.cli.state import Shell, shell_of

if TYPE_CHECKING:
    from slowwave_server.services.reports.dead_letters import ListedDeadLetter

Numbers = Annotated[list[int] | None, typer.Argument(help="Numbers of letters.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All that are open.")]

app = typer.Typer(no_args_is_help=True, help="Payloads that could not be taken: list, show, redrive, dismiss.")


def register(parent: typer.Typer) -> None:
    """Add these commands."""
    parent.add_typer(app, name="dead-letters", rich_help_panel=MEND)


@app.command("list")
def list_(
    context: typer.Context,
    *,
    decided: Annotated[bool, typer.Option("--decided", help="Those that were redriven or dismissed, too.")] = False,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List the letters that wait for a decision."""
    from slowwave_server.services.reports.dead_letters import list_dead_letters

    shell = shell_of(context)
    with shell.connection() as connection:
        letters = list_dead_letters(connection, shell.tenant, state=None if decided else "open", limit=limit)
    if as_json:
        print_json(letters)
        return
    out = console()
    if not letters:
        out.print("No dead letters." if decided else "No dead letter is open.")
        return
    for letter in letters:
        age = duration_words((shell.now() - letter.created_at).total_seconds())
        print_rows(out, [(styled(f"{letter.id}", "bold"), letter.state, letter.task, f"{age} ago")])
        print_rows(out, [(one_line(letter.error, 300),)], indent=4)


@app.command()
def show(
    context: typer.Context,
    number: Annotated[int, typer.Argument(help="The letter's number.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Show one letter with its payload."""
    from slowwave_server.services.reports.dead_letters import read_dead_letter

    shell = shell_of(context)
    with shell.connection() as connection:
        letter = read_dead_letter(connection, shell.tenant, number)
    if as_json:
        print_json(letter)
    else:
        _show(letter)


def _show(letter: "ListedDeadLetter") -> None:
    import json

    out = console()
    decided = "" if letter.decided_at is None else f" at {letter.decided_at.isoformat(timespec='seconds')}"
    print_rows(
        out,
        [
            ("letter", str(letter.id)),
            ("task", letter.task),
            ("tenant", letter.tenant or "(unreadable)"),
            ("came", letter.created_at.isoformat(timespec="seconds")),
            ("state", letter.state + decided),
            ("error", letter.error),
        ],
    )
    out.print(safe(json.dumps(letter.payload, ensure_ascii=False, indent=2)), soft_wrap=True)


@app.command()
def redrive(context: typer.Context, numbers: Numbers = None, *, every: All = False, as_json: Json = False) -> None:
    """Send letters to their task again."""
    from slowwave_server.services.dead_letters.redrive import redrive as drive

    shell = shell_of(context)
    wanted = _wanted(numbers, every=every)
    send = sender(shell)
    with shell.connection() as connection:
        sent, refused = drive(connection, shell.tenant, wanted, send=send, now=shell.now())
    _tell("redriven", sent, refused, as_json=as_json)


@app.command()
def dismiss(context: typer.Context, numbers: Numbers = None, *, every: All = False, as_json: Json = False) -> None:
    """Close letters without sending them; they stay readable."""
    from slowwave_server.services.dead_letters.redrive import dismiss as close

    shell = shell_of(context)
    wanted = _wanted(numbers, every=every)
    with shell.connection() as connection:
        dismissed, refused = close(connection, shell.tenant, wanted, now=shell.now())
    _tell("dismissed", dismissed, refused, as_json=as_json)


def _wanted(numbers: list[int] | None, *, every: bool) -> list[int] | None:
    if bool(numbers) == every:
        raise typer.BadParameter("give numbers of letters, or --all")
    return numbers or None


def sender(shell: Shell) -> Callable[[str, Mapping[str, Any]], None]:
    """What sends a payload to its task's queue. Raises SlowwaveError for a task that this version has not."""
    from slowwave.coordination.queue_messages import envelope, new_id, publish
    from slowwave.errors import SlowwaveError
    from slowwave_server.workers.app import make_app

    app_of_workers = make_app(shell.settings)
    app_of_workers.loader.import_default_modules()

    def send(task: str, payload: Mapping[str, Any]) -> None:
        if task not in app_of_workers.tasks:
            raise SlowwaveError(f"this version has no task {task!r}")
        route = app_of_workers.conf.task_routes.get(task, {})
        queue = route.get("queue", app_of_workers.conf.task_default_queue)
        publish(shell.redis, queue, envelope(task, [], payload, queue, task_id=new_id()))

    return send


def _tell(what: str, done: list[int], refused: Mapping[int, str], *, as_json: bool) -> None:
    if as_json:
        print_json({what: done, "refused": refused})
    else:
        console().print(f"{pluralize(len(done), 'letter')} {what}.")
    for number, reason in refused.items():
        complain(f"letter {number}: {reason}")
    if refused:
        raise typer.Exit(FOUND)
