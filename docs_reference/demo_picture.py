"""`python -m docs_reference.demo_picture`: run the demo, and record its output as docs/images/demo.svg.

It is the real demo, on its own servers. The picture omits the last step, because its context is long. It shows
as many lines as a terminal and scrolls to the last one, in a loop; readers who prefer reduced motion see the first
lines. Fonts are the reader's: a picture asks no other host for anything.
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
ROWS = 26
LINE_HEIGHT = 24.4
"""The height of a line in the drawing of rich, in pixels."""
# The steps of the demo that are drawn, by their numbers.
STEPS = ("1", "2", "3", "4", "5")
LINE_SECONDS = 0.45
"""The time between two steps of one line."""
HOLD_SECONDS = 6.0
"""How long the first lines stay, and the last ones."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FONT = re.compile(r"@font-face \{[^}]*\}\s*")
# The heights of the picture, of its window and of the visible part of the text.
_HEIGHT = re.compile(r'(viewBox="0 0 \d+ |height=")(\d{3,}(?:\.\d+)?)(")')
_CLIP = re.compile(r'clip-path="url\(#demo-line-(\d+)\)"')


def main() -> int:
    """Run it and draw it; answer the demo's exit code."""
    out = io.StringIO()
    code = run_demo(
        Console(file=out, force_terminal=True, color_system="truecolor", width=COLUMNS), now=datetime.now(UTC)
    )
    if code:
        sys.stderr.write(_ANSI.sub("", out.getvalue()))
        return code
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(out.getvalue().splitlines()), encoding="utf-8")
    sys.stdout.write(f"{PICTURE} written\n")
    return 0


def picture(lines: list[str]) -> str:
    """The moving picture of what the demo printed."""
    canvas = Console(record=True, file=io.StringIO(), width=COLUMNS)
    for line in shown(lines):
        canvas.print(Text.from_ansi(line), soft_wrap=True)
    return moving(_FONT.sub("", canvas.export_svg(title="make demo", unique_id="demo")))


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


def moving(svg: str) -> str:
    """The same drawing, cut to ROWS lines and scrolled from its first line to its last."""
    hidden = len(set(_CLIP.findall(svg))) - ROWS
    if hidden <= 0:
        return svg
    moves = LINE_SECONDS * hidden
    whole = HOLD_SECONDS + moves + HOLD_SECONDS
    style = f"""@media (prefers-reduced-motion: no-preference) {{
@keyframes demo-scroll {{
0%, {100 * HOLD_SECONDS / whole:.1f}% {{ transform: translateY(0); animation-timing-function: steps({hidden}) }}
{100 - 100 * HOLD_SECONDS / whole:.1f}%, 100% {{ transform: translateY(-{hidden * LINE_HEIGHT:.1f}px) }}
}}
.demo-matrix {{ animation: demo-scroll {whole:.1f}s infinite }}
}}"""
    lower = _HEIGHT.sub(lambda found: f"{found[1]}{float(found[2]) - hidden * LINE_HEIGHT:.1f}{found[3]}", svg)
    return lower.replace("</style>", f"{style}\n</style>", 1)


if __name__ == "__main__":
    sys.exit(main())
