"""Parts of a framework's message that are not text: the text of a part if it has some, else the kind of the part.

The text of an image, a recording or a file is its alternative text, caption, transcript or file name. Other parts are
counted, as `slowwave.message_parts` does for hooks and ingest.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from slowwave.message_parts import kind_of, mark_of

_FIELDS = ("alt_text", "alt", "caption", "description", "title", "transcript", "filename", "name")


class Described(NamedTuple):
    """The result of describing parts. words: "[image: a red bike]" for each part with text; left_out: kinds of the
    others.
    """

    words: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def after(self, text: str) -> str:
        """The text, and the words of the parts behind it."""
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
    """An object of a framework as a part. further: mappings of the framework or its host that may describe it, too."""
    holders = [{name: getattr(media, name, None) for name in _FIELDS}, *further]
    told: dict[str, str] = {}
    for holder in holders:
        if isinstance(holder, Mapping):
            told |= {name: text for name in _FIELDS if isinstance(text := holder.get(name), str) and name not in told}
    if "name" in told:
        told.setdefault("filename", told["name"])
    return {"type": kind, **told}
