"""Prints changes of a run, or of a dry run, as a diff: values before and after, and reasons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slowwave_server.workers.cli.output import console, one_line, print_rows, styled
from slowwave_server.workers.shared.differences import difference

if TYPE_CHECKING:
    from slowwave_server.domain.changes import ChangeLine

WIDTH = 300
_ENDS = frozenset({"archived", "rejected", "merged", "superseded", "duplicate", "expired"})
_DOUBTS = frozenset({"conflict", "review"})


def print_diff(changes: "Sequence[ChangeLine]", *, total: int | None = None) -> None:
    """Print one block per change. total: the number of all changes, if `changes` are only the first."""
    out = console()
    for change in changes:
        subject = "a deleted memory" if change.content is None else change.content
        out.print(
            styled(f"{change.action:<11}", _style(change.action)), styled(one_line(subject, WIDTH)), soft_wrap=True
        )
        lines = [one_line(text, WIDTH) for text in difference(change.before, change.after)]
        because = change.reason if not change.evidence else f"{change.reason} ({', '.join(change.evidence)})"
        lines.append(f"because: {one_line(because, WIDTH)}")
        if change.memory is not None:
            lines.append(str(change.memory))
        print_rows(out, [(styled(line, "dim"),) for line in lines], indent=12)
    if total is not None and total > len(changes):
        out.print(f"… and {total - len(changes):,} more changes; --limit shows them.")


def _style(action: str) -> str:
    if action in _ENDS:
        return "red"
    return "yellow" if action in _DOUBTS else "green"
