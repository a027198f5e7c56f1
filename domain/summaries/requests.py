"""Rephrase requests in indirect speech: "Can you book a room?" becomes "to book a room"."""

import re

_POLITE = (
    r"(?:(?:(?:please|ok|okay|yes|yeah|sure|perfect|hey|hi|so|and|also|then|now|next|first|finally|just|great|thanks)"
    r"[\s,!.]|(?:no|right|alright)[,!.])[\s,!.]{0,2}){0,4}"
)
_CAN_YOU = re.compile(
    rf"^{_POLITE}(?:can|could|would|will) (?:you|u) (?:please |also |just |maybe ){{0,2}}(?P<what>[a-z].{{3,}}?)"
    r"(?:,? please)?\s*[?.!]*$",
    re.IGNORECASE,
)
_BID = re.compile(rf"^{_POLITE}(?P<what>[a-z].{{3,}}?)(?:,? please)?\s*[.!]*$", re.IGNORECASE)
_NOT = re.compile(r"^(?:don't|do not|never) ", re.IGNORECASE)
_NO_BID = re.compile(
    r"^(?:let|let's|let us|have|enjoy|keep it|take care|be|get well|come on|look|forget it|imagine|believe|guess|"
    r"feel|"
    r"think|like|want|mind|care|prefer|love|say you|go ahead|tell me (?:more|about it))\b",
    re.IGNORECASE,
)
_BID_WORDS = re.compile(
    rf"^{_POLITE}(?:please |(?:don't|do not) )?(?:add|analy[sz]e|act|apply|approve|archive|ask|book|build|bump|buy|"
    r"calculate|call|cancel|change|check|clean|close|collect|commit|compare|configure|connect|convert|continue|copy|"
    r"create|"
    r"debug|delete|deploy|describe|disable|download|draft|drop|edit|elaborate|email|enable|ensure|estimate|explain|"
    r"export|"
    r"extract|fetch|fill|find|fix|format|generate|give|help|implement|import|improve|include|install|investigate|"
    r"invite|keep|list|make|measure|merge|message|migrate|move|notify|open|order|organi[sz]e|pause|plan|prepare|"
    r"print|profile|publish|push|put|read|rebase|record|refactor|release|remind|remove|rename|renew|replace|reply|"
    r"research|reserve|reset|restart|restore|re-?write|retry|revert|review|rewrite|rollback|roll|run|save|scan|"
    r"schedule|search|"
    r"send|set|share|ship|show|skip|sort|spend|split|start|stop|submit|suggest|summari[sz]e|switch|sync|tag|tell|"
    r"test|touch|track|transfer|translate|try|turn|undo|update|upgrade|upload|use|"
    r"verify|write)\b(?! (?:is|was|are|were|has|fails?|failed|passes|of|and I)\b)",
    re.IGNORECASE,
)


def asked_to(sentence: str, *, bids: bool) -> str | None:
    """Return the request in the form that follows "asked ": "to book a room", "not to push on Fridays"; None if it is
    no request.

    bids: True if imperatives such as "Book a room" count as requests.
    """
    asked = _CAN_YOU.match(sentence)
    if asked is None and bids and not sentence.rstrip().endswith("?") and _BID_WORDS.match(sentence):
        asked = _BID.match(sentence)
    if asked is None or _NO_BID.match(asked["what"]):
        return None
    what = asked["what"]
    if (negated := _NOT.match(what)) is not None:
        return f"not to {what[negated.end() :]}"
    return f"to {what[:1].lower()}{what[1:]}"
