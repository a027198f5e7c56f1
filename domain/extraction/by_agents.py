"""Select an agent's statements worth keeping: outcomes of its work, and deliveries that a person accepted."""

import re
from collections.abc import Callable
from itertools import islice

from slowwave_server.domain.extraction.headings import only_headings
from slowwave_server.domain.extraction.making import ScoredSentence
from slowwave_server.domain.extraction.outcomes import is_outcome
from slowwave_server.domain.extraction.outline import Outline, clean, outline
from slowwave_server.domain.extraction.person import third_person
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import flaw
from slowwave_server.domain.extraction.weights import keep_score
from slowwave_server.domain.long_text import at_most

_EXPLAINS = re.compile(
    r"^(?:(?:next|first|then|finally|here|in (?:this|the) (?:example|code|case|snippet|section))\b|as a result\b|"
    r"what i\b|"
    r"the real (?:issue|problem)\b|(?:good|great|okay|ok|perfect)(?: \u2014|[,!:])|\(\d+\))",
    re.IGNORECASE,
)
"""A sentence that explains code or a review, or reacts to the agent's own finding."""
_REVIEW = re.compile(r"\bline-by-line\b|\blines? \d.*\blines? \d", re.IGNORECASE)
"""The outline of a code review: its points are places in files."""
_ASKS = re.compile(
    r"(?:^|[.!?\n]\s*)(?:(?:so|but|and|hey|ok|okay|in \w+)\W+){0,2}(?:why|how|what|where|who|is|are|does|do|did)\b"
    r"[^.!?\n]*\Z|\?\s*\Z",
    re.IGNORECASE,
)
"""A question at the end of a turn."""
_MAKES = re.compile(
    r"(?:\b(?:can|could|would|will) you (?:\w+ ){0,2}|\b(?:i|we) (?:need|want|expect|require)\b.{0,40}|"
    r"(?:^|[.!?,\n]\s*)(?:(?:please|now|then|and|next)\W+)*)"
    r"(?:arrange|book|build|compile|create|deliver|design|draft|find|generate|give|itinerary|list|make|organi[sz]e|"
    r"outline|plan|prepare|present|propose|provide|put together|recommend|report|schedule|send|show|suggest|"
    r"summari[sz]e|update|write)\b",
    re.IGNORECASE,
)
"""A request for work."""
_FIGURE = re.compile(r"\d(?!\d?[.)] )")
FIGURES = 2
"""Minimum points with a figure in an answer to a question."""
MAX_OUTCOMES = 4
"""Per turn of ordinary length."""


def statements(speech: Speech, text: str, matters: Callable[[], bool]) -> list[ScoredSentence]:
    """Return the outcomes of an agent's turn, and the outline of its delivery if there is one.

    matters: a function that returns True if the turn is worth remembering; called only if the turn delivers something.
    """
    told = (_outcome(speech, clean(part)) for part in sentences(text) if part[0] not in ">&" and is_outcome(part))
    found = list(islice((one for one in told if one is not None), at_most(MAX_OUTCOMES, len(text))))
    handed = outline(text)
    if handed is not None and _is_work(handed, speech.before or "") and matters():
        fired = ("delivered", "act_deliver")
        found.append(
            ScoredSentence(
                f"{speech.speaker.name} delivered {handed.told()}.",
                fired,
                keep_score(fired),
                type="result",
                worded=True,
            )
        )
    return found


def _is_work(handed: Outline, asked: str) -> bool:
    """Return True if an outline is of work with content: no bare headings, no review, and no answer to a question
    without figures. asked: the turn before.
    """
    points = (*handed.points, *handed.figures)
    if not handed.is_specific or only_headings(points) or _REVIEW.search(handed.told()) is not None:
        return False
    is_answer = _ASKS.search(asked) is not None and _MAKES.search(asked) is None
    return not is_answer or sum(_FIGURE.search(point) is not None for point in points) >= FIGURES


def _outcome(speech: Speech, sentence: str) -> ScoredSentence | None:
    fired = (*signals(sentence, Seen()), "outcome")
    worded = third_person(sentence, speech.speaker)
    if _EXPLAINS.search(sentence) is not None or " and others" in worded:
        return None
    if flaw(worded, names=(speech.speaker.name,)) is not None:
        return None
    return ScoredSentence(sentence, fired, keep_score(fired), type="result")
