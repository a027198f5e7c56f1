"""`python -m docs_reference.demo_picture`: run the demo, and record its output as docs/images/demo.svg.

It is the real demo, on its own servers. The picture omits the last step, because its context is long. Its lines
appear one after another, in a loop; readers who prefer reduced motion see all lines at once. Fonts are the reader's: a
picture asks no other host for anything.
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
LINE_SECONDS = 0.45
"""Seconds from one line to the next."""
HOLD_SECONDS = 8.0
"""How long all lines stay before the loop begins again."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_FONT = re.compile(r"@font-face \{[^}]*\}\s*")
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
    """The same drawing, whose lines appear one after another."""
    lines = sorted({int(number) for number in _CLIP.findall(svg)})
    whole = LINE_SECONDS * len(lines) + HOLD_SECONDS
    rules = []
    for at, line in enumerate(lines):
        start = 100 * LINE_SECONDS * at / whole
        rules.append(
            f"@keyframes demo-show-{line} {{ 0% {{ opacity: 0 }} {start:.2f}% {{ opacity: 0 }} "
            f"{start + 0.4:.2f}% {{ opacity: 1 }} 100% {{ opacity: 1 }} }}\n"
            f'[clip-path="url(#demo-line-{line})"] {{ animation: demo-show-{line} {whole:.1f}s linear infinite }}'
        )
    style = "\n".join(["@media (prefers-reduced-motion: no-preference) {", *rules, "}"])
    return svg.replace("</style>", f"{style}\n</style>", 1)


if __name__ == "__main__":
    sys.exit(main())
