"""Select passages of a turn, word for word: candidates for a semantic judge.

`by_people` and `by_agents` find decisions, facts about a person and outcomes, one sentence each. A turn contains other
statements worth remembering, and a single sentence often does not name its subject. A passage has one to three
consecutive sentences. It can include the question that it answers.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from slowwave_server.domain.extraction.acts import act_of
from slowwave_server.domain.extraction.flaws import AMONG_PEOPLE, ASKS, DISPUTED, OF_AGENT, SCOLDS, UNMARKED
from slowwave_server.domain.extraction.machine_text import is_machine_text
from slowwave_server.domain.extraction.making import SAID, ScoredSentence
from slowwave_server.domain.extraction.outcomes import has_specifics
from slowwave_server.domain.extraction.outline import clean, is_item, without_marks
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.sentences import normalise, sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import content_words, is_cut, is_named
from slowwave_server.domain.extraction.weights import keep_score

MOST = 4
"""Maximum passages of a turn: the judge reads each passage."""
MAX_CHARACTERS = 300
"""Per passage; a longer one is too long for a memory."""
MAX_SENTENCES = 3
MAX_QUESTION = 160
"""Maximum characters of a passage's question."""
LEAST_WORDS = 3
"""Minimum content words of a passage."""
SHORT_ANSWER = 8
"""Maximum content words of a passage that may include the previous question."""
_OF_SPEAKER = re.compile(
    r"(?:(?:yes|no|well|so|ok|okay|oh)\W+)*(?:i|we|my|our|please|remember|note|don't)\b", re.IGNORECASE
)
_CALL = re.compile(r"@?(?P<name>[\w|^`\[\]-]{2,30}?)[_^]*[:,]\s+")
_DEMANDS = re.compile(
    r"\b(?:immediately|right now|asap|"
    r"i (?:require|demand|expect|need) (?:the|a|an|all|these|those|it|you|actual|precise)|"
    r"present (?:the|it|them)|"
    r"next (?:communication|message|reply|response) from you|do not (?:return|come back) with|"
    r"show me|give me|stop (?:asking|making)|proceed (?:with|to)|go ahead|aim for \d+|generate an? (?:list|outline)|"
    r"reflect on (?:it|that|this|your))\b",
    re.IGNORECASE,
)
"""One-time orders of a person: readers called 65 % of such passages junk, and 11 % useful."""
_STEP = re.compile(
    r"\blet me\b|\bi(?:'ll| will| need to| plan to| should|'m going to| realize)\b|"
    r"^(?:(?:perfect|excellent|great|good|ok|okay|alright|wait|hm+|but|now|next|first|then|so|finally)\b"
    r"[\s,!.:-]{0,3}){0,3}(?:let's|i'll|i will|i'm|i am|i need|i want|i should|i have to|i see|i can see|looking at|"
    r"here's|here is|here are|but wait)\b|"
    r"\bi (?:acknowledge|have (?:received|noted)|confirm receipt)\b|"
    r"^(?:add|adjust|apply|avoid|check|consider|continue|create|ensure|focus|include|keep|make|provide|remember|review|"
    r"set|start|update|use|verify|prepare|practice)(?: to| on)? (?:the|an?|your|all|any|each|every|these|this|both|"
    r"that)\b",
    re.IGNORECASE,
)
"""The next steps and findings of an agent while it works, its receipts ("I have noted …") and advice ("Update the …"):
a reader called 11 of 18 such steps junk, and of 11 receipts and pieces of advice 4 belong to turns with gold memories.
"""
_REACTION = re.compile(
    r"(?:excellent|great|perfect|understood|absolutely|certainly|of course|good)[.!,]", re.IGNORECASE
)
"""The start of a passage in which an agent repeats what the person has just said."""
_LABELLED = re.compile(r"(?:^|[.!?] )[A-Z][\w &/-]{2,40}: (?=[A-Z])")
"""A line of a pasted list: "Study calendar: Adds a map of all days"."""
MOST_LABELS = 1
_FIELD = re.compile(
    r"(?:examples?|sources?|dependenc(?:y|ies)|impact|notes?|tips?|disclaimers?|why(?: [\w ]{2,20})?|rationale|"
    r"reasons?|justification|relevance|benefits?|pros|cons|considerations?|specialization|experience|departure|arrival|"
    r"duration): ",
    re.IGNORECASE,
)
"""A field of a thing that only the heading above names: readers called such passages of agents junk."""
_PROMISE = re.compile(
    r"\bexpect (?:my|an|the) (?:update|report|feedback|answer|reply)\b|\bkeep you (?:posted|updated)\b|"
    r"\b(?:(?:get|come) back to you|(?:report|circle) back)\b",
    re.IGNORECASE,
)
"""A person's promise to speak again."""
_OFFER = re.compile(
    r"(?:(?:would you like|(?:do you )?want) me|shall i|is there anything|anything else)\b", re.IGNORECASE
)
"""An agent's offer; what a person says after it answers no question."""
_SCENE = re.compile(
    r"\byou(?:'ve| have) (?:just )?(?:received|been (?:given|told)|woken|the chan[cg]e to)\b|"
    r"\byou (?:wake up|find yourself)\b",
    re.IGNORECASE,
)
"""A puzzle or an exercise, told to its reader: nothing in it is true."""
_RECEIPT = re.compile(r"[^.!?]{3,120} (?:is|are) (?:noted|acknowledged|understood)[.!]?", re.IGNORECASE)
_OF_ITSELF = re.compile(
    r"this (?:segment|section|part|chapter|module|document|report|guide|list) (?:will|covers|explains|provides|"
    r"includes|outlines)\b",
    re.IGNORECASE,
)
"""An announcement of what the text itself contains."""
_OF_TALK = (DISPUTED, SCOLDS, UNMARKED, OF_AGENT, _PROMISE)
"""Sentences to an agent that no passage contains."""
_NO_TEXT = tuple(pattern for name, pattern in AMONG_PEOPLE if name in {"code", "template"})


