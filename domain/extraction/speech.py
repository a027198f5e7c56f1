"""Find the speaker, the addressee and the previous turn of each event."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.person import UNNAMED, Speaker
from slowwave_server.domain.noise import is_noise
from slowwave_server.domain.similarity.lexicon import is_common_word

MAX_NAME = 80
_NICKNAME = re.compile(r"\S*[\d_@^|`\[\]]\S*")
_NUMBERED = re.compile(r"[^\W\d_]{1,30}[ _]\d{1,4}")
"""A placeholder for a name: "speaker_1"."""
_LABEL = re.compile(
    r"(?:agenda|attendees|background|date|discussion|examples?|introductions?|minutes|notes?|notice|participants|"
    r"questions?|repository|see|status|summary|topics?|url)|"
    r"(?:unknown|unidentified)(?: (?:speaker|person|participant|voice|male|female)| ?\(\w{1,10}\))?|"
    r"(?:\S+ )*(?:agenda|attendees|consent|issues?|links?|minutes|notes|parties|recording|replays?|slides|status|"
    r"summary|updates?)(?: \S+)*|"
    r"(?-i:(?:About|All|For|In|Next|Of|On|Re|Regarding|There|To) [a-z].*)",
    re.IGNORECASE,
)
"""A heading or a label of minutes ("Summary", "Video recording", "For new projects"), or no name ("Unknown (F)")."""
_SERVICE = re.compile(
    r"-\w+-|github\d*|travis-ci|\w+serv|(?:.*[-_.]|build|chat|git|info|irc|matter|meet|slack|sync)bot\d*_*|.+-(?:ci|git)",
    re.IGNORECASE,
)
"""A program that speaks in a channel: "-ChanServ-", "Slackbot5", "parser-git"."""
_I_AM = re.compile(
    r"(?:(?:hi|hello|good \w+|so|yes|well)\W+)?(?:I['\u2019]?m|I am) (?P<first>[A-Z][a-z]+) (?P<last>[A-Z][a-z]+)\b"
)
_NO_NAMES = frozenset(("", "user", "assistant", "human", "ai"))


@dataclass(frozen=True, slots=True)
class Speech:
    """One spoken event.

    Attributes:
        is_agent: True if the speaker is an assistant without a name, which is the agent itself.
        before: the text of the previous event if another speaker said it, else None.
        in_group: True if more than two people speak, or two whose nicknames show a channel or a forum.
    """

    event: Event
    speaker: Speaker
    is_agent: bool
    before: str | None
    before_seq: int | None = None
    in_group: bool = False

    @property
    def has_others(self) -> bool:
        """True if another speaker is known, in the window or before it."""
        return self.in_group or self.speaker.addressee is not None

    def is_anothers(self, said: str) -> bool:
        """Return True if a sentence gives its speaker another full name than the event's, by a mistake."""
        match = _I_AM.match(said)
        if match is None or " " not in self.speaker.name:
            return False
        names = {match["first"].casefold(), match["last"].casefold()}
        return not any(map(is_common_word, names)) and names.isdisjoint(self.speaker.name.casefold().split())

    @property
    def is_person(self) -> bool:
        """False if the speaker's name is a heading of minutes or the name of a program."""
        return _LABEL.fullmatch(self.speaker.name) is None and _SERVICE.fullmatch(self.speaker.name) is None


def name_of(event: Event, agent: str) -> str:
    """Return the speaker's name in one line: the name in the event, else the agent's, or "The user"."""
    name = " ".join((event.name or "").split())[:MAX_NAME].strip()
    if name.lower() not in _NO_NAMES:
        return name
    return agent if event.kind == "assistant" else UNNAMED


def speeches(events: Iterable[Event], preceding: Iterable[Event], agent: str) -> Iterator[Speech]:
    """Yield the spoken events of a window, without noise and tools. "You" is resolved only between two people."""
    before = [event for event in preceding if event.is_spoken and not is_noise(event)]
    spoken = [event for event in events if event.is_spoken and not is_noise(event)]
    people = sorted({name_of(event, agent) for event in (*before, *spoken)})
    in_group = len(people) > 2 or _have_nicknames(person for person in people if person != agent)
    last = before[-1] if before else None
    for event in spoken:
        name = name_of(event, agent)
        others = [person for person in people if person != name]
        speaker = Speaker(name, others[0] if len(people) == 2 else None)
        heard = last.content if last is not None and name_of(last, agent) != name else None
        heard_seq = last.seq if heard is not None and last is not None else None
        is_agent = event.kind == "assistant" and name == agent
        yield Speech(event, speaker, is_agent, heard, heard_seq, in_group=in_group)
        last = event


def _have_nicknames(people: Iterable[str]) -> bool:
    """Return True if one of two people has a name with digits or marks ("bj1"), or all names begin small ("ray")."""
    names = [person for person in people if _NUMBERED.fullmatch(person) is None]
    if len(names) < 2:
        return False
    return any(map(_NICKNAME.fullmatch, names)) or all(name[:1].islower() for name in names)
