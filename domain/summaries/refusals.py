"""What an agent refuses: what it can't or may not do for the person, and what a policy does not allow.

A hedge ("we can't be certain"), an idiom ("couldn't help but notice"), and what somebody says in a story refuse
nothing. In doubt an answer is only an answer.

Must not know: whether it was done all the same later.
"""

import re

from slowwave_server.domain.extraction.sentences import normalise

MOST_BEFORE = 600
"""Characters before a refusal: an agent that refuses says so early; a longer text tells of something else."""

_MAY_NOT = (
    r"(?:can't|cannot|can not|could not|couldn't|unable to|not able to|not allowed to|not permitted to|"
    r"won't be able to|will not be able to)"
)
_REFUSES = re.compile(
    rf"\b(?:i|we)(?: am|'m| are|'re)? (?:currently |also |still |unfortunately |really |therefore )*{_MAY_NOT}\b"
    r"(?! (?:be|been|have|help but|stop|resist|wait|stress|emphasi[sz]e|agree more|recommend|imagine|believe|"
    r"go wrong|"
    r"say|overstate|find|locate|see|verify|tell (?:which|whether|if|apart)|access your|shake|ignore|deny|forget)\b)|"
    r"\b(?:i|we) (?:don't|do not) (?:currently )?have (?:the ability|(?:real-?time |direct )*access|"
    r"\w+(?:\w|-|,| ){0,40} access)|\b(?:i|we) can only assist with\b|\bagainst (?:our|the|my) (?:policy|"
    r"guidelines)\b|"
    r"\b(?:can't|cannot|can not) (?:\w+ly )?be (?:modified|changed|cancell?ed|refunded|removed|added|upgraded|"
    r"processed|waived|combined|issued|transferred|reversed|extended)|\bnon-?refundable\b|"
    r"\b(?:is|are|was|were) (?:not|n't) (?:\w+ ){0,2}(?:eligible|entitled|allowed|permitted|refundable)\b|"
    r"\b(?:isn't|aren't|wasn't|weren't) (?:\w+ ){0,2}(?:eligible|entitled|allowed|permitted|refundable)\b|"
    r"\b(?:policy|policies|rules?|insurance|tickets?|fares?|reservations?|airline|system|membership|terms|warranty|"
    r"contract|subscription|licen[cs]e|we) (?:do|does)(?: not|n't) (?:allow|permit|qualify|cover|support|offer|"
    r"include)\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\?\s*$|\bplease let me know\b|^(?:if|once|when|while|although|even if|unless|as long as)\b|why (?:we|you|"
    r"it)\b|\bi wonder\b|"
    r"\b(?:that|what|which) (?:i|we) (?:can't|cannot)\b|\bor (?:can't|cannot)\b|\b(?:may|might) not\b|^['\"]",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"\"")


def refuses(sentence: str) -> bool:
    """Whether a sentence of an agent refuses something."""
    return _REFUSES.search(sentence) is not None and _NONE.search(sentence) is None


def refused_in(text: str, sentence: str) -> bool:
    """Whether a sentence of this turn refuses something in the agent's own voice: early, and between no quotes."""
    if not refuses(sentence):
        return False
    before = normalise(text).partition(sentence[: len(sentence) // 2])[0]
    return len(before) <= MOST_BEFORE and len(_QUOTE.findall(before)) % 2 == 0
