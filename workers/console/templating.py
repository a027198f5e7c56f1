"""Make the Jinja environment with the text filters of all templates. Every value is escaped."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.templating import Jinja2Templates

from slowwave_server.domain.spoken_time import duration_words, pluralize

FOLDER = Path(__file__).parent
LONG_AGO = 14 * 86_400


def ago(moment: datetime | None, now: datetime) -> str:
    """Return a relative time: "3 min ago", "in 2 h"; a date if it is more than two weeks away; "" for None."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    if abs(seconds) > LONG_AGO:
        return moment.astimezone(UTC).strftime("%Y-%m-%d")
    words = duration_words(abs(seconds)).split(" ")
    shown = " ".join(words[:2])
    return f"{shown} ago" if seconds >= 0 else f"in {shown}"


def utc(moment: datetime | None) -> str:
    """Return the full time: "2026-03-01 14:03:12 UTC"; "" for None."""
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def day(moment: date | None) -> str:
    """Return a date, or the UTC date of a time: "10 June 2025"; "" for None."""
    if moment is None:
        return ""
    return f"{moment.astimezone(UTC) if isinstance(moment, datetime) else moment:%-d %B %Y}"


def pairs(words: Iterable[str]) -> list[tuple[str, str]]:
    """Return (value, label) choices of a form field with the same text for value and label."""
    return [(word, word) for word in words]


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(ago=ago, utc=utc, duration=duration_words, count=pluralize, pairs=pairs, day=day)
    return environment


TEMPLATES = Jinja2Templates(env=_environment())
