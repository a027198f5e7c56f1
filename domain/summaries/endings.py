"""How a conversation with an agent ended: what the person said last that matters, what became of it, what stays open.

An ending quotes rather than infers: it can't say that somebody was content, only what they said.

Must not know: other conversations of the day, and how lines are chosen.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction.acts import Act, acts_of
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.person import UNNAMED
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.extraction.tools import Call
from slowwave_server.domain.noise import is_chatter
from slowwave_server.domain.summaries.prose import all_of, asked_before, is_courtesy, plain, quoted, titled
from slowwave_server.domain.summaries.refusals import refuses
from slowwave_server.domain.summaries.stance import Stance, stance_of, weight_of_words
from slowwave_server.domain.summaries.talk import outcomes
from slowwave_server.domain.summaries.tool_lines import done, hands_over, reason_of

_PLEASE = re.compile(r"\bplease\b", re.IGNORECASE)
_HANDS_OVER = re.compile(
    r"\b(?:transferring you|(?:have|been|be|being|will|now) transfer(?:red)?\b|connect(?:ing|ed)? you (?:to|with))",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will| am going to|'m going to|'re going to| plan to| need to)|next (?:step|time|week|"
    r"up))\b",
    re.IGNORECASE,
)
_NO_REQUEST = re.compile(
    r"^(?:it|that|this|there)(?:'s| is| was)\b|^(?:i|we)(?:'ll| will|'m| am|'re| are|'ve| have| just)\b|^(?:(?:so|"
    r"and|but|then) )?(?:i|"
    r"we) (?:just )?want to make "
    r"sure",
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"^(?:(?:that|it)(?:'s| is) (?:a |an |the |so |such |really |very |truly )*(?:fantastic|great|wonderful|"
    r"excellent|"
    r"perfect|good|awesome|brilliant|amazing|valid|smart|solid|what i love)|you(?:'re| are|'ve got it|"
    r"'ve) (?:absolutely|"
    r"totally|completely|so|spot|exactly|very)|(?:excellent|great|good|fantastic|perfect|wonderful|smart|absolutely|"
    r"understood|certainly|of course|sure|proper|wow)\b[^.]{0,60}$|i(?:'m| am) (?:so |really |very |"
    r"truly )*(?:glad|happy|"
    r"thrilled|delighted|sorry|excited)|i (?:totally |completely |fully )?(?:agree|understand|hear you|"
    r"apologi[sz]e))",
    re.IGNORECASE,
)
_SETTLES = re.compile(
    r"\b(?:to confirm|confirmed|we'll proceed|i(?:'ve| have) (?:\w+ )?(?:added|updated|noted|confirmed|adjusted|"
    r"removed|saved|"
    r"recorded|suspended|scheduled)|(?:is|are|remains?) (?:now |all |completely |fully )?(?:confirmed|set|"
    r"locked in|suspended|"
    r"paused|scheduled|saved|finali[sz]ed))\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
MOST_SHARED = 4
"""Words that an answer shares with its question; more prove nothing more."""
_THANKS = re.compile(
    r"\b(?:thanks?|thank you|appreciate|bye|goodbye|that'?s (?:all|it|everything)|nothing else|take care)\b",
    re.IGNORECASE,
)
_NO_PLAN = re.compile(
    r"\b(?:let you know|be happy|never|go with|proceed|use (?:the|my)|take (?:the|option)|reach out|see you|"
    r"if i need|"
    r"be sure to)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Ending:
    """How it ended, in one line. event: the last one that tells it; turns: the numbers of all of them."""

    text: str
    event: Event
    speaker: str
    turns: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Last:
    """The last exchange: what the person said, the agent's turns behind it, and the courtesies behind these."""

    asked: Speech | None
    answers: tuple[Speech, ...]
    farewell: Speech | None


