"""Build the parts of every context that do not depend on the query: standing instructions, and the speaker's profile.

Instructions without a condition come first ("Always answer in German"), then those with one ("When I send a recipe,
…"), newest first in both groups. Duplicates are merged.

A profile has the newest value of each attribute with its date; attributes with several values (languages, tools, likes)
list a few values. A person's own statement wins over an assistant's note.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from slowwave.lazy_patterns import lazy_pattern
from slowwave.recall.lines import wording
from slowwave.recall.query_steps import Row
from slowwave.recall.rendering import label, one_line, one_name, shorten

MOST_INSTRUCTIONS = 60
LONGEST = 240
"""Characters of an instruction in a line; the whole text stands in the memory."""
SINGLE = (
    "name",
    "pronouns",
    "role",
    "employer",
    "home",
    "from",
    "time zone",
    "birthday",
    "partner",
    "children",
    "diet",
)
"""Attributes that have one value at a time, in the order in which a profile shows them."""
SEVERAL = ("languages", "allergies", "avoids", "pets", "tools", "likes")
"""Attributes of which people have several values."""
MOST_VALUES = 4
UNNAMED = "the user"
"""How statements call a person without a name."""

_INSTRUCTS = re.compile(r"^(?P<who>[^:\n]{1,80}?) instructs: (?P<body>\S.*)$", re.DOTALL)
_QUOTED = re.compile(r'^(?P<who>[^:"\n]{1,80}?): "(?P<body>.+)"\.?$', re.DOTALL)
_CONDITION = lazy_pattern(
    r"\b(?:when(?:ever)?|if|unless|(?:every|each|any) ?time|for (?:each|every|all|any|my|our)|in (?:my|our)|wenn|falls|"
    r"sobald|bei|jedes Mal|quand|lorsqu\w*|chaque fois|si|cuando|cada vez|al)\b|如果|当|每次|每当|的时候",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A standing instruction that a person gave the agent.

    Attributes:
        id: the UUID of its memory.
        text: the instruction in that person's words.
        since: the time at which it was first given.
        speaker: the person's name; None for the person who speaks and for one without a name.
        scope: as in `Hit`.
    """

    id: str
    text: str
    since: datetime
    speaker: str | None = None
    scope: str | None = None

    @property
    def content(self) -> str:
        """The text. All lines of a context use the name `content`."""
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Convert the instruction to JSON; short, because every context contains all instructions.

        Returns:
            The date without a time, and no key without a value.
        """
        told = {"id": self.id, "text": self.text, "since": f"{self.since:%Y-%m-%d}"}
        others = {"speaker": self.speaker, "scope": self.scope}
        return told | {name: value for name, value in others.items() if value is not None}

    def to_line(self) -> str:
        """Render the instruction as a line of a context.

        Returns:
            The text, with the scope and the speaker if they are known.
        """
        scope = "" if self.scope is None else f"({label(self.scope)}) "
        who = "" if self.speaker is None else f"{one_name(self.speaker)}: "
        return f"- {scope}{who}{shorten(one_line(self.text), LONGEST)}"


class Value(NamedTuple):
    """One value of an attribute. since: the date from which it is valid; memory: the id of its memory."""

    value: str
    since: datetime
    memory: str

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "since": f"{self.since:%Y-%m-%d}", "memory": self.memory}


@dataclass(frozen=True, slots=True)
class Trait:
    """An attribute of the person who speaks.

    Attributes:
        attribute: the attribute's name, such as "home".
        values: its current values with their dates and memories; a single value, unless people may have several, as for
            "languages".
    """

    attribute: str
    values: tuple[Value, ...]

    @property
    def content(self) -> str:
        """The values, separated by commas."""
        return ", ".join(value.value for value in self.values)

    def to_json(self) -> dict[str, Any]:
        """Convert the attribute to JSON.

        Returns:
            Its name, and the values with their dates.
        """
        return {"attribute": self.attribute, "values": [value.to_json() for value in self.values]}

    def to_line(self) -> str:
        """Render the attribute as a line of a context.

        Returns:
            The values; for an attribute with one value, also its date.
        """
        since = f" (since {self.values[0].since:%Y-%m-%d})" if self.attribute in SINGLE else ""
        return f"- {self.attribute}: {one_line(self.content)}{since}"


def instructions_of(
    rows: Sequence[Row], person: str | None, labels: Mapping[int, str | None]
) -> tuple[tuple[Instruction, ...], int]:
    """Return the instructions to show, the most general and newest first, and the number of further ones.

    rows: the rows of the instructions, newest first; person: the name of the person who speaks, in lower case.
    """
    found: dict[tuple[str, str | None], Instruction] = {}
    for row in rows:
        one = _instruction(row, person, labels[row["scope_id"]])
        found.setdefault((wording(one.text), one.scope), one)
    ordered = sorted(found.values(), key=lambda one: _CONDITION.search(one.text) is not None)
    return tuple(ordered[:MOST_INSTRUCTIONS]), max(0, len(ordered) - MOST_INSTRUCTIONS)


def _instruction(row: Row, person: str | None, scope: str | None) -> Instruction:
    match = _INSTRUCTS.match(row["content"]) or _QUOTED.match(row["content"])
    who = "" if match is None else match["who"].strip()
    text = row["content"] if match is None else match["body"].strip()
    speaker = None if not who or who.casefold() in {UNNAMED, person} else who
    return Instruction(row["id"], text.rstrip(" ."), datetime.fromisoformat(row["valid_from"]), speaker, scope)


def profile_of(rows: Iterable[Row]) -> tuple[Trait, ...]:
    """Return the profile that these statements give. rows: the newest first, each with one `trait`."""
    said: dict[str, list[Row]] = {}
    for row in rows:
        said.setdefault(row["trait"]["attribute"], []).append(row)
    found = (_trait(attribute, said[attribute]) for attribute in (*SINGLE, *SEVERAL) if attribute in said)
    return tuple(trait for trait in found if trait is not None)


def _trait(attribute: str, rows: Sequence[Row]) -> Trait | None:
    own = [row for row in rows if row["trust"] != "assistant"]
    values: dict[str, Value] = {}
    over: set[str] = set()
    for row in own or rows:
        value = str(row["trait"]["value"])
        key = value.casefold()
        if row["trait"]["ended"]:
            over.add(key)
        elif key not in over and key not in values:
            values[key] = Value(value, _since(row, own or rows, attribute), row["id"])
    shown = tuple(values.values())[: 1 if attribute in SINGLE else MOST_VALUES]
    return Trait(attribute, shown) if shown else None


def _since(row: Row, rows: Sequence[Row], attribute: str) -> datetime:
    """Return the start of a value: the time of its first statement, unless another value came in between."""
    first = datetime.fromisoformat(row["valid_from"])
    others = (datetime.fromisoformat(other["valid_from"]) for other in rows if other["id"] != row["id"])
    said_again = attribute in SINGLE and any(at > first for at in others)
    return datetime.fromisoformat(row["reaffirmed_at"]) if said_again else first
