"""Select an agent's statements worth keeping: outcomes of its work, and deliveries that a person accepted."""

import re
from collections.abc import Callable
from itertools import islice

from slowwave_server.domain.extraction.making import ScoredSentence
from slowwave_server.domain.extraction.outcomes import is_outcome
from slowwave_server.domain.extraction.outline import clean, outline
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
MAX_OUTCOMES = 4
"""Per turn of ordinary length."""


def statements(speech: Speech, text: str, matters: Callable[[], bool]) -> list[ScoredSentence]:
    """Return the outcomes of an agent's turn, and the outline of its delivery if there is one.

    matters: a function that returns True if the turn is worth remembering; called only if the turn delivers something.
    """
    told = (_outcome(speech, clean(part)) for part in sentences(text) if part[0] not in ">&" and is_outcome(part))
    found = list(islice((one for one in told if one is not None), at_most(MAX_OUTCOMES, len(text))))
    handed = outline(text)
    if handed is not None and handed.is_specific and _REVIEW.search(handed.told()) is None and matters():
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


def _outcome(speech: Speech, sentence: str) -> ScoredSentence | None:
    fired = (*signals(sentence, Seen()), "outcome")
    worded = third_person(sentence, speech.speaker)
    if _EXPLAINS.search(sentence) is not None or " and others" in worded:
        return None
    if flaw(worded, names=(speech.speaker.name,)) is not None:
        return None
    return ScoredSentence(sentence, fired, keep_score(fired), type="result")
