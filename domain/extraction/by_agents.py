"""What an agent says that is worth keeping: outcomes of its work, and what it handed over if a person accepted it.

Must not know: how a statement is worded in the end.
"""

from slowwave_server.domain.extraction.making import Statement
from slowwave_server.domain.extraction.outcomes import is_outcome
from slowwave_server.domain.extraction.outline import clean, outline
from slowwave_server.domain.extraction.person import third_person
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.standalone import flaw
from slowwave_server.domain.extraction.weights import keep_score

MAX_OUTCOMES = 4


def statements(speech: Speech, text: str, *, handed_over: bool) -> list[Statement]:
    """The outcomes of an agent's turn, and its outline if it handed something over that is worth remembering."""
    found = [
        one for part in sentences(text) if is_outcome(part) and (one := _outcome(speech, clean(part))) is not None
    ][:MAX_OUTCOMES]
    if handed_over and (handed := outline(text)) is not None and handed.is_specific:
        fired = ("delivered", "act_deliver")
        found.append(
            Statement(
                f"{speech.speaker.name} delivered {handed.told()}.",
                fired,
                keep_score(fired),
                type="result",
                worded=True,
            )
        )
    return found


def _outcome(speech: Speech, sentence: str) -> Statement | None:
    fired = (*signals(sentence, Seen()), "outcome")
    worded = third_person(sentence, speech.speaker)
    if flaw(worded, names=(speech.speaker.name,)) is not None:
        return None
    return Statement(sentence, fired, keep_score(fired), type="result")