def of_person(speech: Speech, text: str, known: Collection[str]) -> list[ScoredSentence]:
    """Return passages of a person's turn to an agent. known: sentences that are candidates already."""
    own = (part for part in own_words(text) if part[0] not in ">&")
    parts = ["" if any(one.search(part) for one in _OF_TALK) else without_marks(part) for part in own]
    found = ((one, first) for one, first in _passages(parts, by_agent=False) if not _is_aside(one))
    told = _with_question(speech, found, known)
    return _best(one for one in told if one.asked is None or _OFFER.match(one.asked) is None)


def _is_aside(said: str) -> bool:
    """Return True if a passage tells nothing that holds, or if each of its sentences asks the agent for something."""
    return _holds_nothing(said) or all(ASKS.search(part) is not None for part in sentences(said))


def _holds_nothing(said: str) -> bool:
    """Return True for a scene ("You have just received …") and a receipt ("The plan is noted.")."""
    return _SCENE.search(said) is not None or _RECEIPT.fullmatch(said) is not None


def whole(text: str) -> list[ScoredSentence]:
    """Return a short turn as one passage, if it tells something that holds."""
    told = " ".join(without_marks(part) for part in own_words(text))
    return [] if _holds_nothing(told) else [_statement(told)]


def of_agent(text: str, known: Collection[str]) -> list[ScoredSentence]:
    """Return passages of an agent's turn with a name or a number. known: sentences that are candidates already."""
    found = (one for block in _blocks(text) for one, _ in _passages(block, by_agent=True))
    return _best(
        _statement(one)
        for one in found
        if _is_specific(one)
        and not (_FIELD.match(one) or _REACTION.match(one) or _OF_ITSELF.match(one) or _SCENE.search(one))
        and one not in known
    )


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the sentences of each paragraph, list item and heading, which no passage may join with another's."""
    block: list[str] = []
    for line in normalise(text).split("\n"):
        parts = [said for part in sentences(line) if part[0] not in ">&|" and (said := clean(part))]
        if block and (not parts or is_item(line)):
            yield block
            block = []
        block += parts
        if block and is_item(line):
            yield block
            block = []
    if block:
        yield block


