"""Format times, always in UTC with that suffix, and durations in words."""

from datetime import UTC, datetime

_UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


def duration_words(seconds: float) -> str:
    """Format a duration in at most two units: "0.4 s", "47 s", "3 min 5 s", "2 d 4 h". Negative ones count as 0."""
    seconds = max(0.0, seconds)
    if seconds < 10:  # noqa: PLR2004 (below ten seconds the tenth matters)
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    whole = round(seconds)
    parts: list[str] = []
    for unit, size in _UNITS:
        count, whole = divmod(whole, size)
        if parts or count:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:  # noqa: PLR2004 (two units are as exact as anyone reads)
            break
    return " ".join(part for part in parts if part)


def format_time(moment: datetime, now: datetime) -> str:
    """Format an aware time: "14:03:12 UTC" on the day of `now`, "2026-03-01 14:03:12 UTC" on any other day."""
    moment, now = moment.astimezone(UTC), now.astimezone(UTC)
    shape = "%H:%M:%S UTC" if moment.date() == now.date() else "%Y-%m-%d %H:%M:%S UTC"
    return moment.strftime(shape)


def pluralize(count: int, thing: str, things: str | None = None) -> str:
    """Format a count: "1 event", "3 events". things: the plural, if adding an s is wrong."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"
