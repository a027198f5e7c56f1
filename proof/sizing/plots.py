"""The plot of the report as PNG.

Must not know: how the numbers were measured.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from proof.sizing.checking import NARROW, WIDE, Compared


def plot_check(rows: Sequence[Compared], file: Path) -> None:
    """Simulation divided by measurement, with the accepted band."""
    figure, axes = plt.subplots(figsize=(7, 4.2))
    axes.set_ylabel("simulated / measured")
    axes.grid(visible=True, alpha=0.3)
    names = [f"{row.processes}p {row.load:.0%}\n{row.what}" for row in rows]
    axes.axhspan(NARROW, WIDE, color="#dddddd")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.plot(range(len(rows)), [row.ratio for row in rows], "o")
    axes.set_xticks(range(len(rows)), names, rotation=90, fontsize=6)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    plt.close(figure)
