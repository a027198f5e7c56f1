"""Sentences of a person that end something that was decided, instructed or stated before.

    "Scrap the newsletter plan."                          calls off a plan
    "You can use emojis again."                           lifts an instruction
    "It is seat 14C, not 12A."                            corrects a value

Precision comes first: a wrong end loses knowledge. So a sentence that is a question, a hypothesis or temporary ends
nothing, and neither does one that names no thing.

Must not know: which memory is meant, and who speaks.
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

from slowwave_server.domain.endings import tongues
from slowwave_server.domain.endings.patterns import CALLS_OFF, CORRECTS, LIFTS, UNCERTAIN, Direction
from slowwave_server.domain.endings.words import distinctive, stems

Act = Literal["called_off", "lifted", "corrected"]
SHORTEST, LONGEST = 8, 300
"""Characters of a sentence that may end something."""
MAX_WHAT = 90
"""Characters of what a sentence calls off or lifts. More is no name of a thing."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a sentence ends.

    what: the words of the thing that ends, or the old value of a correction. said: the words that a memory keeps: the
    thing that is called off, else the sentence.
    instead: the new value of a correction. context: what a correction says besides both values.
    direction: which instructions a lift is about. chooses: whether a correction chooses something else, so that the old
    value is a choice. foreign: it was said in another language than English.
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
    """What a sentence with straight quotes ends, or None."""
    bare = _bare(sentence)
    if not SHORTEST <= len(bare) <= LONGEST or UNCERTAIN.search(_MAY_OPEN.sub("you can", sentence)):
        return None
    return _called_off(bare) or _lifted(bare) or _corrected(bare)


def recognise_lift(sentence: str) -> Ending | None:
    """The instruction that a sentence of another language lifts, or None."""
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
        # An instruction may be made of words that name nothing else: "ask before booking anything".
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
    """The words of a thing, or None if they only point at one."""
    words = _TRAILING.sub("", what.strip(" ,.!"))
    return words if words and len(words) <= MAX_WHAT and distinctive(words) else None


def _worded(what: str) -> str | None:
    """The words of what an agent is to do, if there are several."""
    words = _TRAILING.sub("", what.strip(" ,.!"))
    return words if len(words) <= MAX_WHAT and len(stems(words)) > 1 else None


def _bare(sentence: str) -> str:
    """A sentence as it is quoted: without its end mark, and with single quotes inside."""
    return sentence.strip(" .!").replace('"', "'")
