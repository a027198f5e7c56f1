"""Detect an agent's refusal: inability, missing permission, or a policy that forbids the request.

A hedge ("we can't be certain"), an idiom ("couldn't help but notice") and a character's line in a story are not
refusals. In doubt, a turn is an answer.
"""

import re

from slowwave_server.domain.extraction.sentences import normalise

MOST_BEFORE = 600
"""Maximum characters before a refusal: an agent refuses early; in a longer text the words have another meaning."""

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
    """Return True if an agent's sentence is a refusal."""
    return _REFUSES.search(sentence) is not None and _NONE.search(sentence) is None


def refused_in(text: str, sentence: str) -> bool:
    """Return True if a sentence of this turn is a refusal by the agent itself: early in the turn and outside quotes."""
    if not refuses(sentence):
        return False
    before = normalise(text).partition(sentence[: len(sentence) // 2])[0]
    return len(before) <= MOST_BEFORE and len(_QUOTE.findall(before)) % 2 == 0
