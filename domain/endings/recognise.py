"""Recognise a person's sentence that ends an earlier decision, instruction or statement.

    "Scrap the newsletter plan."                          calls off a plan
    "You can use emojis again."                           lifts an instruction
    "It is seat 14C, not 12A."                            corrects a value

Precision comes before recall, because a wrong end loses knowledge. So a question, a hypothesis, a temporary change, or
a sentence that names no thing ends no memory.
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

from slowwave_server.domain.endings import tongues
from slowwave_server.domain.endings.patterns import CALLS_OFF, CORRECTS, LIFTS, UNCERTAIN, Direction
from slowwave_server.domain.endings.words import distinctive, stems

Act = Literal["called_off", "lifted", "corrected"]
SHORTEST, LONGEST = 8, 300
"""Minimum and maximum characters of a sentence that may end something."""
MAX_WHAT = 90
"""Maximum characters of the called-off or lifted thing; a longer text is not a name."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end that a sentence declares.

    Attributes:
        what: the words of the thing that ends, or the old value of a correction.
        said: the words for the memory: the thing that was called off, else the sentence.
        instead: the new value of a correction.
        context: the words of a correction besides both values.
        direction: the kind of instruction that a lift can end.
        chooses: True if the correction is a new choice, so that the old value is a choice, too.
        foreign: True if the sentence is in a language other than English.
    """

    act: Act
    what: str
    said: str
    instead: str = ""
    context: str = ""
    direction: Direction = "either"
    chooses: bool = False
    foreign: bool = False


_MAY_OPEN = re.compile(r"^(?:you may|you could)\b", re.IGNORECASE)
_EDGES = " ,.;:!'\""
_TRAILING = re.compile(
    r"\s+(?:any ?more|any longer|after all|altogether|entirely|completely|for good|now|too|as well)$", re.IGNORECASE
)


def recognise(sentence: str) -> Ending | None:
    """Return the ending that a sentence with straight quotes declares, or None."""
    bare = _bare(sentence)
    if not SHORTEST <= len(bare) <= LONGEST or UNCERTAIN.search(_MAY_OPEN.sub("you can", sentence)):
        return None
    return _called_off(bare) or _lifted(bare) or _corrected(bare)


def recognise_lift(sentence: str) -> Ending | None:
    """Return the lifted instruction of a sentence in another language, or None."""
    bare = _bare(sentence)
    found = tongues.lift(bare) if len(bare) <= LONGEST else None
    if found is None:
        return None
    return Ending("lifted", what=found.what, said=bare, direction=cast("Direction", found.direction), foreign=True)


def _called_off(sentence: str) -> Ending | None:
    match = next((found for pattern in CALLS_OFF if (found := pattern.search(sentence))), None)
    what = None if match is None else _named(match["what"])
    return None if what is None else Ending("called_off", what=what, said=what)


def _lifted(sentence: str) -> Ending | None:
    for direction, pattern in LIFTS:
        match = pattern.search(sentence)
        # An instruction may have no distinctive word: "ask before booking anything".
        what = None if match is None else _named(match["what"]) or _worded(match["what"])
        if what is not None:
            return Ending("lifted", what=what, said=sentence, direction=direction)
    return None


def _corrected(sentence: str) -> Ending | None:
    for pattern in CORRECTS:
        match = pattern.search(sentence)
        if match is None:
            continue
        old, new = match["old"].strip(_EDGES), match["new"].strip(_EDGES)
        if old.casefold() == new.casefold():
            return None
        context = sentence.replace(match["old"], " ", 1).replace(match["new"], " ", 1)
        return Ending(
            "corrected",
            what=old,
            said=sentence,
            instead=new,
            context=context,
            chooses="chooses" in match.groupdict() and match["chooses"] is not None,
        )
    return None


def _named(what: str) -> str | None:
    """Return the words of a thing, or None if they only point at a thing."""
    words = _TRAILING.sub("", what.strip(" ,.!"))
    return words if words and len(words) <= MAX_WHAT and distinctive(words) else None


def _worded(what: str) -> str | None:
    """Return the words of an agent's action, if there are at least two."""
    words = _TRAILING.sub("", what.strip(" ,.!"))
    return words if len(words) <= MAX_WHAT and len(stems(words)) > 1 else None


def _bare(sentence: str) -> str:
    """Return a sentence in the form for a quotation: without its final punctuation, and with single quotes inside."""
    return sentence.strip(" .!").replace('"', "'")
