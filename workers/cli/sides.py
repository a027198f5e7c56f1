"""Print two contradicting statements, one below the other, with dates and sources."""

from typing import TYPE_CHECKING

from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.workers.cli.output import console, one_line, print_rows, styled

if TYPE_CHECKING:
    from slowwave_server.services.reports.conflicts import ListedConflict
    from slowwave_server.services.review.conflict_sides import Side

LABEL = 9


def print_conflict(conflict: "ListedConflict", *, full: bool = False) -> None:
    """Print both sides, the later first. full: True to include the source events."""
    print_side("later", conflict.newer, full=full)
    print_side("earlier", conflict.older, full=full)


def print_side(label: str, side: "Side", *, full: bool = False) -> None:
    """Print one statement under a label."""
    out = console()
    print_rows(out, [(f"{label:<{LABEL}}", styled(one_line(side.content, 500), "bold"))], indent=4)
    indent = 4 + LABEL + 2
    out.print(styled(" " * indent + " · ".join(_marks(side)), "dim"), soft_wrap=True)
    out.print(styled(" " * indent + _origin(side), "dim"), soft_wrap=True)
    if full:
        for said in side.sources:
            line = f"{said.happened_at:%Y-%m-%d %H:%M} UTC {said.speaker}: {one_line(said.content, 300)}"
            out.print(styled(" " * indent + line), soft_wrap=True)


def _marks(side: "Side") -> list[str]:
    holds = f"from {side.valid_from:%Y-%m-%d}"
    if side.reaffirmed_at.date() != side.valid_from.date():
        holds += f", said again {side.reaffirmed_at:%Y-%m-%d}"
    if side.valid_to is not None:
        holds += f", until {side.valid_to:%Y-%m-%d}"
    status = side.status if side.archive_reason is None else f"{side.status} ({side.archive_reason})"
    weight = f"confidence {side.confidence:.2f} · importance {side.importance:.2f}"
    return [side.type, status, f"source: {side.trust}", holds, weight]


def _origin(side: "Side") -> str:
    places = [f"{said.session}#{said.seq}" for said in side.sources]
    if side.source_count > len(places):
        places.append(f"{side.source_count - len(places):,} more")
    if side.noted:
        places.append(f"noted {pluralize(side.noted, 'time')}")
    places.extend(f"read in {file}" for file in side.files)
    return f"{side.id} · {one_line(', '.join(places), 200) or 'no source'}"
