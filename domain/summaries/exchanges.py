"""Split the turns of a person and an agent into exchanges: a request, and all turns and calls until the next one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.extraction.acts import Act, acts_of
from slowwave_server.domain.extraction.pasted import PASTED
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.tools import Call
from slowwave_server.domain.summaries.facets import wants
from slowwave_server.domain.summaries.prose import all_of, is_courtesy, own, plain
from slowwave_server.domain.summaries.requests import asked_to
from slowwave_server.domain.summaries.stance import stance_of

_PLEASE = re.compile(r"\bplease\b", re.IGNORECASE)
_NO_REQUEST = re.compile(
    r"^(?:it|that|this|there)(?:'s| is| was)\b|^(?:i|we)(?:'ll| will|'m| am|'re| are|'ve| have| just)\b|^(?:(?:so|"
    r"and|but|then) )?(?:i|we) (?:just )?want to make sure|^(?:let|let's)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|how|why|which|who|when|where)(?:'s| is| are| do| does| did| can| could| should| would)\b", re.IGNORECASE
)
_OF_ONE = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|me|my)\b", re.IGNORECASE)
_THANKS = re.compile(
    r"\b(?:thanks?|thank you|appreciate|bye|goodbye|that'?s (?:all|it|everything)|nothing else|take care|"
    r"talk to you (?:soon|later)|see you)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A person's turn with requests, the agent's turns until the next request, and the tool calls between them."""

    turn: Speech
    requests: tuple[str, ...]
    replies: tuple[Speech, ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Last:
    """The last exchange: the person's turn, the agent's turns after it, and the closing courtesies."""

    asked: Speech | None
    answers: tuple[Speech, ...]
    farewell: Speech | None


def earlier(talk: Sequence[Speech], calls: Sequence[Call], last: Last) -> list[Exchange]:
    """Return the exchanges before the last one."""
    stop = last.asked.event.seq if last.asked is not None else 0
    asked = [at for at, speech in enumerate(talk) if not speech.is_agent and requests_of(speech)]
    found: list[Exchange] = []
    for place, at in enumerate(asked):
        turn = talk[at]
        if turn.event.seq >= stop:
            break
        end = asked[place + 1] if place + 1 < len(asked) else len(talk)
        to = min(talk[end].event.seq if end < len(talk) else stop, stop)
        replies = tuple(one for one in talk[at + 1 : end] if one.is_agent and one.event.seq < to)
        between = tuple(call for call in calls if turn.event.seq < call.seqs[0] < to)
        found.append(Exchange(turn, tuple(requests_of(turn)), replies, between))
    return found


def last_of(talk: Sequence[Speech]) -> Last:
    """Return the last exchange."""
    end = len(talk)
    while end and not substance(talk[end - 1]) and not answers(talk[end - 1]):
        end -= 1
    if end > 1 and _is_farewell(talk[end - 1]):
        end -= 1
    while end > 1 and talk[end - 1].is_agent and not substance(talk[end - 1]):
        end -= 1  # the agent's reply to a farewell
    people = [at for at in range(end) if not talk[at].is_agent]
    at = people[-1] if people else -1
    farewells = [speech for speech in talk[end:] if not speech.is_agent]
    replies = tuple(speech for speech in talk[at + 1 : end] if speech.is_agent)
    return Last(talk[at] if people else None, replies, farewells[0] if farewells else None)


def substance(speech: Speech) -> list[str]:
    """Return the sentences of a turn that are not courtesies."""
    return [part for part in all_of(speech.event.content) if not is_courtesy(part)]


def answers(speech: Speech) -> bool:
    """Return True if a person answers the agent's question: "Yes, please. Thank you!" is no mere courtesy."""
    if speech.is_agent or stance_of(all_of(speech.event.content)) is None:
        return False
    asked = plain(speech.before or "")
    return bool(asked) and asked[-1].endswith("?") and not is_courtesy(asked[-1])


def requests_of(speech: Speech) -> list[str]:
    """Return the sentences of a person's turn, in their own words, that request or wish for something, in order."""
    parts = own(speech.event.content)
    told = zip(parts, acts_of(parts, by_agent=False), strict=True)
    found = [part for part, act in told if is_request(part, act) or (wants(part) and not is_courtesy(part))]
    return found if len(speech.event.content) < PASTED else [part for part in found if speaks_for_oneself(part)]


def speaks_for_oneself(part: str) -> bool:
    """Return True if the person wrote a request in a long turn and did not paste it: it asks, commands, or says "I"."""
    bids = asked_to(part, bids=True) is not None or _PLEASE.search(part) is not None
    return part.endswith("?") or bids or _OF_ONE.search(part) is not None


def is_request(part: str, act: Act) -> bool:
    """Return True if a person's sentence is a request."""
    if part.endswith("?") or _ASKS.match(part):
        return not is_courtesy(part)
    if _NO_REQUEST.search(part):
        return False
    return not is_courtesy(part) and (
        act in {"ask", "instruct"} or asked_to(part, bids=True) is not None or _PLEASE.search(part) is not None
    )


def _is_farewell(speech: Speech) -> bool:
    """Return True if a person says thanks and requests nothing more."""
    parts = all_of(speech.event.content)
    thanks = any(_THANKS.search(part) for part in parts)
    if speech.is_agent or not thanks or any(map(is_request, parts, acts_of(parts, by_agent=False))):
        return False
    return not answers(speech)
