"""Classify a sentence by the question that it answers: wanted, decided, executed, state, or none of these ("said")."""

import re
from collections.abc import Collection

from slowwave_server.domain.extraction.decisions import lets
from slowwave_server.domain.extraction.kinds import kind_of
from slowwave_server.domain.summaries.lines import Facet
from slowwave_server.domain.summaries.stance import is_slogan

_OPEN = re.compile(
    r"\b(?:still (?:need|needs|open|missing|fails?|failing|broken|have to|has to|waiting|to do)|next steps?|to-?dos?|"
    r"remains? (?:open|unclear|unresolved|unsolved|to be)|left to do|not (?:yet|done)|blocked (?:on|by)|"
    r"waiting (?:for|on)|pending|unresolved|"
    r"open (?:question|point|issue)s?)\b",
    re.IGNORECASE,
)
_OUTCOME = re.compile(
    r"\b(?:(?:is|are) (?:now |all )?(?:green|red|live|up|down|done|ready|complete|back|failing|broken|passing)|"
    r"(?:now|all) pass(?:es|ing)?|tests (?:now )?(?:pass|fail)|(?:works|fails|runs) (?:now|again))\b",
    re.IGNORECASE,
)
_VERBS_DONE = (
    r"(?:fixed|deployed|merged|released|shipped|resolved|migrated|installed|implemented|pushed|configured|renamed|"
    r"refactored|updated|added|removed|created|booked|sent|ordered|paid|cancelled|canceled|submitted|uploaded|"
    r"scheduled|reserved|rolled back|finished|completed|reverted|restarted|closed|published|replaced|rewrote|wrote|"
    r"set up|tested|ran|bumped|changed|moved|deleted|enabled|disabled|upgraded|exported|imported|renewed)"
)
_DONE = re.compile(
    rf"\b(?:i|we|i've|we've|i have|we have|they) (?:just |already |also |now |have )*{_VERBS_DONE}\b"
    # "Fixed the cache key.", said by the person who fixed it.
    rf"|^(?:just |already |also |now |and ){{0,2}}{_VERBS_DONE} (?:the|a|an|all|your|our|it|them|this|that|both|\d|`)",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:(?:finally|just|both|also|already|now|then|therefore) ){0,2}(?:decided|approved?|"
    r"chose|chosen|opted)\b|"
    r"\b(?:i|we)(?:'ll| will|'d like to| would like to|'m going to| am going to| want to) (?:just )?(?:go|proceed|"
    r"stick) with\b|\b(?:i|we)(?:'ll| will) (?:take|choose|pick) (?:the|option|number)\b|"
    r"\b(?:we|you|it|they) (?:should|must) (?:always|never)\b|"
    r"\b(?:i|we)(?: will not|'ll not| won't) (?:use|do|need|take|buy|book|ship|deploy|release|support)\b|"
    r"^(?:then |so |ok(?:ay)?,? ){0,2}let's (?:not |just ){0,2}(?:take|do|move|postpone|skip|ship|make it|choose|"
    r"pick|"
    r"book|buy|leave|stay|wait)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:i|we) (?:really |just |also )?(?:want|need|hope|wish|would like|would love)\b|\b(?:i'd|we'd) "
    r"(?:really )?(?:like|love)\b|\bmy (?:goal|dream|plan|aim) is\b|"
    r"\b(?:i'm|we're|i am|we are) (?:looking (?:for|to)|hoping|trying to|planning to|interested in|calling to|"
    r"here to|ready to)\b",
    re.IGNORECASE,
)


def tells_outcome(sentence: str, fired: Collection[str]) -> bool:
    """Return True if a sentence reports a result: done, working, or still open."""
    return _OPEN.search(sentence) is not None or (
        _OUTCOME.search(sentence) is not None and "hypothetical" not in fired and "question" not in fired
    )


def wants(sentence: str) -> bool:
    """Return True if a person's sentence states a wish."""
    return _WANTS.search(sentence) is not None


def facet_of(sentence: str, fired: Collection[str], *, is_agent: bool, to_agent: bool, past_date: bool) -> Facet:
    """Return the facet of a statement (neither a question nor a request).

    to_agent: a person speaks to an agent, so their decisions bind the agent; among people, "I decided to run" only
    reports on the speaker.
    """
    decides = _DECIDES.search(sentence) or lets(sentence)
    if "decision" in fired or "rule" in fired or (to_agent and decides and not is_slogan(sentence)):
        return "decided"
    if "outcome" in fired:
        return "state"
    if _tells_done(sentence, fired, is_agent=is_agent, to_agent=to_agent):
        return "executed"
    if not is_agent and wants(sentence):
        return "wanted"
    return "state" if kind_of(sentence, fired, past_date=past_date) == "task" else "said"


def _tells_done(sentence: str, fired: Collection[str], *, is_agent: bool, to_agent: bool) -> bool:
    """Return True if a sentence reports completed work. A person's remark on an agent's result may be only praise."""
    if is_agent:
        return "result" in fired or _DONE.search(sentence) is not None
    return "result" in fired and (not to_agent or _DONE.search(sentence) is not None or "digit" in fired)
