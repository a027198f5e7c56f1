"""Print the demo: one line per conversation, one block per decision, and the last context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from slowwave.recall.hits import Hit
from slowwave_server.domain.changes import ChangeLine
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.reports.review import ListedQuestion
from slowwave_server.services.reports.runs import RunStory
from slowwave_server.services.review.decisions import DecisionReport
from slowwave_server.services.undo.report import UndoReport

_INDENT = (0, 0, 0, 2)


@dataclass(frozen=True, slots=True)
class Flushed:
    """The result of a flush of one conversation: its memories, and the number of masked secrets."""

    memories: tuple[str, ...]
    redactions: int


class DemoPage:
    """Prints the demo, step by step."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps = 0

    def step(self, title: str, aside: str = "") -> None:
        """Begin a step, with its number."""
        self._steps += 1
        more = f"  [dim]{escape(aside)}[/]" if aside else ""
        self._console.print(f"\n[bold]{self._steps}. {escape(title)}[/]{more}", highlight=False)

    def said(self, at: datetime, person: str, text: str, flushed: Flushed) -> None:
        """Show a spoken turn, and the memories that a worker makes from it."""
        kept = [f"[green]remembered[/]  {escape(memory)}" for memory in flushed.memories] or ["[dim]nothing is kept[/]"]
        if flushed.redactions:
            kept[-1] += f"[dim], {pluralize(flushed.redactions, 'secret')} redacted[/]"
        self._rows([(f"[dim]{_day(at)}[/]", f"{person}: {escape(text)}"), *(("", line) for line in kept)])

    def tidied(self, story: RunStory) -> None:
        """Print the decisions of a pass: merges, replaced values, open contradictions, promoted memories."""
        told = f"run {story.run.id}, a light pass of a worker: {story.run.summary}"
        self._console.print(f"  [dim]{escape(told)}[/]", highlight=False)
        names = {change.memory: change.content or "" for change in story.changes if change.memory is not None}
        for change in story.changes:
            rows = _decision(change, names)
            if rows:
                self._rows(rows)

    def asked(self, question: ListedQuestion, effects: Mapping[str, str]) -> None:
        """Show an open question: both statements, the reason for the question, and the effect of each answer."""
        conflict = question.conflicts[0]
        why = f"[dim](asked because {escape(question.why)})[/]"
        self._console.print(f"  [yellow]question {question.id}[/]  Which one holds?  {why}", highlight=False)
        sides = {"earlier": conflict.older, "later": conflict.newer}
        self._rows(
            [
                (f"  {name}", f"{_quoted(side.content)}  [dim]said on {_day(side.valid_from)}[/]")
                for name, side in sides.items()
            ]
        )
        self._console.print("    [dim]what each answer would do:[/]", highlight=False)
        self._rows([(f"    {escape(answer)}", f"[dim]{escape(effect)}[/]") for answer, effect in effects.items()])

    def answered(self, by: str, answer: str, report: DecisionReport) -> None:
        """Print an answer and its effect."""
        told = report.results[0].text
        self._rows([(f"  [cyan]{by} answers[/]", f"{escape(answer)}  [dim](run {report.run})[/]"), ("", escape(told))])

    def undone(self, by: str, report: UndoReport, story: RunStory) -> None:
        """Print what an undo restored."""
        back = [change.content for change in story.changes if change.content is not None]
        rows = [
            (f"  [cyan]{by} undoes run {report.undone}[/]", f"{escape(report.summary)}  [dim](run {report.run})[/]")
        ]
        rows += [("", f"[green]restored[/]  {_quoted(content)}") for content in dict.fromkeys(back)]
        if report.decisions:
            rows.append(("", "[green]reopened[/]  the question and its contradiction"))
        self._rows(rows)

    def known(self, person: str, question: str, context: str, hits: Sequence[Hit]) -> None:
        """Show the context of a new conversation, and the hits of a search."""
        self._console.print(f"  {person} asks in a new conversation: {_quoted(question)}", highlight=False)
        title = "context(): what the agent reads before it answers"
        self._console.print(Padding(Panel(escape(context.strip()), title=title, border_style="dim"), _INDENT))
        table = Table(
            "found", "said in", title=f"search({_quoted(question)})", title_justify="left", box=box.SIMPLE_HEAD
        )
        for hit in hits:
            until = "" if hit.valid_to is None else f"  [dim]held until {_day(hit.valid_to)}[/]"
            speaker = "" if hit.speaker is None else f"{escape(hit.speaker)}: "
            table.add_row(f"{speaker}{escape(hit.content)}{until}", escape(_origin(hit)))
        self._console.print(Padding(table, _INDENT))

    def held(self, then: datetime, contents: Sequence[str]) -> None:
        """List the memories that were valid at a past time."""
        self._console.print(f"  What was true on {_day(then)} is still known:")
        self._rows([(f"  {_quoted(content)}",) for content in contents])

    def _rows(self, rows: Sequence[tuple[str, ...]]) -> None:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for row in rows:
            grid.add_row(*row)
        self._console.print(Padding(grid, _INDENT))


def _decision(change: ChangeLine, names: Mapping[UUID, str]) -> list[tuple[str, str]]:
    """Return a decision of a pass in rows; none for a change that another decision includes."""
    after = change.after or {}
    said = _quoted(change.content or "")
    because = ("", f"[dim]because: {escape(change.reason)}[/]")
    if change.action == "merged":
        return [("[magenta]merged[/]", said), ("  into", _quoted(_name(after.get("merged_into"), names))), because]
    if change.action == "superseded":
        until = datetime.fromisoformat(str(after["valid_to"]))
        rows = [("[magenta]replaced[/]", f"{said}  [dim]held until {_day(until)}[/]")]
        return [*rows, ("  by", _quoted(_name(after.get("superseded_by"), names))), because]
    if change.action == "conflict" and after.get("status") == "open" and str(change.memory) < str(after.get("with")):
        other = _quoted(_name(after.get("with"), names))
        return [("[yellow]undecided[/]", said), ("  against", other), because]
    if change.action == "promoted":
        return [("[green]confirmed[/]", f"{said}  [dim]{escape(change.reason)}[/]")]
    return []


def _name(memory: object, names: Mapping[UUID, str]) -> str:
    return names.get(UUID(str(memory)), str(memory))


def _quoted(text: str) -> str:
    return f"“{escape(text)}”"


def _day(at: datetime) -> str:
    return f"{at:%a} {at.day} {at:%b}"


def _origin(hit: Hit) -> str:
    return ", ".join(f"{session} #{seq}" for session, seq in hit.sources)
