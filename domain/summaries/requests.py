"""Requests as what somebody asked for: of "Can you book a room?" that is "to book a room".

Must not know: which requests matter.
"""

import re

_POLITE = r"(?:(?:please|ok|okay|hey|hi|so|and|also|then|now|next|first|finally|just|great|thanks)[\s,!.]{1,3}){0,4}"
_CAN_YOU = re.compile(
    rf"^{_POLITE}(?:can|could|would|will) you (?:please |also |just |maybe ){{0,2}}(?P<what>[a-z].{{3,}}?)"
    r"(?:,? please)?\s*[?.!]*$",
    re.IGNORECASE,
)
_BID = re.compile(rf"^{_POLITE}(?P<what>[a-z].{{3,}}?)(?:,? please)?\s*[.!]*$", re.IGNORECASE)
_NOT = re.compile(r"^(?:don't|do not|never) ", re.IGNORECASE)
_NO_BID = re.compile(
    r"^(?:let|let's|let us|have|enjoy|keep it|take care|be|get well|come on|look|"
    r"forget it)\b",
    re.IGNORECASE,
)
_VERBS_OF_MIND = re.compile(r"^(?:imagine|believe|guess|feel|think|say you)\b", re.IGNORECASE)


def asked_to(sentence: str, *, bids: bool) -> str | None:
    """What is asked for, as it follows "asked ": "to book a room", "not to push on Fridays"; None where the sentence
    is no request. bids: imperatives count, too ("Book a room").
    """
    asked = _CAN_YOU.match(sentence)
    if asked is None and bids and not sentence.rstrip().endswith("?"):
        asked = _BID.match(sentence)
    if asked is None:
        return None
    what = asked["what"]
    if _NO_BID.match(what) or _VERBS_OF_MIND.match(what):
        return None
    if (negated := _NOT.match(what)) is not None:
        return f"not to {what[negated.end() :]}"
    return f"to {what[:1].lower()}{what[1:]}"
