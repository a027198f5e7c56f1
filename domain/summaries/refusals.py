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
    r"(?:not|isn't|aren't|wasn't|weren't) (?:\w+ ){0,2}(?:eligible|entitled|allowed|permitted|possible|refundable|"
    r"covered)\b|"
    r"does(?: not|n't) (?:allow|permit|qualify|cover|support|offer|include)|"
    r"do(?: not|n't) (?:allow|permit|qualify|cover|support|offer)|only assist with|against (?:our|the) policy)\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\?\s*$|^(?:if|once|when|while|although|even if|unless|as long as)\b|\b(?:can't|cannot|couldn't) (?:wait|stress|"
    r"emphasi[sz]e|agree more|recommend|imagine|believe|go wrong|say|overstate|be happier|find|locate|see|verify|"
    r"access your)\b|unable to (?:find|locate|see|verify)|why (?:we|you|it)\b|\bi wonder\b|\b(?:that|what|"
    r"which) (?:i|we) (?:can't|cannot)\b|\bor (?:can't|cannot)\b",
    re.IGNORECASE,
)


def refuses(sentence: str) -> bool:
    """Whether a sentence of an agent refuses something."""
    return _REFUSES.search(sentence) is not None and _NONE.search(sentence) is None
