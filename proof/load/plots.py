"""Draw the pictures of the report from its results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

from proof.load.report import STRETCHES

_SIZE = (9, 5)
_DPI = 110
_NUMBERS = FuncFormatter(lambda value, _: f"{value:g}")
_COLOURS = {"p50": "#4477aa", "p95": "#cc6677", "p99": "#aa4499"}


def draw(results: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Draw the available results. Return part → file name."""
    parts = {"lag": _lag, "fairness": _fairness, "recovery": _recovery, "memory": _memory}
    drawn = {}
    for part, drawing in parts.items():
        result = results.get(part)
        if result and "error" not in result:
            figure = drawing(result)
            drawn[part] = f"load-{part}.png"
            figure.savefig(folder / drawn[part], dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
            plt.close(figure)
    return drawn


def _lag(result: Mapping[str, Any]) -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), sharex=True)
    steps = sorted(result["steps"], key=lambda step: step["offered"])
    loads = [step["offered"] for step in steps]
    titles = {"from_due": "from due to memory", "from_said": "from said to memory"}
    for axis, (what, title) in zip(axes, titles.items(), strict=True):
        for name, colour in _COLOURS.items():
            axis.plot(loads, [step["parts"][what][name] for step in steps], "o-", color=colour, label=name)
        if what == "from_due":
            told = [step["told"]["p95"] for step in steps]
            axis.plot(loads, told, "s--", color="#228833", label="p95 of what was asked for")
        if result.get("saturation"):
            highest = next(step["offered"] for step in steps if step["load"] == result["saturation"])
            axis.axvline(highest, color="#888888", linestyle=":", label="highest load carried")
        axis.set(title=f"Lag {title}", xlabel="turns a second, offered", ylabel="seconds", xscale="log", yscale="log")
        axis.set_xticks(loads, [f"{load:.0f}" for load in loads], rotation=45)
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_major_formatter(_NUMBERS)
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.grid(visible=True, which="both", alpha=0.25)
        axis.legend()
    return figure


def _fairness(result: Mapping[str, Any]) -> Any:
    figure, axis = plt.subplots(figsize=_SIZE)
    stretches = result["stretches"]
    names = [f"{number + 1}: {STRETCHES[s['kind']]}" for number, s in enumerate(stretches)]
    for shift, (what, label) in enumerate((("p95_told", "asked for"), ("p95_all", "all turns"))):
        places = [number + (shift - 0.5) * 0.36 for number in range(len(stretches))]
        axis.bar(places, [s["others"][what] or 0 for s in stretches], 0.34, label=f"p95 from due to memory, {label}")
    axis.set_xticks(range(len(stretches)), names)
    axis.set(title="What the other agents wait", ylabel="seconds", yscale="log")
    axis.grid(visible=True, axis="y", which="both", alpha=0.25)
    axis.legend()
    return figure


def _recovery(result: Mapping[str, Any]) -> Any:
    figure, axis = plt.subplots(figsize=_SIZE)
    times = [point[0] for point in result["series"]]
    axis.plot(
        times, [point[1] for point in result["series"]], label="sessions of the hour that are due", color="#4477aa"
    )
    fresh = [point[2] - point[1] for point in result["series"]]
    axis.plot(times, fresh, label="new sessions that are due", color="#cc6677")
    axis.plot(times, [point[3] for point in result["series"]], label="messages in queues", color="#228833", lw=0.8)
    axis.set(title="After an hour without workers", xlabel="seconds since workers were started", yscale="symlog")
    axis.grid(visible=True, alpha=0.25)
    axis.legend()
    return figure


def _memory(result: Mapping[str, Any]) -> Any:
    figure, axes = plt.subplots(2, 1, figsize=(10, 9), sharex=True)
    whole = [process for process in result["processes"] if process["whole"]]
    for axis, of_postgres in zip(axes, (False, True), strict=True):
        chosen = [p for p in whole if p["name"].startswith("postgres") == of_postgres]
        for process in chosen:
            times = [at / 60 for at, _ in process["series"]]
            group, role, _ = process["name"].split("/")
            axis.plot(times, [mb for _, mb in process["series"]], lw=1, label=f"{group} ({role})")
        axis.set(ylabel="MB of its own", title="Postgres, each process" if of_postgres else "Workers and programs")
        axis.grid(visible=True, alpha=0.25)
        if chosen and not of_postgres:
            axis.legend(fontsize="small", ncols=2)
    axes[-1].set_xlabel("minutes")
    return figure
