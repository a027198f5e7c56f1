"""Detect standing instructions: a person's wishes that an agent follows every time, until the person lifts them."""

import re

from slowwave_server.domain.extraction.imperatives import GERUND_PATTERN, VERB_PATTERN

_ALWAYS = re.compile(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|every time|each time|whenever (?:i|we|there|it|"
    r"the|a)\b|any time (?:i|we)|at all times|"
    r"by default|as a rule|don't ever|do not ever|no matter what|under no circumstances|for all (?:future|further|my|"
    r"our)|"
    r"in all (?:my|our|your|future)|until (?:i say|further notice)|when(?:ever)? i (?:ask|say|write|mention|send)|if i "
    r"(?:ask|say|write|mention))\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(?:must (?:always|never|not)|is mandatory|are mandatory|non-negotiable|(?:is|are) not allowed|no exceptions?|"
    r"strictly|only (?:use|send|show|include|answer|reply|write|in)|(?:do not|don't|avoid|stop|refrain from) (?:ever )?"
    r"(?:us|includ|add|send|mak|writ|push|deploy|commit|book|delet|shar|mention|ask|format|quot|stor|log|reveal|"
    r"disclos|"
    r"contact|chang|touch|edit|install|creat|call|put|say|repeat|apologi[sz]|summari[sz]|explain|translat)(?:e|ing|"
    r"s)?\b|"
    r"make sure (?:to always|that all|you always|all|every)|use \S.{0,60}\binstead\b|use \S.{0,60}\brather than\b|"
    r"call me\b|address me\b|refer to me\b|"
    r"keep (?:it|your|the|all|every|answers|replies)|(?:answer|reply|respond|write|speak) in\b|i (?:want|expect|"
    r"require|"
    r"prefer) (?:you to|your|all|every|each))",
    re.IGNORECASE,
)
_TO_AGENT = re.compile(
    r"^(?:(?:ok|okay|and|also|but|so|then|please|pls|plz|just|well|great|perfect|good|yes|no|oh|hey|one more "
    r"thing|remember|note|"
    r"important)[\s,:.!-]+){0,4}(?:(?:from now on|going forward|in (?:the )?future|by default|as a rule|always|never|"
    r"whenever [^,]{3,80}|when(?:ever)? i [^,]{3,60}|if i [^,]{3,60}|for (?:all|every|any) [^,]{3,60})[\s,]+)?"
    r"(?:always|never|please|you|don't|do not|make sure|ensure|use|keep|avoid|stop|call me|address me|refer to me|"
    r"only|no |"
    r"give|treat|limit|prefer|be|do|let|" + VERB_PATTERN + r")\b",
    re.IGNORECASE,
)
_SENDS = (
    r"(?:send|share|paste|upload|give|ask|mention|write|say|post|forward|type|describe|show|report|request|use|need|call|"
    r"email|message|text|submit|attach|drop|hand|quote|link|name|tell|want|start|open|finish|commit|push|merge|create|add)"
)
_MAKES = (
    r"(?:write|generate|create|draft|answer|reply|respond|send|make|summari[sz]e|translate|give|produce|suggest|review|"
    r"book|schedule|edit|format|name|list|explain|recommend|propose|quote|cite|plan|search|find|compare|calculate|code|"
    r"fix|refactor|commit|deploy|test|order|email|prepare|update|report|show|share|mention|convert)"
)
_ROUTINE = re.compile(
    r"^(?:(?:ok|okay|and|also|but|so|then|please|pls|plz|just|well|great|perfect|good|yes|no|oh|hey|one more "
    r"thing|remember|note|important)[\s,:.!-]+){0,4}(?:(?:whenever|every time|each time|any ?time) (?:(?:i|we) [a-z]|"
    r"there(?:'s| is| are)|(?:somebody|someone|a|an|any|the|my|our|one of) \S+ |you (?:have to |need to |want to )?"
    + _MAKES
    + r"\b)|"
    r"(?:when|if) (?:(?:i|we) (?:ever )?" + _SENDS + r"|you (?:have to |need to )?" + _MAKES + r")\b|"
    r"for (?:every|each|any|all) (?:\w+ ){1,4}(?:i|we|you) \w+)"
    r"[^,;:.!?]{0,100},\s*(?:then |please |always |just |also |make sure (?:to|you) |you (?:must|should|have to|"
    r"need to) )*"
    r"(?:don't |do not |never |always )?(?:" + VERB_PATTERN + r"|give|keep|make|let|treat|limit|do|be)\b"
    r"(?! (?:is|are|was|were|has|have|will|would|can)\b)",
    re.IGNORECASE,
)
"""A recurring condition and the action for it: "Whenever I send a recipe, convert it to metric"."""
_STOPS = re.compile(
    r"^(?:(?:ok|okay|and|also|but|so|then|please|pls|plz|just|now)[\s,:.!-]+){0,3}stop (?:" + GERUND_PATTERN + r") "
    r"(?!(?:this|that|it|so|and|around|me)\b)(?:(?!\band (?:just|" + VERB_PATTERN + r")\b)[^;:])*$",
    re.IGNORECASE,
)
"""An activity that the agent must stop: "Stop converting recipes"."""
_THIS_TIME = re.compile(
    r"\b(?:today|tonight|tomorrow|right away|immediately|this (?:time|week|one)|for now|me to|let me know|call me "
    r"(?:when|back)|remind me)\b",
    re.IGNORECASE,
)
_OF_SELF = re.compile(r"\b(?:i|we)(?:'ve|'m|'re| am| have| had| are| was| were)? (?:always|never)\b", re.IGNORECASE)
_YOU_MUST = re.compile(
    r"\byou (?:must|should|have to|need to|are to|can|may|will|shall) (?:always|never)\b|\b(?:want|expect|need|"
    r"like) you to "
    r"(?:always|never)\b|\bfrom now on\b.{0,40}\byou\b",
    re.IGNORECASE,
)
_CHATTY = re.compile(
    r"\b(?:don't|do not|never) (?:worry|forget|mention it|know|think|mind|get me wrong|have|want|like|need|care|see|be "
    r"(?:sorry|afraid))\b|\bnever mind\b|\bmake sure (?:i|we)\b|\b(?:tell|ask|give|show|send) me (?:again|that|you|to|"
    r"a|the)\b|\bfurther\b|\bnever give up\b|\bstop \w+ing(?: me)?(?: (?:questions|again))? and\b",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\b(?:now|today|tonight|tomorrow|right away|immediately|this (?:time|week|one)|next (?:step|week)|yet|for now|"
    r"first|once more|itself|until (?:you|it|they|the|that|this))\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:(?:ok|okay|and|also|but|so|then|please|pls|plz|just|well|great|perfect|good|yes|oh|hey|one more "
    r"thing)[\s,:.!-]+|"
    r"no[,:.!-]+\s*)){1,4}",
    re.IGNORECASE,
)


def is_instruction(sentence: str) -> bool:
    """Return True if a sentence tells an agent what to do every time, or how a result must always be."""
    if sentence.endswith("?") or _CHATTY.search(sentence) or len(sentence) < 12:
        return False
    if _ROUTINE.match(sentence) is None and _ALWAYS.search(sentence) is not None and _OF_SELF.search(sentence) is None:
        return _TO_AGENT.match(sentence) is not None or _YOU_MUST.search(sentence) is not None
    if _ROUTINE.match(sentence) is not None or _STOPS.match(sentence) is not None:
        return _THIS_TIME.search(sentence) is None
    return (
        _MUST.search(sentence) is not None and _TO_AGENT.match(sentence) is not None and _ONCE.search(sentence) is None
    )


def is_routine(sentence: str) -> bool:
    """Return True if a sentence names when it applies, as in "When I send a recipe, convert it": "it" is the recipe."""
    return _ROUTINE.match(sentence) is not None


def told(sentence: str, speaker: str) -> str:
    """Return the instruction as a statement, such as "Maya instructs: always answer in German."."""
    body = _LEAD.sub("", sentence).strip()
    if _TO_AGENT.match(body) is not None or _ROUTINE.match(body) is not None:  # otherwise it may begin with a name
        body = body[:1].lower() + body[1:] if not body[:2].isupper() else body
    body = body.rstrip(" .!") + "."
    return f"{speaker} instructs: {body}"


def lasts(sentence: str) -> bool:
    """Return True if a sentence says itself that it holds beyond the moment ("always", "from now on")."""
    return _ALWAYS.search(sentence) is not None
