"""The curves of the report as PNG.

Must not know: where figures come from, what the text says of them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from proof.sizing.checking import NARROW, WIDE, Compared
from proof.sizing.growing import Point


def plot_growth(points: Sequence[Point], file: Path) -> None:
    """What workers read at most, by their number, one curve a case."""
    figure, axes = _figure("worker processes or threads", "windows read a second, at most")
    for case in dict.fromkeys(point.case for point in points):
        of_case = [point for point in points if point.case == case]
        axes.plot([p.workers for p in of_case], [p.flushes_per_second for p in of_case], marker="o", label=case)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(fontsize=7)
    _save(figure, file)


def plot_check(rows: Sequence[Compared], file: Path) -> None:
    """Model over measurement, and the band in which it is meant to be."""
    figure, axes = _figure("", "model / measured")
    names = [f"{row.processes}p {row.load:.0%}\n{row.what}" for row in rows]
    axes.axhspan(NARROW, WIDE, color="#dddddd")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.plot(range(len(rows)), [row.ratio for row in rows], "o")
    axes.set_xticks(range(len(rows)), names, rotation=90, fontsize=6)
    _save(figure, file)


def _figure(across: str, up: str) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=(7, 4.2))
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def _save(figure: Any, file: Path) -> None:
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)
