"""Parse hits and contexts from the JSON of `Hit.to_json` and `Context.to_json`."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from slowwave.recall import Context, Contradiction, Day, DayLine, Hit, Utterance
from slowwave.recall.instructions import Instruction, Trait, Value
from slowwave.recall.ranking import Why

Json = Mapping[str, Any]


def hit_of(value: Json) -> Hit:
    """Parse one memory or event."""
    return Hit(
        id=value["id"],
        kind=value["kind"],
        content=value["content"],
        score=value["score"],
        status=value["status"],
        valid_from=datetime.fromisoformat(value["valid_from"]),
        sources=tuple((session, seq) for session, seq in value["sources"]),
        scope=value["scope"],
        type=value["type"],
        speaker=value["speaker"],
        part=value["part"],
        relevance=value["relevance"],
        why=None if value["why"] is None else Why(**value["why"]),
        valid_to=None if value["valid_to"] is None else datetime.fromisoformat(value["valid_to"]),
        contradicts=tuple(value["contradicts"]),
    )


def context_of(value: Json) -> Context:
    """Parse a context. If a token budget left the context empty, the JSON has no other keys."""
    return Context(
        days=tuple(map(_day_of, value.get("days", ()))),
        memories=_hits(value, "memories"),
        recent=_hits(value, "recent"),
        conflicts=tuple(map(_conflict_of, value.get("conflicts", ()))),
        elsewhere=tuple(map(_utterance_of, value.get("elsewhere", ()))),
        span=value.get("span", 2),
        tokens=value.get("tokens"),
        left_out=value.get("left_out") or 0,
        instructions=tuple(map(_instruction_of, value.get("instructions", ()))),
        instructions_left_out=value.get("instructions_left_out", 0),
        profile=tuple(map(_trait_of, value.get("profile", ()))),
        passages=_hits(value, "passages"),
    )


def _hits(value: Json, name: str) -> tuple[Hit, ...]:
    hits: Sequence[Json] = value.get(name, ())
    return tuple(map(hit_of, hits))


def _conflict_of(value: Json) -> Contradiction:
    one, other = map(hit_of, value["sides"])
    return Contradiction(value["conflict"], value["reason"], (one, other))


def _day_of(value: Json) -> Day:
    return Day(
        day=date.fromisoformat(value["day"]),
        agent=value["agent"],
        scope=value["scope"],
        version=value["version"],
        final=value["final"],
        lines=tuple(map(_line_of, value["lines"])),
        unsummarised=tuple(map(_utterance_of, value["unsummarised"])),
    )


def _line_of(value: Json) -> DayLine:
    at = None if value["at"] is None else datetime.fromisoformat(value["at"])
    return DayLine(value["facet"], value["content"], value["speaker"], value["session"], value["seq"], at)


def _utterance_of(value: Json) -> Utterance:
    names = ("session", "seq", "agent", "speaker", "content", "scope")
    return Utterance(**{name: value[name] for name in names}, at=datetime.fromisoformat(value["at"]))


def _instruction_of(value: Json) -> Instruction:
    return Instruction(value["id"], value["text"], _since(value), value.get("speaker"), value.get("scope"))


def _trait_of(value: Json) -> Trait:
    values = (Value(one["value"], _since(one), one["memory"]) for one in value["values"])
    return Trait(value["attribute"], tuple(values))


def _since(value: Json) -> datetime:
    """Parse a day; the JSON has no time of day."""
    return datetime.fromisoformat(value["since"]).replace(tzinfo=UTC)
