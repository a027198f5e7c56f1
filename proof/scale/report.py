"""The reports: a table of what each operation costs at both sizes, ratio first, and the plans of its statements.

Must not know: how anything was measured.
"""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proof.scale.measuring import Timing
from proof.scale.plans import Plan
from proof.scale.world import Sizes

BOUND = 2.0


@dataclass(frozen=True, slots=True)
class Line:
    """One operation at both sizes."""

    name: str
    small: Timing
    large: Timing

    @property
    def ratio(self) -> float:
        """How many times the median of the small size."""
        return self.large.median / self.small.median

    @property
    def cpu_ratio(self) -> float:
        """The same of the time on a processor, which hardly depends on who else is on the machine."""
        return self.large.on_cpu / max(self.small.on_cpu, 0.001)

    @property
    def buffer_ratio(self) -> float:
        """The same of the buffers."""
        return self.large.touched / max(self.small.touched, 1)

    @property
    def holds(self) -> bool:
        """Whether it costs at most twice as much."""
        return self.ratio <= BOUND


@dataclass(frozen=True, slots=True)
class Setting:
    """What was measured on. counts: rows of the largest tables at (small, large); loading: seconds."""

    small: Sizes
    large: Sizes
    counts: Sequence[tuple[str, int, int]]
    server: Sequence[tuple[str, str]]
    loading: Sequence[float]
    size_bytes: int
    load: tuple[float, float, float]


def machine() -> str:
    """The machine in a sentence."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text("ascii").split("\n")
            if "model name" in line
        ),
        platform.machine(),
    )
    kib = int(Path("/proc/meminfo").read_text("ascii").split()[1])
    return f"{os.cpu_count()} cores of {model}, {kib / 2**20:.0f} GB, Linux {platform.release()}"


def as_markdown(lines: Sequence[Line], setting: Setting) -> str:
    """The page docs/proof/scale.md."""
    broken = [line.name for line in lines if not line.holds]
    verdict = "Nothing costs more than twice as much." if not broken else f"**More than twice: {', '.join(broken)}.**"
    share = setting.large.sessions / setting.small.sessions
    return "\n".join(
        [
            "# What a hundred times as much costs" if share == 100 else f"# What {share:g} times as much costs",
            "",
            (
                f"Every operation on a database of {setting.large.sessions:,} sessions, with {setting.large.memories:,}"
                f" memories in one scope, beside the same on one with {setting.small.sessions:,} and"
                f" {setting.small.memories:,}. {verdict} Written by `python -m proof.scale`."
            ),
            "",
            (
                "| ratio | operation | median, large | median, small | p95, large | p95, small | ratio on a processor"
                " | buffers, large | buffers, small |"
            ),
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
            *(_row(line) for line in lines),
            "",
            _explained(setting),
            "",
        ]
    )


def _row(line: Line) -> str:
    mark = "" if line.holds else " ✗"
    return (
        f"| {line.ratio:.2f}{mark} | {line.name} | {line.large.median:.2f} ms | {line.small.median:.2f} ms"
        f" | {line.large.p95:.2f} ms | {line.small.p95:.2f} ms | {line.cpu_ratio:.2f}"
        f" | {line.large.touched:,.0f} | {line.small.touched:,.0f} |"
    )


_HOW = """\
Both databases lie in one server and take turns, so that what disturbs one disturbs the other. Times are those of the
caller, round trips and commits included. *On a processor*: milliseconds that the backends and the caller were running,
medians of the same rounds; where another program takes the processors, this figure stays. *Buffers*: pages of 8 kB that
Postgres touched, in cache or not.

**Machine.** {machine}; its load when measuring began: {load}.

**Postgres.** {settings}. The settings are those that `compose.yaml` and `slowwave up` have: Postgres' own. Commits wait
for the disk. Autovacuum is off while it is measured, and was run by hand before. All files were read once before, so
that the machine's memory holds what it can of them: operations are compared, and no disk that nobody has read.

**Data.** Loaded by COPY in {small:,.0f} and {large:,.0f} s; {size:.1f} GiB. Sessions have from 2 to 200 events with a
heavy tail and spread over two years; agents have from 1 to 10,000; words are as unevenly frequent as Zipf has it. The
ledger is complete (I1, I2 and I5 were counted in SQL after loading).

| table | rows, large | rows, small |
| --- | ---: | ---: |
{tables}

Search by vectors is left out: without an index of its own it reads all vectors of a scope. `python -m proof.scale
--plans FILE` writes the plans of all statements."""


def _explained(setting: Setting) -> str:
    return _HOW.format(
        machine=machine(),
        load=", ".join(f"{figure:.1f}" for figure in setting.load),
        settings=", ".join(f"{name} {value}" for name, value in setting.server),
        small=setting.loading[0],
        large=setting.loading[1],
        size=setting.size_bytes / 2**30,
        tables="\n".join(f"| {name} | {large:,} | {small:,} |" for name, small, large in setting.counts),
    )


_PLANS = """\
# Plans at full size

`EXPLAIN (ANALYZE, BUFFERS)` of each statement, with {sessions:,} sessions and {memories:,} memories in one scope.
Written by `python -m proof.scale`. Statements inside functions are explained just before they run, each in a
savepoint that is rolled back, planned for the values that they have then; the figures of the outer statement count
that explaining, too.
Literals of more than a few words are left out.
"""


def plans_as_markdown(plans: Sequence[tuple[str, Sequence[Plan]]], sizes: Sizes) -> str:
    """The plans of all operations, as Markdown."""
    parts = [_PLANS.format(sessions=sizes.sessions, memories=sizes.memories)]
    for name, found in plans:
        parts += [f"## {name[0].upper()}{name[1:]}", ""]
        for plan in found:
            parts += [f"In `{plan.of}`:" if plan.of else "Sent:", "", "```", plan.text, "```", ""]
    return "\n".join(parts)
