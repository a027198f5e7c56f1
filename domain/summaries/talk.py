"""Lines that summarise turns of a person and an agent: choices, agreements, deliveries and refusals."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slowwave_server.domain.extraction.acts import act_of
from slowwave_server.domain.extraction.decisions import chosen_option
from slowwave_server.domain.extraction.outcomes import is_outcome
from slowwave_server.domain.extraction.outline import Outline
from slowwave_server.domain.extraction.person import third_person
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import content_words, is_dangling, is_named
from slowwave_server.domain.summaries.lines import Facet
from slowwave_server.domain.summaries.prose import all_of, asked_before, head, is_courtesy, plain, quoted, titled
from slowwave_server.domain.summaries.refusals import refused_in, refuses
from slowwave_server.domain.summaries.stance import stance_of, weight_of_words

MAX_POINTS = 3
MAX_OUTCOMES = 3
"""Per turn."""
MAX_REFUSALS = 2
"""Per talk."""
_OF_A_REFUSAL = 3
"""Minimum content words of a refusal that names its subject."""
_SAME = 0.3
"""Minimum share of common words of two refusals with the same subject."""
_OF_US = re.compile(r"\b(?:i|i've|we|we've|your)\b", re.IGNORECASE)
_OF_OLD = re.compile(
    r"\b(?:was|were) (?:\w+ly )?(?:created|booked|made|placed|purchased|ordered) (?:on|in|at)\b", re.IGNORECASE
)
_LIKES = re.compile(
    r"\b(?:sounds?|feels?|works?|looks? (?:good|right|ok\w*|fine)|(?:does|do) (?:this|that|it|these) look|ready|"
    r"would you like|do you want|shall)\b",
    re.IGNORECASE,
)
_LAST = 2
"""Last sentences of a turn without a question mark that may still be a request."""
_SUM = re.compile(r"\b(?:total|sum|budget|price|cost|balance|score|deadline|due)\b", re.IGNORECASE)
_HOPES = re.compile(r"\b(?:hope|wish)\b", re.IGNORECASE)
_ASKS_FOR = re.compile(r"\b(?:provide|share|specify|give me|what|which|who|when|how|where)\b", re.IGNORECASE)
"""A question for information, unlike a proposal that one can accept."""
_DECIDED = re.compile(
    r"\b(?:let'?s|go (?:with|ahead)|decided?|choose|chose|pick|stick with|keep|take|use|instead|option|number)\b",
    re.IGNORECASE,
)
_OF_SOMETHING = re.compile(r"\basked (?:not )?to \w+(?: \w+)? (?:it|that|this|them|those|these)\.$", re.IGNORECASE)
"""A request with a pronoun instead of an object."""
_VAGUE = frozenset(
    "able alternative alternatives ask asked assist available check clarify connect details done explain find "
    "fix going help information issue look matter move next option options order out people person possible "
    "proceed provide question questions ready really show situation solution something sort start step steps "
    "still tell today try work".split()
)
"""Words without a meaning of their own: a request made of them needs the previous turn."""


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line that summarises part of a turn. fired: the names of properties that have weights."""

    facet: Facet
    text: str
    fired: tuple[str, ...]


def of_person(speech: Speech, *, decided_by_tool: bool) -> Iterator[DraftLine]:
    """Yield a person's choices and agreements. decided_by_tool: True if a tool's line already reports the decision."""
    name, heard = speech.speaker.name, speech.before or ""
    parts = plain(speech.event.content)
    for part in parts:
        option = chosen_option(part, heard)
        if option is not None and not set(content_words(option)) <= set(content_words(part)):
            yield DraftLine("decided", f"{name} chose: {option.rstrip('.')}.", ("accepted",))
            return
    stance = stance_of(parts)
    if decided_by_tool or not heard or stance is None or stance.verb == "answered":
        return
    handed = titled(heard) if stance.verb == "agreed" else None
    if handed is not None:
        yield DraftLine("decided", f"{name} agreed on {shown(handed)}.", ("accepted",))
        return
    about = asked_before(heard, stance.quote)
    if asks_for(heard):
        return
    if about or (weight_of_words(stance.quote) > 1 and not is_dangling(stance.quote)):
        yield DraftLine("decided", f"{name} {stance.verb}{about}: {quoted(stance.quote)}", ("taken",))


