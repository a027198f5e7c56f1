"""Convert non-text parts of a framework's message: to the part's text if it has one, else to the kind of the part."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from slowwave.message_parts import kind_of, mark_of

_FIELDS = ("alt_text", "alt", "caption", "description", "title", "transcript", "filename", "name")


class Described(NamedTuple):
    """Described parts of a message. words: such as "[image: a red bike]"; left_out: the kinds of parts without text."""

    words: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def after(self, text: str) -> str:
        """Return the text, followed by the words of the parts."""
        return "\n".join(part for part in (text, *self.words) if part.strip())


def described(parts: Iterable[Mapping[str, Any]]) -> Described:
    """Describe parts in a provider's form, {"type": KIND, …}."""
    words: list[str] = []
    left_out: list[str] = []
    for part in parts:
        if mark := mark_of(part):
            words.append(mark)
        else:
            left_out.append(kind_of(part))
    return Described(tuple(words), tuple(left_out))


def part_of(kind: str, media: object, *further: object) -> dict[str, Any]:
    """Return a framework's object as a part. further: mappings of the framework or its host that describe it, too."""
    holders = [{name: getattr(media, name, None) for name in _FIELDS}, *further]
    told: dict[str, str] = {}
    for holder in holders:
        if isinstance(holder, Mapping):
            told |= {name: text for name in _FIELDS if isinstance(text := holder.get(name), str) and name not in told}
    if "name" in told:
        told.setdefault("filename", told["name"])
    return {"type": kind, **told}
