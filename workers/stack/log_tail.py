"""Read the end of a log, for a sentence that explains why a program was given up."""

from pathlib import Path

LINES_SHOWN = 5
TAIL_BYTES = 20_000


def last_lines(log: Path) -> str:
    """Return the last lines of a log, indented."""
    lines: list[str] = []
    if log.exists():
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).decode(errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-LINES_SHOWN:]) or "    (empty)"