def ending(talk: Sequence[Speech], calls: Sequence[Call], agent: str) -> Ending | None:
    """How the talk of a person and an agent ended, as far as `talk` goes; None if the agent says and does nothing."""
    if not calls and not any(speech.is_agent and _substance(speech) for speech in talk):
        return None
    last = _last(talk)
    after = last.asked.event.seq if last.asked else 0
    later = [call for call in calls if call.seqs[-1] > after]
    handed = [call for call in calls if hands_over(call)]
    told = _of_person(last)
    if handed:
        reason = reason_of(handed[-1])
        told.append(
            f"{agent} transferred the conversation to a human agent" + (f": {quoted(reason)}" if reason else ".")
        )
    else:
        changes = [call for call in later if call.changes_state and call.error is None]
        told += [f"{done(call, agent).partition(':')[0].rstrip('.')}." for call in changes[-2:]] + _of_agent(
            last, later, agent
        )
    told += _of_farewell(last)
    if not told:
        return None
    turns = [turn for turn in (last.asked, *last.answers, last.farewell) if turn is not None]
    end = turns[-1] if turns else talk[-1]
    return Ending(" ".join(told), end.event, end.speaker.name, frozenset(turn.event.seq for turn in turns))


def _last(talk: Sequence[Speech]) -> _Last:
    end = len(talk)
    while end and not _substance(talk[end - 1]) and not _answers(talk[end - 1]):
        end -= 1
    if end > 1 and _is_farewell(talk[end - 1]):
        end -= 1
    people = [at for at in range(end) if not talk[at].is_agent]
    at = people[-1] if people else -1
    farewells = [speech for speech in talk[end:] if not speech.is_agent]
    answers = tuple(speech for speech in talk[at + 1 : end] if speech.is_agent)
    return _Last(talk[at] if people else None, answers, farewells[0] if farewells else None)


def _substance(speech: Speech) -> list[str]:
    """What a turn says beside courtesies."""
    return [part for part in all_of(speech.event.content) if not is_courtesy(part)]


def _is_farewell(speech: Speech) -> bool:
    """Whether a person thanks and asks for nothing more."""
    parts = all_of(speech.event.content)
    thanks = any(_THANKS.search(part) for part in parts)
    if speech.is_agent or not thanks or any(map(_is_request, parts, acts_of(parts, by_agent=False))):
        return False
    return not _answers(speech)


def _answers(speech: Speech) -> bool:
    """Whether a person takes a stance to the agent's question before: "Yes, please. Thank you!" is no courtesy."""
    if speech.is_agent or stance_of(all_of(speech.event.content)) is None:
        return False
    asked = plain(speech.before or "")
    return bool(asked) and asked[-1].endswith("?") and not is_courtesy(asked[-1])


def _is_request(part: str, act: Act) -> bool:
    if part.endswith("?"):
        return True
    if _NO_REQUEST.search(part):
        return False
    return not is_courtesy(part) and (act in {"ask", "instruct"} or _PLEASE.search(part) is not None)


def _of_person(last: _Last) -> list[str]:
    """What the person wanted or settled in the last turn that is no courtesy."""
    if last.asked is None:
        return []
    name, before = last.asked.speaker.name, last.asked.before or ""
    parts = plain(last.asked.event.content) or all_of(last.asked.event.content)
    said = [part for part in parts if not is_courtesy(part)] or parts
    if not said:
        return []
    acts = acts_of(said, by_agent=False)
    asked = [part for part, act in zip(said, acts, strict=True) if _is_request(part, act)]
    request = max(asked, key=weight_of_words, default=None)
    stance = stance_of(parts)
    if stance is not None and (request is None or _is_clear(stance, before)):
        verb, quote = str(stance.verb), stance.quote
    elif request is not None:
        verb, quote = "asked last", request
    else:
        mine = own_words(last.asked.event.content)
        own = [part for part in said if part in mine] or said[:1]
        verb, quote = "said last", max(own, key=weight_of_words)
    handed = titled(before) if verb == "agreed" else None
    about = f' on "{handed.title}"' if handed is not None else asked_before(before, quote)
    told = f"{name} {verb}{about}: {quoted(quote)}"
    if request is not None and request != quote:
        told += f" {name} asked: {quoted(request)}"
    return [told, *_plan(name, said, told)]


