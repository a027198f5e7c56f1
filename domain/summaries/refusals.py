"""What an agent refuses: what can't be done, is not allowed, or is not covered.

Must not know: whether it was done all the same later.
"""

import re

_REFUSES = re.compile(
    r"\b(?:(?:i|we)(?: am|'m| are|'re)? (?:currently |also |still |unfortunately |really )*(?:can't|cannot|"
    r"can not|could not|"
    r"couldn't|unable to|not able to|not allowed to|not permitted to)|(?:i|we) (?:don't|"
    r"do not) (?:currently )?have (?:real-?time |direct )*(?:access|the "
    r"ability)|(?:i|we) (?:don't|do not) (?:currently )?have \w+(?:\w|-|,| ){0,40} access|"
    r"(?:can't|cannot|can not) be (?:modified|changed|cancell?ed|refunded|removed|added|upgraded|processed|waived|"
    r"used|combined|made|done|issued|transferred|reversed|edited|extended|shared)|non-?refundable|"
    r"(?:is|are|was|were|isn't|aren't|it's)(?: not|) (?:n't )?(?:not )?(?:eligible|entitled|allowed|permitted|"
    r"possible|refundable|covered)(?= )|does(?: not|n't) (?:allow|permit|qualify|cover|support|offer|include)|"
    r"do(?: not|n't) (?:allow|permit|qualify|cover|support|offer)|only assist with|against (?:our|the) policy)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|n't|no|non|cannot|unable|only|against|without|neither|nor)\b|n't\b|non-?refundable", re.IGNORECASE
)
_NONE = re.compile(
    r"\?\s*$|^(?:if|once|when|while|although|even if|unless|as long as)\b|\b(?:can't|cannot|couldn't) (?:wait|stress|"
    r"emphasi[sz]e|agree more|recommend|imagine|believe|go wrong|say|overstate|be happier|find|locate|see|verify|"
    r"access your)\b|unable to (?:find|locate|see|verify)|why (?:we|you|it)\b|\bor (?:can't|cannot)\b",
    re.IGNORECASE,
)


def refusal(sentence: str) -> str | None:
    """The sentence of an agent if it refuses something, else None."""
    if _NONE.search(sentence) or _REFUSES.search(sentence) is None or _NEGATED.search(sentence) is None:
        return None
    return sentence
