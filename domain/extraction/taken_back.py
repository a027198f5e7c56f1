"""Select statements with which a person ends an earlier one: plans called off, instructions lifted, values corrected.

`domain.endings` finds the memory that ends.
"""

from slowwave_server.domain.endings.recognise import recognise
from slowwave_server.domain.endings.wording import told
from slowwave_server.domain.extraction import standing
from slowwave_server.domain.extraction.making import ScoredSentence
from slowwave_server.domain.extraction.signals import Seen, signals
from slowwave_server.domain.extraction.speech import Speech
from slowwave_server.domain.extraction.weights import keep_score


def taken_back(speech: Speech, sentence: str) -> ScoredSentence | None:
    """Return the memory of an ending, or None. If it corrects the previous turn, that turn is a further source."""
    ending = recognise(sentence)
    # "From now on use Postgres instead of MySQL" stays an instruction and replaces the older instruction.
    if ending is None or (ending.act != "lifted" and standing.is_instruction(sentence)):
        return None
    fired = (*signals(sentence, Seen()), "ends")
    before = (speech.before_seq,) if ending.act == "corrected" and speech.before_seq is not None else ()
    return ScoredSentence(
        told(ending, speech.speaker.name),
        fired,
        keep_score(fired) + ENDS,
        type="fact" if ending.act == "corrected" and not ending.chooses else "decision",
        worded=True,
        sources=before,
    )


ENDS = 2.0
"""Log-odds added for an ending: people rarely mention one in passing."""
