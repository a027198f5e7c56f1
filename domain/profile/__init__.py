"""Extract profile attributes from a statement about its speaker, such as name, home or employer.

    The user lives in Porto.                  home: Porto
    Maya: "Ich bin Veganerin."                diet: Veganerin
    The user no longer works at Siemens.      employer: Siemens, ended

Values are words of the statement. Precision comes before recall: questions, wishes, plans and past states give no
attribute, and a statement about another person gives no attribute of its speaker. The patterns are data:
`patterns.json`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from slowwave_server.domain.similarity import is_occupation
from slowwave_server.domain.similarity.lexicon import kind_of_name

MOST = 2
"""Maximum attributes of one memory: the database has an index for each position."""
LONGEST = 300
"""Maximum characters of a statement; a longer text is not only about its speaker."""
MAX_VALUE = 60
_DATES = re.compile(r" ?\((?:week of )?\d{4}(?:-\d\d(?:-\d\d)?)?\)")
_QUOTED = re.compile(r'^(?P<who>[^:"\n]{1,80}?): "(?P<body>[^"]+)"\.?$')
_QUOTING = ("de", "fr", "es", "zh")
"""Languages whose statements are kept in their original words, after the speaker's name."""
_OF_KIND: Mapping[str, frozenset[str]] = {
    "task": frozenset({"birthday"}),
    "instruction": frozenset({"name"}),
    "decision": frozenset({"home"}),
    "event": frozenset({"home", "employer", "role", "birthday", "partner", "pets"}),
    "result": frozenset(),
    "lesson": frozenset(),
    "summary": frozenset(),
}
"""The attributes that statements of a type may give; types not listed may give all."""


@dataclass(frozen=True, slots=True)
class Trait:
    """One attribute of one person, in a statement's words. ended: the statement says that it no longer applies."""

    person: str
    attribute: str
    value: str
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"person": self.person, "attribute": self.attribute, "value": self.value, "ended": self.ended}


def profile_of(content: str, kind: str = "fact") -> tuple[Trait, ...]:
    """Return the profile attributes that a statement gives for its speaker, at most `MOST`."""
    if len(content) > LONGEST or "\n" in content:
        return ()
    allowed = _OF_KIND.get(kind)
    found = _told(_DATES.sub("", content))
    kept = {trait.attribute: trait for trait in found if allowed is None or trait.attribute in allowed}
    return tuple(kept.values())[:MOST]


@lru_cache(maxsize=16)  # extraction evaluates a statement's traits, and storage evaluates them again
def _told(text: str) -> tuple[Trait, ...]:
    quoted = _QUOTED.match(text)
    if quoted is None or quoted["who"].endswith(" corrected"):
        return tuple(_read(_reader("en"), text, ""))
    return tuple(trait for code in _QUOTING for trait in _read(_reader(code), quoted["body"], quoted["who"]))


def profile_json(content: str, kind: str) -> str:
    """Return the traits of a statement as JSON for the database."""
    return json.dumps([trait.to_json() for trait in profile_of(content, kind)], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The patterns of one language."""

    patterns: Sequence[tuple[str, re.Pattern[str]]]
    unreal: re.Pattern[str]
    ended: Sequence[tuple[re.Pattern[str], str]]
    jobs: frozenset[str] | None


def _read(reader: _Reader, text: str, who: str) -> Iterator[Trait]:
    if reader.unreal.search(text) is not None:
        return
    ended = False
    for pattern, instead in reader.ended:
        text, count = pattern.subn(instead, text)
        ended = ended or count > 0
    told: set[str] = set()
    for attribute, pattern in reader.patterns:
        match = None if attribute in told else pattern.search(text)
        value = None if match is None else _value(match, reader)
        if match is None or value is None:
            continue
        told.add(attribute)
        person = (who or match["who"]).strip().removesuffix("'s")
        yield Trait(person.casefold(), attribute, value, ended)


def _value(match: re.Match[str], reader: _Reader) -> str | None:
    """Return the value that a pattern found; None if it is implausible."""
    groups = match.groupdict()
    value = str(next(found for name in ("moved", "job", "v") if (found := groups.get(name)))).strip(" .,'\"")
    if groups.get("moved") and (kind_of_name(value.lower()) or value.split()[0].lower() in _words("not_places")):
        return None
    if groups.get("job") and not _is_job(value, reader):
        return None
    if groups.get("kind"):
        value = f"{value} ({groups['kind']})"
    return value if value and len(value) <= MAX_VALUE and value.lower() not in _words("not_employers") else None


def _is_job(value: str, reader: _Reader) -> bool:
    if reader.jobs is None:
        return is_occupation(value)
    return value.lower() in reader.jobs or value.split(maxsplit=1)[0].lower() in reader.jobs


@cache
def _reader(code: str) -> _Reader:
    data = _data()
    told, macros = data[code], {**data["macros"], **{name: f"(?:{words})" for name, words in data["lists"].items()}}
    patterns = [
        (attribute, re.compile(told["start"] + _filled(body, macros) + told["end"], re.IGNORECASE))
        for attribute, bodies in told["patterns"].items()
        for body in bodies
    ]
    return _Reader(
        patterns,
        re.compile(told["unreal"], re.IGNORECASE),
        [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in told["ended"]],
        None if code == "en" else _words(f"{code}_jobs"),
    )


def _filled(body: str, macros: Mapping[str, str]) -> str:
    return re.sub(r"\{([a-z_]+)\}", lambda match: macros[match[1]], body)


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_data()["lists"][name].split())


@cache
def _data() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((files(__package__ or "") / "patterns.json").read_text("utf-8"))
    return loaded
