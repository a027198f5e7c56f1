"""Parse hits and contexts from the JSON of `Hit.to_json` and `Context.to_json`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from slowwave.memory_records import parsed
from slowwave.recall import Context, Contradiction, Day, Hit, Utterance
from slowwave.recall.instructions import Instruction, Trait, Value

Json = Mapping[str, Any]
_LISTS: Mapping[str, type[Any]] = {
    "days": Day,
    "memories": Hit,
    "passages": Hit,
    "recent": Hit,
    "conflicts": Contradiction,
    "elsewhere": Utterance,
}


def hit_of(value: Json) -> Hit:
    """Parse one memory or event."""
    return parsed(Hit, value)


def context_of(value: Json) -> Context:
    """Parse a context. If a token budget left the context empty, the JSON has no other keys."""
    lists: dict[str, Any] = {
        name: tuple(parsed(shape, one) for one in value.get(name, ())) for name, shape in _LISTS.items()
    }
    return Context(
        **lists,
        span=value.get("span", 2),
        tokens=value.get("tokens"),
        left_out=value.get("left_out") or 0,
        instructions=tuple(map(_instruction_of, value.get("instructions", ()))),
        instructions_left_out=value.get("instructions_left_out", 0),
        profile=tuple(map(_trait_of, value.get("profile", ()))),
    )


def _instruction_of(value: Json) -> Instruction:
    return Instruction(value["id"], value["text"], _since(value), value.get("speaker"), value.get("scope"))


def _trait_of(value: Json) -> Trait:
    values = (Value(one["value"], _since(one), one["memory"]) for one in value["values"])
    return Trait(value["attribute"], tuple(values))


def _since(value: Json) -> datetime:
    """Parse a day; the JSON has no time of day."""
    return datetime.fromisoformat(value["since"]).replace(tzinfo=UTC)