def among_people(talk: Sequence[Speech], at: int, text: str, known: Collection[str]) -> list[ScoredSentence]:
    """Return passages of a turn among people that contain a name, a number or many content words."""
    parts = [_uncalled(part, talk) for part in sentences(text)]
    found = [
        (one, first)
        for one, first in _passages(parts, by_agent=False)
        if (_is_specific(one) or len(set(content_words(one))) > 2 * LEAST_WORDS)
        and sum(1 for _ in _LABELLED.finditer(one)) <= MOST_LABELS
    ]
    return _best(_with_question(talk[at], found, known))


def _uncalled(part: str, talk: Sequence[Speech]) -> str:
    """Remove the addressee from a sentence of a channel: "otavio: I fixed it"."""
    call = _CALL.match(part)
    if call is None:
        return part
    name = call["name"].casefold()
    return part[call.end() :] if any(name == one.speaker.name.casefold().strip("_^") for one in talk) else part


def _passages(parts: Sequence[str], *, by_agent: bool) -> Iterator[tuple[str, bool]]:
    """Return groups of consecutive statements of a turn, each with True if it is the first statement of the turn."""
    group: list[str] = []
    first = True
    for part in (*parts, ""):
        states = bool(part) and _states(part, by_agent=by_agent)
        if group and not (states and len(group) < MAX_SENTENCES and len(" ".join((*group, part))) <= MAX_CHARACTERS):
            whole = " ".join(group)
            orders = not by_agent and all(act_of(one, by_agent=False) == "instruct" for one in group)
            if len(set(content_words(whole))) >= LEAST_WORDS and not orders:
                yield whole, first
            group, first = [], False
        if states:
            group.append(part)


def _states(part: str, *, by_agent: bool) -> bool:
    """Return True if a sentence is a whole statement: no question, greeting, request for now, or code."""
    return (
        len(part) <= MAX_CHARACTERS
        and not part.rstrip().endswith(("?", ":", "…"))
        and bool(content_words(part))
        and not is_cut(part)
        and not any(pattern.search(part) for pattern in _NO_TEXT)
        and not is_machine_text(part)
        and (_STEP if by_agent else _DEMANDS).search(part) is None
        and act_of(part, by_agent=by_agent) not in {"ask", "chat", "propose"}
    )


def _with_question(
    speech: Speech, found: Iterable[tuple[str, bool]], known: Collection[str]
) -> Iterator[ScoredSentence]:
    """Yield each new passage; the first passage of the turn also together with the question that it may answer."""
    asked = _asked(speech)
    for said, first in found:
        if said not in known:
            yield _statement(said)
        if first and asked is not None and speech.before_seq is not None and _is_answer(said):
            yield _statement(said, asked=asked, source=speech.before_seq)


def _is_answer(said: str) -> bool:
    """Return True if a short passage may need the question: it begins neither with its speaker nor with a wish."""
    return _OF_SPEAKER.match(said) is None and len(set(content_words(said))) <= SHORT_ANSWER


def _asked(speech: Speech) -> str | None:
    """Return the question with which another speaker ended the previous turn."""
    if speech.before is None or "?" not in speech.before[-MAX_QUESTION:]:
        return None
    last = [part for part in sentences(speech.before[-2 * MAX_QUESTION :]) if part.endswith("?")]
    return without_marks(last[-1]) if last and len(last[-1]) <= MAX_QUESTION else None


def _statement(said: str, *, asked: str | None = None, source: int | None = None) -> ScoredSentence:
    fired = (*signals(said, Seen()), SAID)
    return ScoredSentence(said, fired, keep_score(fired), sources=() if source is None else (source,), asked=asked)


def _best(found: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    """Return the passages with the most content, in the order of the turn."""
    kept = list(dict.fromkeys(found))
    ranked = sorted(range(len(kept)), key=lambda at: (-_weight(kept[at].said), at))
    return [kept[at] for at in sorted(ranked[:MOST])]


def _is_specific(said: str) -> bool:
    return is_named(said) or has_specifics(said)


def _weight(said: str) -> int:
    return len(set(content_words(said))) + 3 * is_named(said) + 3 * has_specifics(said)
