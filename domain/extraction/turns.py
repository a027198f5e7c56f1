"""Score how much a turn with an agent is worth remembering: a logistic model over readable features.

`python -m bench.fit_turns` fits the weights in turns.json, which names the data they come from.
"""

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

from slowwave_server.domain.extraction.acts import Act, acts_of
from slowwave_server.domain.extraction.outcomes import has_specifics
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.speech import Speech

LENGTHS = (60, 120, 200, 300, 450, 700, 1200, 2000, 4000)
"""Characters; one feature for each length that a turn exceeds."""
_LOOKED_AT = 3000
"""Characters of a turn that its features read."""
_RECENT = 4
"""The last turns of the person that decide whether the talk is about themselves."""
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|my|me|we|our|us|we're|we've|mine)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[a-z,;:] )(?!I\b|I')[A-Z][a-z]{2,}")
_HEADING = re.compile(r"^(?:#{1,6} |\*\*[^*\n]{3,80}\*\*:?\s*$)", re.MULTILINE)
_ITEM = re.compile(r"^[^\S\n]*(?:[-*•]|\d{1,2}[.)]) ", re.MULTILINE)


def worth(talk: Sequence[Speech], at: int) -> float:
    """Return the log-odds that a careful reader keeps part of this turn."""
    weights = _weights()
    return sum(weights.get(name, 0.0) * value for name, value in features(talk, at).items())


def features(talk: Sequence[Speech], at: int) -> dict[str, float]:
    """Return the features of a turn, by name, without zeros."""
    speech = talk[at]
    text = speech.event.content[:_LOOKED_AT]
    who = "agent" if speech.is_agent else "person"
    found: dict[str, float] = {"bias": 1.0}
    for length in LENGTHS:
        if len(speech.event.content) > length:
            found[f"longer_than_{length}"] = 1.0
    _, acts, own = _read(text, by_agent=speech.is_agent)
    found |= {f"has_{act}": 1.0 for act in acts} | {f"begins_{act}": 1.0 for act in acts[:1]}
    found |= _of_self(acts, own) | _of_shape(text)
    found |= _of_talk(talk, at) | _of_next(talk, at)
    return {f"{who}.{name}": value for name, value in found.items() if value}


@lru_cache(maxsize=128)
def _read(text: str, *, by_agent: bool) -> tuple[tuple[str, ...], tuple[Act, ...], tuple[bool, ...]]:
    """Return a text's sentences, their acts, and which are in the first person; cached for neighbouring turns."""
    parts = tuple(sentences(text))
    acts = tuple(acts_of(parts, by_agent=by_agent))
    return parts, acts, tuple(_FIRST_PERSON.search(part) is not None for part in parts)


def _of_self(acts: Sequence[Act], own: Sequence[bool]) -> dict[str, float]:
    told = sum(mine and act not in {"ask", "instruct"} for mine, act in zip(own, acts, strict=True))
    share = sum(own) / len(own) if own else 0.0
    return {"share_in_first_person": share, "tells_of_self": float(told > 0), "tells_twice": float(told > 1)}


def _of_shape(text: str) -> dict[str, float]:
    return {
        "number": float(_NUMBER.search(text) is not None),
        "name": float(_NAME.search(text) is not None),
        "identifier": float(has_specifics(text)),
        "bold": float("**" in text),
        "headings": min(len(_HEADING.findall(text)), 4) / 4,
        "items": min(len(_ITEM.findall(text)), 10) / 10,
        "ends_with_question": float(text.rstrip().endswith("?")),
    }


def _of_talk(talk: Sequence[Speech], at: int) -> dict[str, float]:
    """Return features of the person's recent turns and of the previous turn."""
    recent = [one for one in talk[: at + 1] if not one.is_agent][-_RECENT:]
    read = [_read(one.event.content[:_LOOKED_AT], by_agent=False) for one in recent]
    own, said = sum(sum(mine) for _, _, mine in read), sum(len(parts) for parts, _, _ in read)
    before = talk[at].before
    found = {
        "person_speaks_of_self": own / said if said else 0.0,
        "person_never_speaks_of_self": float(own == 0),
        "person_accepts_lately": float(any("accept" in acts for _, acts, _ in read)),
        "opens": float(before is None),
    }
    if before is not None:
        found |= {
            "answers_question": float("?" in before[-200:]),
            "answers_list": min(len(_ITEM.findall(before[:_LOOKED_AT])), 10) / 10,
            "answers_bold": float("**" in before),
            "answers_length": min(len(before), _LOOKED_AT) / _LOOKED_AT,
        }
    return found


def _of_next(talk: Sequence[Speech], at: int) -> dict[str, float]:
    """Return features of the next turn's reaction, if the window contains it."""
    if at + 1 >= len(talk):
        return {"last": 1.0}
    after = talk[at + 1]
    if after.is_agent:
        return {}
    _, acts, own = _read(after.event.content[:_LOOKED_AT], by_agent=False)
    return {f"next_{act}": 1.0 for act in acts[:3]} | {"next_of_self": float(any(own[:3]))}


@cache
def _weights() -> dict[str, float]:
    """Load the fitted weights by feature name."""
    loaded: dict[str, dict[str, float]] = json.loads(
        (files("slowwave_server.domain.extraction") / "turns.json").read_text()
    )
    return loaded["weights"]
