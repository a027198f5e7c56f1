"""`python -m docs_reference.demo_picture`: run the demo, and keep what it shows as docs/images/demo.svg.

It is the real demo, on servers of its own. Its steps are drawn without the last one, whose context is long. Fonts
are the reader's: a picture asks no other host for anything.

Must not know: what the demo does.
"""

import io
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from slowwave_server.workers.demo import run_demo

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "demo.svg"
COLUMNS = 122
# The steps of the demo that are drawn, by their numbers.
STEPS = ("1", "2", "3", "4", "5")

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FONT = re.compile(r"@font-face \{[^}]*\}\s*")


def main() -> int:
    """Run it and draw it; answer the demo's exit code."""
    out = io.StringIO()
    code = run_demo(
        Console(file=out, force_terminal=True, color_system="truecolor", width=COLUMNS), now=datetime.now(UTC)
    )
    if code:
        sys.stderr.write(_ANSI.sub("", out.getvalue()))
        return code
    canvas = Console(record=True, file=io.StringIO(), width=COLUMNS)
    for line in shown(out.getvalue().splitlines()):
        canvas.print(Text.from_ansi(line), soft_wrap=True)
    svg = _FONT.sub("", canvas.export_svg(title="make demo", unique_id="demo"))
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")
    sys.stdout.write(f"{PICTURE} written\n")
    return 0


def shown(lines: list[str]) -> list[str]:
    """The lines of the steps that are drawn."""
    kept: list[str] = []
    keep = False
    for line in lines:
        if step := re.match(r"(\d+)\. ", _ANSI.sub("", line)):
            keep = step[1] in STEPS
        if keep:
            kept.append(line.rstrip())
    return kept


if __name__ == "__main__":
    sys.exit(main())
