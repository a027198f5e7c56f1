"""What the shell prints: JSON that is whole, text that a terminal shows and does not obey."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from slowwave_server.domain.waiting_facts import Reason
from slowwave_server.workers.cli.output import console, one_line, print_rows, rich_console, safe, styled
from slowwave_server.workers.shared.json_document import document


@dataclass(frozen=True, slots=True)
class Row:
    id: UUID
    at: datetime
    parts: tuple[int, ...]
    reason: Reason


def printed(rows: list[tuple[str, ...]], *, terminal: bool) -> str:
    out = Console(file=io.StringIO(), force_terminal=terminal, width=40, markup=False, no_color=True)
    print_rows(out, list(rows))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_a_document_holds_dataclasses_times_ids_and_words() -> None:
    row = Row(UUID(int=7), datetime(2026, 3, 5, tzinfo=UTC), (1, 2), Reason.CLEAN)
    assert json.loads(json.dumps(document({"rows": [row], "folder": Path("/x"), "none": None}))) == {
        "rows": [
            {
                "id": "00000000-0000-0000-0000-000000000007",
                "at": "2026-03-05T00:00:00+00:00",
                "parts": [1, 2],
                "reason": "clean",
            }
        ],
        "folder": "/x",
        "none": None,
    }


def test_what_has_no_form_in_json_is_an_error_and_not_its_repr() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        document({"a": object()})


@given(st.text())
def test_no_text_reaches_a_terminal_with_a_control_character(text: str) -> None:
    shown = safe(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown if c not in "\n\t")
    assert "\n" not in one_line(text)
    assert len(one_line(text, 20)) <= 20


def test_an_escape_sequence_becomes_visible() -> None:
    assert safe("\x1b[2Jgone") == "\\x1b[2Jgone"


def test_in_a_pipe_every_row_is_one_line_however_long() -> None:
    assert printed([("a", "x" * 200), ("bbb", "[bold]y[/]")], terminal=False) == (
        f"a    {'x' * 200}\nbbb  [bold]y[/]\n"
    )


def test_on_a_terminal_the_last_column_wraps_under_itself() -> None:
    lines = printed([("name", "word " * 12)], terminal=True).splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("      word")


SAID = st.text(st.sampled_from("ab \t\n·é漢\u200b\x07\u00a0") | st.characters(exclude_categories=["Cs"]), max_size=300)


@given(st.lists(SAID, max_size=3), st.booleans())
@example(["x" * 120], False)
@example(["x " * 80], False)
@example(["漢" * 61], False)
@example(["a", ""], True)
def test_a_pipe_gets_the_text_that_rich_prints(texts: list[str], soft_wrap: bool) -> None:
    expected, shown = io.StringIO(), io.StringIO()
    with redirect_stdout(expected):
        rich_console().print(*map(styled, texts), soft_wrap=soft_wrap)
    with redirect_stdout(shown):
        out = console()
        out.print(*(styled(one, "bold") for one in texts), soft_wrap=soft_wrap)
    assert type(out).__name__ == "Pipe"
    assert shown.getvalue() == expected.getvalue()


def test_styles_are_printed_for_a_variable_that_forces_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = io.StringIO()
    with redirect_stdout(shown):
        print_rows(console(), [(styled("a", "bold"), "b")])
    assert "\x1b[1ma" in shown.getvalue()


def test_a_closed_pipe_ends_the_command_quietly() -> None:
    code = (
        "import sys; from slowwave_server.workers.cli.output import console\n"
        "sys.stdin.read(); console().print('late'); print('not reached', file=sys.stderr)"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe) as child:
        assert child.stdout is not None
        child.stdout.close()
        _, told = child.communicate(b"")
    assert (child.returncode, told) == (1, b"")
