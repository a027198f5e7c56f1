"""The report of an undo: its effects, as numbers and as a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from slowwave_server.domain.spoken_time import pluralize

_NOT_COUNTED = frozenset({"run", "undone", "summary", "again", "parts", "refused", "final"})


@dataclass(frozen=True, slots=True)
class UndoReport:
    """The result of an undo, in numbers of rows.

    If the undone run is an undo itself (`again`), the run that it had undone takes effect again: `removed` counts
    restored memories, and `links`, `triples`, `conflicts` and `questions` count restored rows. kept: memories of the
    run with other evidence. decisions: conflicts and questions in their state from before the run. parts, refused: of
    the runs that it had started, those that were undone, and reasons for others. final: no copy of the removed rows
    exists, so this undo can't be undone.
    """

    run: int
    undone: int
    restored: int = 0
    removed: int = 0
    kept: int = 0
    links: int = 0
    triples: int = 0
    conflicts: int = 0
    questions: int = 0
    decisions: int = 0
    reopened: int = 0
    aliases: int = 0
    days: int = 0
    summary: str = ""
    again: bool = False
    parts: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()
    final: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Return only the numbers, by name, including zeros."""
        return {name: number for name, number in asdict(self).items() if name not in _NOT_COUNTED}

    @property
    def gone(self) -> str:
        """Return the deleted or restored rows in words, or ""."""
        told = (
            (self.links, "link", None), (self.triples, "triple", None), (self.conflicts, "conflict", None),
            (self.questions, "question", None), (self.days, "summary of a day", "summaries of days"),
        )  # fmt: skip
        return ", ".join(pluralize(number, one, many) for number, one, many in told if number)


def describe(report: UndoReport, stands_again: int | None) -> str:
    """Describe one undo in a sentence. stands_again: the run that takes effect again because its undo was undone."""
    if stands_again is not None:
        return (
            f"run {report.undone} undone, run {stands_again} is in effect again: {_restored(report.counts, again=True)}"
        )
    return f"run {report.undone} undone: {_restored(report.counts, again=False)}"


def add_up(run: int, undone: int, parts: Sequence[UndoReport], refused: Sequence[str], *, again: bool) -> UndoReport:
    """Return the sums of the undos of all runs that one run had started."""
    names = [one.name for one in fields(UndoReport) if one.name not in _NOT_COUNTED]
    sums = {name: sum(part.counts[name] for part in parts) for name in names}
    runs = pluralize(len(parts), "run")
    stay = f"; {pluralize(len(refused), 'run stays', 'runs stay')}" if refused else ""
    return UndoReport(
        run,
        undone,
        **sums,
        parts=tuple(part.undone for part in parts),
        refused=tuple(refused),
        summary=f"run {undone} undone, with {runs} that it had started: {_restored(sums, again=again)}{stay}",
        again=again,
        final=False,
    )


def _restored(counts: Mapping[str, int], *, again: bool) -> str:
    restored, aliases, removed = counts["restored"], counts["aliases"], counts["removed"]
    state = f"as that run left {'it' if restored + aliases == 1 else 'them'}" if again else "as before"
    parts = []
    if restored or not aliases:
        parts.append(f"{pluralize(restored, 'memory', 'memories')} {state}")
    if aliases:
        parts.append(f"{pluralize(aliases, 'alias', 'aliases')} {state}")
    if removed:
        said = "there again" if again else "that it had created removed"
        parts.append(f"{pluralize(removed, 'memory', 'memories')} {said}")
    if counts["kept"]:
        parts.append(f"{counts['kept']:,} kept, because other evidence says the same")
    if counts["reopened"]:
        said = "settled again" if again else "back in working memory"
        parts.append(f"{pluralize(counts['reopened'], 'note')} {said}")
    return ", ".join(parts)
