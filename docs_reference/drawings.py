"""`python -m docs_reference.drawings`: write the drawings of docs/images: the architecture and four sequences, as SVG.

Each file has its own background and two sets of colors: a reader's dark mode selects the dark one. Fonts are the
reader's.
"""

import sys
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from docs_reference.drawn_parts import ARROWS, BOXES, GROUPS, SEQUENCES, Box, Sequence

FOLDER = Path(__file__).parent.parent / "docs" / "images"
STYLE = """
  svg { font-family: system-ui, sans-serif; font-size: 14px }
  .page { fill: #ffffff } .group { fill: #f3f5f8; stroke: #c9d1da } .box { fill: #ffffff; stroke: #5b6b7c }
  .truth { fill: #dcebff; stroke: #1f5fae } text { fill: #1b2530 } .small { fill: #47545f; font-size: 12px }
  .line { stroke: #5b6b7c; fill: none; stroke-width: 1.5 } .head { fill: #5b6b7c }
  .life { stroke: #c9d1da; stroke-dasharray: 4 4 } .bold { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14181d } .group { fill: #1c2229; stroke: #3a4450 } .box { fill: #232b34; stroke: #8b9aab }
    .truth { fill: #16304f; stroke: #6ba4ea } text { fill: #e8edf2 } .small { fill: #b4c0cc }
    .line { stroke: #9fb0c1 } .head { fill: #9fb0c1 } .life { stroke: #3a4450 }
  }
"""
MARKER = (
    '<defs><marker id="to" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="head" d="M0 0 10 5 0 10z"/></marker></defs>'
)
COLUMN = 190
ROW = 46
TOP = 74


def main() -> int:
    """Write every drawing; `--check` compares instead. Return the exit code."""
    check = "--check" in sys.argv[1:]
    differ = []
    for name, draw in drawings().items():
        file, text = FOLDER / name, draw()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            differ.append(name)
            if not check:
                file.write_text(text, encoding="utf-8")
    for name in differ:
        sys.stdout.write(f"{name} {'differs: run python -m docs_reference.drawings' if check else 'written'}\n")
    return 1 if check and differ else 0


def drawings() -> dict[str, Callable[[], str]]:
    """The files and the functions that draw them."""
    sequences = {f"sequence-{one.name}.svg": partial(sequence, one) for one in SEQUENCES}
    return {"architecture.svg": architecture} | sequences


def architecture() -> str:
    """Programs, servers and processes, and the data between them."""
    parts = []
    for group in GROUPS:
        parts.append(_rectangle(group, "group", radius=10))
        parts.append(_text(group.x + 14, group.y + 24, group.title, "bold", anchor="start"))
    for box in BOXES.values():
        parts.append(_rectangle(box, "truth" if box.truth else "box", radius=6))
        lines = [box.title, *box.notes]
        top = box.y + box.height / 2 - 9 * (len(lines) - 1) + 5
        parts += [
            _text(box.x + box.width / 2, top + 18 * at, line, "bold" if at == 0 else "small")
            for at, line in enumerate(lines)
        ]
    for points, label, (x, y) in ARROWS:
        path = " ".join(f"{'M' if at == 0 else 'L'}{px} {py}" for at, (px, py) in enumerate(points))
        parts.append(f'<path class="line" marker-end="url(#to)" d="{path}"/>')
        parts.append(_text(x, y, label, "small"))
    width = max(group.x + group.width for group in GROUPS) + 20
    height = max(group.y + group.height for group in GROUPS) + 20
    return _page("Architecture of Slowwave", width, height, parts)


def sequence(drawn: Sequence) -> str:
    """A sequence: one lifeline per actor, one arrow per step, in order."""
    places = {actor: 100 + COLUMN * at for at, actor in enumerate(drawn.actors)}
    height = TOP + ROW * len(drawn.steps) + 24
    width = 200 + COLUMN * (len(drawn.actors) - 1)
    parts = []
    for actor, x in places.items():
        parts.append(f'<line class="life" x1="{x}" y1="52" x2="{x}" y2="{height - 12}"/>')
        parts.append(_rectangle(Box(actor, x - 78, 18, 156, 34), "truth" if actor == "Postgres" else "box", radius=6))
        parts.append(_text(x, 40, actor, "bold"))
    for at, (start, end, label) in enumerate(drawn.steps):
        y = TOP + ROW * at + 22
        x1, x2 = places[start], places[end]
        if start == end:
            parts.append(f'<path class="line" marker-end="url(#to)" d="M{x1} {y - 8} h26 v14 h-22"/>')
            parts.append(_text(x1 + 34, y + 4, label, "small", anchor="start"))
        else:
            parts.append(f'<line class="line" marker-end="url(#to)" x1="{x1}" y1="{y}" x2="{x2}" y2="{y}"/>')
            parts.append(_text((x1 + x2) / 2, y - 8, label, "small"))
    return _page(drawn.title, width, height, parts)


def _rectangle(box: Box, style: str, *, radius: int) -> str:
    place = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"'
    return f'<rect class="{style}" {place} rx="{radius}"/>'


def _text(x: float, y: float, text: str, style: str, *, anchor: str = "middle") -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _page(title: str, width: int, height: int, parts: list[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    name, style = f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>"
    page = f'<rect class="page" width="{width}" height="{height}"/>'
    return "\n".join([head, name, style, MARKER, page, *parts, "</svg>\n"])


if __name__ == "__main__":
    sys.exit(main())
