"""Tell a message of a conversation from a question that stands alone.

A host passes the user's message as the query: "Right, the CV is done. What's next?" Most such messages go on with what
was said last, so recent documents answer them more often than old ones of the same words. A question ("Which CV did she
send?") may be about any time.
"""

import re

_WITHOUT_END = frozenset(
    "dr mr mrs ms prof st vs no nr fig approx inc ltd etc bzw ca usw sr sra dott sig bv evt m mme".split()
)
"""Words whose period ends no sentence."""
_BORDER = re.compile(r"(\w*)([.!?\u2026]+[\"')\]\u2019\u201d\u00bb]*\s+|[\u3002\uff01\uff1f]+\s*|\n\s*)(?=[^\W_])")


def continues_talk(query: str) -> bool:
    """Return True if a query has several sentences, as a message of a conversation does.

    Example:
        >>> continues_talk("The CV is done. What's next?"), continues_talk("What did Dr. Smith say?")
        (True, False)
    """
    return any(_ends_a_sentence(found) for found in _BORDER.finditer(query.strip()))


def _ends_a_sentence(found: re.Match[str]) -> bool:
    word, border = found.groups()
    if border.strip() != ".":
        return True
    return len(word) > 1 and word.lower() not in _WITHOUT_END
