"""`slowwave import events FILE`: record events from JSON lines. Safe to repeat and to interrupt."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.given_file import check_given, given_lines
from slowwave_server.workers.cli.options import Json, Timeout, Wait
from slowwave_server.workers.cli.output import console, print_json, rich_console
from slowwave_server.workers.cli.sentences import INTERRUPTED, complain
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.shared.failures import FOUND
from slowwave_server.workers.shared.shell import Shell

if TYPE_CHECKING:
    from slowwave.ingest import IngestReport, Reject

REJECTS_TOLD = 10
_LABELS = {"repeated": "recorded before", "ignored": "left out (system, empty)", "rejected": "rejected"}


def ingest(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file with JSON lines, or - for stdin.", show_default=False)],
    *,
    wait: Wait = False,
    timeout: Timeout = 600.0,
    as_json: Json = False,
) -> None:
    """Record the events of a file with one JSON object per line. Exit 1 if a line was rejected.

    A line has agent, session, role and content, and optionally name, at, key, room_id, thread_id, scope, tenant and
    metadata. A line has at most 2,000,000 characters; with --tenant, it must not name another tenant. Rejected lines
    are written to FILE.rejects.jsonl with the reason (stdin: stdin.rejects.jsonl); all other lines are recorded.
    Importing the same file again adds nothing.
    """
    check_given(file)
    shell = shell_of(context)
    shell.check_database()
    rejects = Rejects(file.with_name(f"{file.name}.rejects.jsonl") if file.is_file() else Path("stdin.rejects.jsonl"))
    try:
        report = _bring_in(shell, file, rejects)
    finally:
        rejects.close()
    if wait:
        from slowwave_server.workers.cli.wait import wait_until_processed
        from slowwave_server.workers.shared.flush_requests import ask_for_flush

        asked = ask_for_flush(shell, sorted(report.sessions, key=astuple), priority="normal")
        wait_until_processed(shell, asked, timeout)
    _tell(report, rejects, processed=wait, as_json=as_json)
    if report.rejected:
        raise typer.Exit(FOUND)


class Rejects:
    """The file of rejected lines, made by the first; without one, an earlier run's file is removed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._file: IO[str] | None = None

    def add(self, reject: "Reject") -> None:
        """Write a line with its number and the reason; print the first few on stderr."""
        if self._file is None:
            # Only this user may read it, because lines contain conversations. Create a new file, because an old one
            # would keep its mode.
            self.path.unlink(missing_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._file = os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")
        self._file.write(json.dumps(reject._asdict(), ensure_ascii=False) + "\n")
        self.count += 1
        if self.count <= REJECTS_TOLD:
            complain(f"line {reject.number}: {reject.reason}")
        elif self.count == REJECTS_TOLD + 1:
            complain(f"more lines were rejected: see {self.path}")

    def close(self) -> None:
        """Close the file. Without rejected lines, remove the file of an earlier run, which would mislead."""
        if self._file is not None:
            self._file.close()
        elif self.count == 0:
            self.path.unlink(missing_ok=True)


def _bring_in(shell: Shell, file: Path, rejects: Rejects) -> "IngestReport":
    from slowwave.errors import StoreUnavailable
    from slowwave.ingest import IngestReport, bounded_lines
    from slowwave.ingest import ingest as bring_in
    from slowwave.store import Store

    store = Store(shell.settings)
    so_far = IngestReport()
    try:
        size = file.stat().st_size if file.is_file() else None
        with given_lines(file) as lines, _progress(size) as show:

            def progress(report: IngestReport) -> None:
                nonlocal so_far
                so_far = report
                show(report)

            return bring_in(
                bounded_lines(lines),
                store,
                only_tenant=shell.tenant_option is not None,
                on_progress=progress,
                on_reject=rejects.add,
            )
    except KeyboardInterrupt:
        complain(
            f"interrupted after {so_far.added:,} events; run the same command again: recorded events are not repeated"
        )
        raise typer.Exit(INTERRUPTED) from None
    except StoreUnavailable:
        complain(f"stopped after {so_far.added:,} events; run the same command again: recorded events are not repeated")
        raise
    finally:
        store.close()


@contextmanager
def _progress(size: int | None) -> "Iterator[Callable[[IngestReport], None]]":
    """A progress bar on stderr, if stderr is a terminal. Yields the function that moves it."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    err = rich_console(stderr=True)
    shown = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*shown, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("0 lines", total=size)
        yield lambda report: bar.update(task, completed=report.size_bytes, description=pluralize(report.read, "line"))


def _tell(report: "IngestReport", rejects: Rejects, *, processed: bool, as_json: bool) -> None:
    counts = {name: getattr(report, name) for name in ("read", "added", "repeated", "ignored", "rejected")}
    if as_json:
        where = str(rejects.path) if rejects.count else None
        print_json(counts | {"sessions": len(report.sessions), "rejects_file": where, "processed": processed})
        return
    parts = [f"{report.added:,} added"]
    parts += [f"{counts[name]:,} {told}" for name, told in _LABELS.items() if counts[name]]
    line = f"{pluralize(report.read, 'line')}: {', '.join(parts)}; {pluralize(len(report.sessions), 'session')}"
    line += ", all processed." if processed else "."
    if rejects.count:
        line += f" Rejected lines are in {rejects.path}."
    console().print(line, soft_wrap=True)
