"""Describe the end of a conversation with an agent: the person's last relevant turn, its outcome, and open questions.

An ending quotes words and draws no conclusion: it never claims that a person was content.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.acts import acts_of
from slowwave_server.domain.extraction.pasted import PASTED
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.extraction.tools import Call
from slowwave_server.domain.noise import is_chatter
from slowwave_server.domain.summaries.answers import MOST_OF_ANSWER
from slowwave_server.domain.summaries.exchanges import (
    Last,
    answers,
    is_request,
    last_of,
    requests_of,
    speaks_for_oneself,
    substance,
)
from slowwave_server.domain.summaries.facets import wants
from slowwave_server.domain.summaries.outcomes import outcome
from slowwave_server.domain.summaries.prose import (
    MAX_QUOTE,
    all_of,
    asked_before,
    is_courtesy,
    own,
    plain,
    quoted,
    titled,
)
from slowwave_server.domain.summaries.stance import Stance, chooses, stance_of, weight_of_words
from slowwave_server.domain.summaries.talk import asks_for
from slowwave_server.domain.summaries.tool_lines import done, hands_over, reason_of

_NEXT = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will| am going to|'m going to|'re going to| plan to| need to)|next (?:step|time|week|"
    r"up))\b",
    re.IGNORECASE,
)
_NO_PLAN = re.compile(
    r"\b(?:let you know|be happy|never|go with|proceed|use (?:the|my)|take (?:the|option)|reach out|see you|"
    r"if i need|be sure to)\b",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"\b(?:would you like|do you want|shall|should|how about|ready|proceed|confirm|sounds?|works?|look|feel|may i|"
    r"can (?:i|we)|could (?:we|i)|are you (?:open|okay|comfortable|fine)|is (?:that|this|it) (?:ok\w*|fine|"
    r"all right))\b",
    re.IGNORECASE,
)
MOST_CHANGES = 2
"""Maximum tool changes listed in an ending; if there are more, the "executed" lines list all of them instead."""
_CLEAR = 3
"""Content words that make a stance understandable without its context."""
MOST_OF_ENDING = 520
"""Approximate maximum characters of an ending, so that each conversation of a day gets room."""
LEAST_OF_ANSWER = 160
MOST_BESIDE = 140
"""Maximum characters quoted from other sentences of the last turns."""
_HOPES = re.compile(r"\b(?:hope|hoping|wish)\b", re.IGNORECASE)
_THANKS = re.compile(r"\bthank", re.IGNORECASE)
_ASKS_BACK = re.compile(
    r"\b(?:would you|do you|could you|can you|may i|shall|should|what|which|how|when|where|prefer|does (?:this|that|"
    r"it)|"
    r"is (?:this|that|it)|ready to (?:proceed|move|continue|go))\b",
    re.IGNORECASE,
)
"""A question that expects an answer, unlike the closing words of a delivered text."""
_BRIEF = 40
"""Maximum characters of a turn that is quoted unchanged."""
_BEGINNING = 100
"""Maximum characters quoted from a text that the person pasted."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a conversation in one line.

    event: the last event that the line covers; turns: seq numbers of all covered turns; calls: seq numbers of the
    covered tool calls.
    """

    text: str
    event: Event
    speaker: str
    turns: frozenset[int]
    calls: frozenset[int]


def ending(talk: Sequence[Speech], calls: Sequence[Call], agent: str, played: frozenset[int]) -> Ending | None:
    """Describe how the conversation in `talk` ended; None if the agent says and does nothing.

    played: seq numbers of the turns that belong to a role play.
    """
    if not calls and not any(speech.is_agent and substance(speech) for speech in talk):
        return None
    last = last_of(talk)
    after = last.asked.event.seq if last.asked else 0
    later = [call for call in calls if call.seqs[-1] > after]
    handed = [call for call in calls if hands_over(call)]
    changes = [call for call in later if call.changes_state and call.error is None and call not in handed]
    shown = changes if len(changes) <= MOST_CHANGES else []
    in_story = last.asked is not None and last.asked.event.seq in played
    told = _of_story(last, agent) if in_story else _of_person(last)
    told += [done(call, agent, calls) for call in shown]
    if handed:
        reason = reason_of(handed[-1])
        told.append(
            f"{agent} transferred the conversation to a human agent" + (f": {quoted(reason)}" if reason else ".")
        )
    elif not in_story:
        told += _of_agent(last, later, agent, room=MOST_OF_ENDING - len(" ".join(told)))
    told += _of_farewell(last)
    if not told:
        return None
    turns = [turn for turn in (last.asked, *last.answers, last.farewell) if turn is not None]
    end = turns[-1] if turns else talk[-1]
    numbers = frozenset(turn.event.seq for turn in turns)
    return Ending(" ".join(told), end.event, end.speaker.name, numbers, frozenset(call.seqs[-1] for call in shown))


def _of_story(last: Last, agent: str) -> list[str]:
    """Quote the last turns of a role play; requests, refusals and agreements in it are not meant seriously."""
    if last.asked is None:
        return []
    said = " ".join(all_of(last.asked.event.content))
    told = [f"In the role or story that they play, {_inside(last.asked.speaker.name)} said last: {quoted(said)}"]
    if last.answers:
        parts = all_of(last.answers[-1].event.content)
        kept = parts[-2:] if len(" ".join(parts)) > MOST_OF_ANSWER else parts
        told.append(f"{agent} went on: {quoted(' '.join(kept), MOST_OF_ANSWER)}")
    else:
        told.append("No answer followed.")
    return told


def _of_person(last: Last) -> list[str]:
    """Describe the request or decision in the person's last turn that is more than a courtesy."""
    if last.asked is None:
        return []
    name, before = last.asked.speaker.name, last.asked.before or ""
    mine = own(last.asked.event.content)
    if not mine:
        return [f"{name} sent a text last, which begins: {quoted(last.asked.event.content, _BEGINNING)}"]
    said = [part for part in mine if not is_courtesy(part)] or mine
    requests = [part for part, act in zip(said, acts_of(said, by_agent=False), strict=True) if is_request(part, act)]
    if len(last.asked.event.content) >= PASTED:
        requests = [part for part in requests if speaks_for_oneself(part)]
        said = [part for part in said if speaks_for_oneself(part)] or said
    stance = stance_of(mine)
    quotes: Sequence[str]
    if stance is not None and _is_clear(stance, before):
        verb = str(stance.verb) if stance.verb != "agreed" or _accepts(stance, before) else _other_verb(before)
        quotes = [stance.quote] if verb in {"agreed", "declined"} else said
    elif requests := requests or [part for part in said if wants(part) and not _HOPES.search(part)]:
        verb, quotes = "asked last", _with_context(said, requests)
    else:
        verb, quotes = "said last", said
    handed = titled(before) if verb == "agreed" else None
    whole = " ".join(last.asked.event.content.split())
    polite = any(_THANKS.search(part) for part in all_of(whole))
    quote = whole if len(whole) <= _BRIEF and not polite else _fitting(quotes)
    about = f' on "{handed.title}"' if handed is not None else ""
    if handed is None and not verb.endswith("last"):
        about = asked_before(before, quote)
    told = f"{name} {verb}{about}: {quoted(quote)}"
    if (more := [part for part in requests if part not in quote]) and not verb.startswith("asked"):
        told += f" {name} asked: {quoted(_fitting(more))}"
    return [told, *_plan(name, said, told)]