def asks_for(heard: str) -> bool:
    """Return True if an agent's last question requests information: an answer to it is not an agreement."""
    parts = plain(heard)
    asked = [part for part in parts if part.endswith("?") and not is_courtesy(part)] or parts[-_LAST:]
    return bool(asked) and _ASKS_FOR.search(asked[-1]) is not None and not _LIKES.search(asked[-1])


def outcomes(text: str, *, with_tools: bool) -> list[str]:
    """Return the sentences of an agent's turn that report completed work.

    Without tools, only sentences about the speaker or the listener count: a delivered text may report anything.
    """
    parts = [part for part in all_of(text) if not _OF_OLD.search(part) and not _HOPES.search(part)]
    found = [part for part in parts if is_outcome(part) and not refuses(part)]
    return [part for part in found if with_tools or _OF_US.search(part)]


def of_agent(speech: Speech, *, accepted: bool, with_tools: bool) -> Iterator[DraftLine]:
    """Yield lines for the work, deliveries and refusals of an agent's turn.

    accepted: True if the next turn agrees, which gives the "decided" line; with_tools: True if the conversation has
    tool calls.
    """
    name, text = speech.speaker.name, speech.event.content
    done = outcomes(text, with_tools=with_tools)
    for part in done[:MAX_OUTCOMES]:
        yield DraftLine("executed", with_name(third_person(part, speech.speaker), name), ("achieved",))
    if (refused := next(_refused(speech), None)) is not None:
        yield DraftLine("state", f"{name} refused: {quoted(refused)}", ("refused",))
    handed = titled(text)
    if handed is not None and handed.is_specific and not accepted and not done:
        yield DraftLine("executed", f"{name} delivered {shown(handed)}.", ("delivered",))


def is_empty(text: str, names: Sequence[str], *, least: int = 1) -> bool:
    """Return True if a line has no content: a request without an object, or fewer than `least` content words."""
    bare = text
    for name in names:
        bare = bare.replace(name, " ").replace(name.lower(), " ")
    if _OF_SOMETHING.search(text):
        return True
    said = {word for word in content_words(bare) if word not in _VAGUE}
    return len(said) < least and not is_named(bare)


def is_aside(sentence: str) -> bool:
    """Return True if a person only thanks, reacts or agrees; the ending reports the agreement."""
    if is_courtesy(sentence):
        return True
    return act_of(sentence, by_agent=False) == "accept" and _DECIDED.search(sentence) is None


def last_refusals(talk: Sequence[Speech]) -> frozenset[int]:
    """Return the seq numbers of the reported refusals: the last one, and the last one on another subject."""
    told: list[tuple[int, frozenset[str]]] = []
    for speech in reversed(talk):
        found = next(_refused(speech), None) if speech.is_agent else None
        words = frozenset(content_words(found or ""))
        if found is not None and all(len(words & other) < _SAME * len(words | other) for _, other in told):
            told.append((speech.event.seq, words))
    return frozenset(seq for seq, _ in told[:MAX_REFUSALS])


def _refused(speech: Speech) -> Iterator[str]:
    for part in plain(speech.event.content):
        if refused_in(speech.event.content, part) and weight_of_words(part) >= _OF_A_REFUSAL:
            yield part


def with_name(text: str, name: str) -> str:
    """Put the speaker's name before a line that does not contain it."""
    inside = "the user" if name == "The user" else name
    return text if inside in text or name in text else f"{name}: {text}"


def shown(handed: Outline) -> str:
    """Return the title of a delivered text with its first items."""
    points = "; ".join(
        head(point) for point in (*handed.points[:MAX_POINTS], *[one for one in handed.figures if _SUM.search(one)][:1])
    )
    return f'"{handed.title}"' + (f": {points}" if points else "")
