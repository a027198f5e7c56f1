"""Decide the type of a kept sentence by the first rule that matches: decision, task, preference, event or fact."""

import re
from collections.abc import Collection

from slowwave.memory_types import MemoryType

_PLAN = re.compile(
    r"\b(?:i'll|i will|we'll|we will)\b|\b(?:i'm|im|i am|we're|we are) (?:\w+ )?(?:going to|gonna|planning|about to|"
    r"hoping to|"
    r"supposed to|flying|meeting|moving to)\b|^(?:gonna|planning to|going to|hoping to)\b|\b(?:i|we) (?:\w+ )?(?:plan|"
    r"intend|promise|have|need) to\b|\bremind me\b",
    re.IGNORECASE,
)
_UNDER_WAY = re.compile(
    r"\b(?:i'm|im|i am|we're|we are|i've been|i have been|we've been|we have been) "
    r"(?:\w+ly |still |now |just |also |busy ){0,3}"
    r"(?:trying to|attempting to|working on|struggling to|looking into|(?:fixing|debugging|building|preparing|drafting|"
    r"setting up|migrating|refactoring|investigating|implementing|organi[sz]ing|finishing) (?:the|a|an|my|our|this)\b)",
    re.IGNORECASE,
)
_PAST_OF_SELF = re.compile(
    r"\b(?:i|we) (?:\w+ly |just |also |finally )?(?:\w{2,14}ed|went|got|saw|met|bought|took|made|found|won|lost|had|"
    r"did|gave|began|"
    r"broke|left|built|ran|ate|came|drove|flew|sold|quit)\b|^(?:just |finally )?(?:went|got|saw|met|bought|finished|"
    r"started|moved|adopted)\b",
    re.IGNORECASE,
)


def kind_of(sentence: str, fired: Collection[str], *, past_date: bool) -> MemoryType:
    """Return the type of a sentence in its original words. past_date: True if the sentence names a past day or time."""
    if "decision" in fired:
        return "decision"
    planned = _PLAN.search(sentence) is not None or _UNDER_WAY.search(sentence) is not None
    if "commitment" in fired or (planned and not past_date):
        return "task"
    if past_date and "past" in fired:
        return "event"
    if "i_like" in fired or "my_favourite" in fired:
        return "preference"
    if "change" in fired and _PAST_OF_SELF.search(sentence) is not None:
        return "event"
    return "preference" if "taste" in fired and "first_person" in fired else "fact"