def _is_clear(stance: Stance, before: str) -> bool:
    """Whether a reader can tell what a stance is about."""
    return weight_of_words(stance.quote) > 1 or titled(before) is not None or asked_before(before, stance.quote) != ""


def _plan(name: str, said: Sequence[str], told: str) -> list[str]:
    found = [part for part in said if _NEXT.search(part) and not part.endswith("?") and not _NO_PLAN.search(part)]
    fresh = [part for part in found if quoted(part)[1:-1] not in told]
    return [f"Next, {name[:1].lower() + name[1:] if name == UNNAMED else name}: {quoted(fresh[-1])}"] if fresh else []


def _of_agent(last: _Last, later: Sequence[Call], agent: str) -> list[str]:
    """The agent's last word, and its question if nobody answered it."""
    if not last.answers:
        asked = last.asked is not None and (_answers(last.asked) or any(map(_is_request, *_read(last.asked))))
        return ["No answer followed."] if asked and last.farewell is None and not later else []
    text = "\n".join(speech.event.content for speech in last.answers)
    parts = [part for part in plain(text) if not is_courtesy(part)]
    asked_for = last.asked.event.content if last.asked is not None else ""
    told = _answer(agent, text, parts, asked_for, with_tools=bool(later))
    open_ = [part for part in parts[-2:] if part.endswith("?") and part not in told]
    if open_ and last.farewell is None:
        told += f" {agent} asked: {quoted(open_[-1])} No answer followed."
    return [told.strip()] if told else []


def _read(speech: Speech) -> tuple[list[str], list[Act]]:
    parts = all_of(speech.event.content)
    return parts, acts_of(parts, by_agent=False)


def _answer(agent: str, text: str, parts: Sequence[str], asked_for: str, *, with_tools: bool) -> str:
    """What the agent's last word was: a hand-over, an outcome, a refusal, something delivered, or an answer."""
    reports = outcomes(text, with_tools=with_tools)
    for verb, found in (
        ("said", next((part for part in parts if _HANDS_OVER.search(part)), None)),
        ("reported", next(iter(reports), None)),
        ("refused", next((part for part in parts if refuses(part)), None)),
    ):
        if found is not None:
            return f"{agent} {verb}: {quoted(found)}"
    if (handed := titled(text)) is not None:
        return f'{agent} delivered "{handed.title}".'
    answered = [part for part in parts if not part.endswith("?") and weight_of_words(part) > 1]
    plainly = [part for part in answered if not _PRAISE.search(part)] or answered
    found = next((part for part in plainly if _SETTLES.search(part)), _main(plainly, asked_for))
    if found is None:
        found = next((part for part in all_of(text) if weight_of_words(part) > 1), None)  # nothing but a list
    return f"{agent} answered: {quoted(found)}" if found else ""


def _main(parts: Sequence[str], asked_for: str) -> str | None:
    """The sentence of an answer that says most about what was asked: with a figure in it, in the words of the question.

    An answer often begins with a sentence that only announces it; among equals the first one counts.
    """
    wanted = set(content_words(asked_for))

    def worth(part: str) -> tuple[bool, int]:
        shared = len(wanted.intersection(content_words(part)))
        return _FIGURE.search(part) is not None and shared > 0, min(shared, MOST_SHARED)

    return max(parts, key=worth, default=None)


def _of_farewell(last: _Last) -> list[str]:
    if last.farewell is None or is_chatter(last.farewell.event.content):
        return []
    parts, name = all_of(last.farewell.event.content), last.farewell.speaker.name
    told = f"{name} closed: {quoted(' '.join(parts))}"
    return [told, *_plan(name, parts, told)] if parts else []