def _with_context(said: Sequence[str], requests: Sequence[str]) -> Sequence[str]:
    """Return the requests in a turn, or the whole turn if it is short."""
    return said if sum(map(len, said)) + len(said) <= MAX_QUOTE else requests


def _fitting(parts: Sequence[str]) -> str:
    """Return the parts that fit, in order; the part with the highest weight always stays."""
    kept = {max(range(len(parts)), key=lambda at: weight_of_words(parts[at]))}
    for at in sorted(range(len(parts)), key=lambda at: -weight_of_words(parts[at])):
        if sum(len(parts[one]) + 1 for one in kept | {at}) <= MAX_QUOTE:
            kept.add(at)
    return " ".join(parts[at] for at in sorted(kept))


def _inside(name: str) -> str:
    return "the user" if name == "The user" else name


def _is_clear(stance: Stance, before: str) -> bool:
    """Return True if a reader can tell what a yes or no is about."""
    named = len(set(content_words(stance.quote))) >= _CLEAR
    return named or titled(before) is not None or asked_before(before, stance.quote) != ""


def _accepts(stance: Stance, before: str) -> bool:
    """Return True if a yes accepts a delivery, a proposal, or something that the yes itself names."""
    asked = [part for part in plain(before) if part.endswith("?") and not is_courtesy(part)]
    if asks_for(before) or (titled(before) is None and not (asked and _PROPOSES.search(asked[-1]))):
        return chooses(stance.quote)
    return True


def _other_verb(before: str) -> str:
    """Return the verb for a turn that sounds like a yes but accepts nothing."""
    return "answered" if any(part.endswith("?") for part in plain(before)) else "said last"


def _plan(name: str, said: Sequence[str], told: str) -> list[str]:
    """Quote a further plan of the person, from any place in the turn."""
    found = [part for part in said if _NEXT.search(part) and not part.endswith("?") and not _NO_PLAN.search(part)]
    fresh = [part for part in found if quoted(part)[1:-1] not in told]
    return [f"{name} also said: {quoted(fresh[-1], MOST_BESIDE)}"] if fresh else []


def _of_agent(last: Last, later: Sequence[Call], agent: str, *, room: int) -> list[str]:
    """Return the agent's last outcome, and its question if the person did not answer."""
    if not last.answers:
        asked = last.asked is not None and (answers(last.asked) or requests_of(last.asked))
        return ["No answer followed."] if asked and last.farewell is None and not later else []
    text = "\n".join(speech.event.content for speech in last.answers)
    asked_for = " ".join(requests_of(last.asked)) or last.asked.event.content if last.asked is not None else ""
    refusable = last.asked is not None and bool(requests_of(last.asked) or answers(last.asked) or later)
    parts = [part for part in plain(text) if not is_courtesy(part)]
    open_ = [part for part in parts[-2:] if part.endswith("?") and _ASKS_BACK.search(part)]
    limit = max(LEAST_OF_ANSWER, min(MOST_OF_ANSWER, room - (MOST_BESIDE if open_ else 0)))
    told = outcome(agent, text, asked_for, calls=later, refusable=refusable, limit=limit)
    open_ = [part for part in open_ if part not in told]
    if open_ and last.farewell is None:
        told += f" {agent} asked: {quoted(open_[-1], MOST_BESIDE)} No answer followed."
    if not told and parts:
        told = f"{agent} answered: {quoted(parts[0])}"
    return [told.strip()] if told else []


def _of_farewell(last: Last) -> list[str]:
    if last.farewell is None or is_chatter(last.farewell.event.content):
        return []
    parts, name = all_of(last.farewell.event.content), last.farewell.speaker.name
    told = f"{name} closed: {quoted(' '.join(parts))}"
    return [told, *_plan(name, parts, told)] if parts else []
