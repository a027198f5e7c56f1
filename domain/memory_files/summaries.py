"""The summary of a day as a section of its file: the text for people, and a comment with its lines and sources.

A digest in the heading's mark shows whether a person edited the text after Slowwave wrote it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from slowwave_server.domain.memory_files.escapes import comment_json, escape, escape_lines, unescape
from slowwave_server.domain.memory_files.lines import BadMark, parse_time, render_time, storable

BEGIN = "<!-- slowwave summary "
LINES = "<!-- slowwave lines"
END = "<!-- slowwave end -->"
CLOSE = "-->"
_DIGEST_CHARACTERS = 16
_NEEDED: Mapping[str, type | tuple[type, ...]] = {"facet": str, "text": str}
_OPTIONAL: Mapping[str, type | tuple[type, ...]] = {
    "speaker": str, "session": str, "seq": int, "weight": (int, float), "at": str,
    "run": str,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileSummary:
    """A day's summary as written in a file.

    Attributes:
        agent: the agent of the day; a shared scope may have a summary for each agent.
        made_at: the aware time at which it was made.
        lines: the summary's lines, in the form of `day_summaries.lines`.
        edited: True if the text differs from the text that Slowwave wrote.
    """

    agent: str
    version: int
    final: bool
    messages: int
    segments: int
    summarizer: str
    made_at: datetime
    text: str
    lines: tuple[Mapping[str, Any], ...]
    edited: bool = False


def render_summary(summary: FileSummary, *, shared: bool) -> str:
    """Return the section, from its heading to its end mark and line end. shared: the heading names the agent."""
    body = escape_lines(summary.text)
    mark = {
        "agent": summary.agent,
        "version": summary.version,
        "final": summary.final,
        "messages": summary.messages,
        "segments": summary.segments,
        "summarizer": summary.summarizer,
        "made": render_time(summary.made_at),
        "digest": _digest(summary.text),
    }
    title = f"## Summary of {escape(summary.agent)}" if shared else "## Summary"
    parts = [f"{title} {BEGIN}{comment_json(mark)} -->", "", body, "", LINES]
    parts.extend(comment_json(dict(line)) for line in summary.lines)
    return "\n".join([*parts, CLOSE, END, ""])


def parse_summary(raw: str) -> FileSummary:
    """Parse the result of `render_summary`, edited or not. Raises BadMark."""
    heading, _, rest = raw.replace("\r\n", "\n").partition("\n")
    mark = _mark(heading)
    body, found, after = rest.partition(f"\n{LINES}\n")
    if not found:
        body, _, after = rest.partition(END)
    text = unescape(_inside(body))
    if not storable(text):
        raise BadMark("the summary holds NUL or bytes that are no UTF-8")
    try:
        return FileSummary(
            agent=_text(mark["agent"]),
            version=_count(mark["version"]),
            final=mark["final"] is True,
            messages=_count(mark["messages"]),
            segments=_count(mark["segments"]),
            summarizer=_text(mark["summarizer"]),
            made_at=parse_time(mark["made"]),
            text=text,
            lines=tuple(_lines(after)),
            edited=mark.get("digest") != _digest(text),
        )
    except KeyError as error:
        raise BadMark(f"the mark of the summary has no {error}") from None


def _inside(body: str) -> str:
    # One empty line on each side belongs to the section; further empty lines belong to the text.
    return body.removeprefix("\n").removesuffix("\n")


def _mark(heading: str) -> dict[str, Any]:
    written = heading[heading.index(BEGIN) + len(BEGIN) :].rstrip().removesuffix(CLOSE)
    try:
        mark = json.loads(written)
    except (ValueError, RecursionError):
        mark = None
    if not isinstance(mark, dict):
        raise BadMark("the mark of the summary is not JSON")
    return mark


def _lines(after: str) -> list[dict[str, Any]]:
    lines = []
    for line in after.partition(f"{CLOSE}\n")[0].splitlines():
        try:
            value = json.loads(line, parse_constant=_no_number)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict) or "\\u0000" in line or not storable(json.dumps(value, ensure_ascii=False)):
            raise BadMark("a line of the summary's sources is not a JSON object")
        _check_line(value)
        lines.append(value)
    return lines


def _no_number(written: str) -> None:
    raise ValueError(written)  # NaN and the infinities are not JSON, and no database accepts them


def _check_line(value: Mapping[str, Any]) -> None:
    """Raise BadMark for a line that a report can't show; contexts are built from these lines."""
    for name, kind in {**_NEEDED, **_OPTIONAL}.items():
        given = value.get(name)
        if given is None and name in _OPTIONAL:
            continue
        if not isinstance(given, kind) or isinstance(given, bool):
            raise BadMark(f"a line of the summary's sources has no {name} that can be read")
    if value.get("at") is not None:
        parse_time(value["at"])


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**30:
        raise BadMark("a number in the mark of the summary is not a number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not storable(value):
        raise BadMark("a name in the mark of the summary is not a name")
    return value


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
