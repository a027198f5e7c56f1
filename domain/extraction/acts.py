"""Speech acts: the purpose of a sentence in a conversation of people and agents.

    propose   offers a choice or a next step        accept    agrees to a proposal or delivery
    ask       requests an answer                    reject    declines a proposal
    instruct  tells the agent what to do            correct   contradicts an earlier statement
    deliver   hands over work                       report    states a fact or an event
    chat      greets, thanks, reacts

The rules are patterns of English function words; the first pattern that matches decides.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

Act = Literal["propose", "ask", "instruct", "deliver", "accept", "reject", "correct", "report", "chat"]

_LEAD = (
    r"^(?:(?:ok|okay|alright|right|well|oh|ah|so|and|but|then|now|also|hmm|hey|hi|great|good|sure|please|kindly|"
    r"thanks|nevermind|never mind|wait|instead|next|finally|you know what|once (?:done|finished)|first|i guess)"
    r"[\s,.!:-]+){0,4}"
)
_FLAGS = re.IGNORECASE


def _rule(act: Act, *patterns: str) -> tuple[Act, re.Pattern[str]]:
    return act, re.compile("|".join(f"(?:{pattern})" for pattern in patterns), _FLAGS)


_REJECT = _rule(
    "reject",
    _LEAD + r"(?:(?:absolutely|definitely|certainly|of course) not\b|"
    r"no\b(?! (?:problem|worries|one|doubt|matter|longer|need))|nope\b|not (?:really|quite|that|this|yet)\b)",
    r"\b(?:i|we) (?:don't|do not|won't|will not|can't|cannot) (?:want|like|need|think (?:that|this|it)|accept|agree|"
    r"do that|go with)\b",
    r"\b(?:skip|drop|forget|scrap|cancel|discard|ignore) (?:that|this|it|the idea|the suggestion)\b",
    r"\b(?:not what i (?:asked|wanted|meant|expected)|unacceptable|doesn't work for|won't work for|too (?:much|many|"
    r"expensive|long|vague|generic|complicated))\b",
)
_CORRECT = _rule(
    "correct",
    _LEAD + r"(?:actually|correction|wait|sorry|my mistake|i meant|no,? it'?s|that'?s (?:wrong|incorrect|not right))\b",
    r"\b(?:instead of|rather than|not [\w' -]{1,30}, (?:but|it's)|is (?:wrong|incorrect|outdated)|should (?:be|"
    r"have been|"
    r"say|read)|i meant|you (?:forgot|missed|left out|mixed up))\b",
)
_ACCEPT = _rule(
    "accept",
    _LEAD + r"(?:yes|yeah|yep|yup|agreed|confirmed|approved|deal|perfect|exactly|absolutely|definitely|excellent|"
    r"fantastic|wonderful|finally|precisely|sounds (?:good|great|perfect|right|like a plan)|looks (?:good|great|"
    r"perfect|"
    r"right)|lgtm|works for me|go ahead|proceed|do it|ship it|let'?s (?:go|do|start|begin|proceed|use|stick|keep|take|"
    r"try|move|confirm|lock))\b(?!,? (?:not|never|and no)\b)",
    r"\b(?:that|this|it)(?:'s| is| are| was| all)? (?:(?!not |never |hardly |barely )\w+ ){0,3}"
    r"(?:works|perfect|great|acceptable|good|excellent|fine|"
    r"correct|exactly (?:what|it)|what i (?:need|needed|want|wanted|expect|expected|had in mind)|a (?:great|good|solid|"
    r"perfect|fantastic|smart) (?:plan|idea|approach|start|compromise)|much (?:better|more))\b",
    r"\b(?:i|we) (?:(?!not |never |hardly |barely )\w+ )?"
    r"(?:agree|accept|approve|confirm|like (?:that|this|it|the)|love (?:that|this|it|the)|am happy "
    r"with|'m happy with|will go with|'ll go with|choose|chose|pick|am going with)\b|\bi'm (?:happy|fine|good) with\b",
)
_ASK = _rule(
    "ask",
    r"\?\W*$",
    _LEAD + r"(?:can|could|would|will|do|does|did|is|are|was|were|have|has|should|shall|may) (?:you|we|i|it|there|this|"
    r"that|they|the)\b",
    _LEAD
    + r"(?:what|which|who|where|when|why|how)(?:'s| is| are| do| does| did| can| should| would| about| many| much)\b",
    r"\b(?:i(?:'d| would) (?:like|love) (?:you )?to (?:know|hear|see|understand|ask|get)|i (?:want|need) (?:you|"
    r"to (?:know|"
    r"see|understand|hear|ask))|i was wondering|i'm wondering|let me know|tell me|show me|give me|help me|walk me "
    r"through|looking for (?:help|advice))\b",
)
_INSTRUCT = _rule(
    "instruct",
    _LEAD
    + r"(?:just |kindly |always |never |simply |further |also )?(?:add|adjust|analy[sz]e|apply|arrange|ask|avoid|book|"
    r"break|build|"
    r"call|cancel|change|check|choose|clean|come|comment|compare|compile|complete|confirm|consider|continue|convert|"
    r"copy|"
    r"correct|create|define|delete|deliver|deploy|describe|design|discuss|do|don't|draft|draw|edit|ensure|execute|"
    r"expand|explain|export|fill|find|finish|fix|focus|follow|format|generate|get|go|highlight|identify|implement|"
    r"improve|include|insert|install|integrate|keep|list|look|make|merge|modify|monitor|move|name|open|organi[sz]e|"
    r"outline|paste|plan|polish|post|prepare|present|print|prioriti[sz]e|produce|propose|provide|pull|push|put|read|"
    r"rebook|recommend|refactor|refine|refund|remind|remove|rename|reorder|rephrase|replace|report|rerun|research|"
    r"reserve|review|revise|rewrite|run|save|schedule|search|select|send|set|share|shorten|show|simplify|simulate|"
    r"solve|sort|split|start|stop|structure|suggest|summari[sz]e|switch|take|tell|test|translate|try|turn|update|"
    r"upgrade|use|verify|wait|write)\b(?! (?:is|are|was|were|has|have|had|would|can|will)\b)",
    r"\b(?:make sure|ensure|be sure|i (?:want|need|expect|require|would like|'d like) (?:you|it|them|this|that|the)|"
    r"you (?:must|should|need to|have to)|must (?:not )?(?:be|have|include|contain|use))\b",
)
_PROPOSE = _rule(
    "propose",
    r"\b(?:how about|what about|shall we|we could|we can|i (?:suggest|propose|recommend)|would you like|do you want|"
    r"let me know if|option \d|my (?:suggestion|recommendation|proposal)|you (?:could|might|may want))\b",
)
_CHAT = _rule(
    "chat",
    _LEAD + r"(?:thank|thanks|hello|hi|hey|bye|goodbye|good (?:morning|afternoon|evening|night|luck)|you'?re (?:very )?"
    r"welcome|my pleasure|no (?:problem|worries)|cheers|wow|haha|lol|welcome|congrat\w*|sorry|i(?:'m| am) sorry|i "
    r"apologi[sz]e|my apologies|take care|see you|enjoy|have a|got it|understood|noted|of course|certainly|ok|okay)\b",
)
_DELIVER = _rule(
    "deliver",
    r"\b(?:here(?:'s| is| are)|below (?:is|are)|i(?:'ve| have) (?:\w+ )?(?:drafted|prepared|created|compiled|"
    r"put together|"
    r"written|updated|outlined|designed|built|generated)|(?:draft|plan|schedule|itinerary|summary|outline|document|"
    r"version|table|list) (?:is|below|follows))\b",
)

_OF_PEOPLE = (_CORRECT, _REJECT, _ACCEPT, _ASK, _INSTRUCT, _CHAT)
_OF_AGENTS = (_PROPOSE, _ASK, _DELIVER, _CHAT)


@lru_cache(maxsize=256)
def act_of(sentence: str, *, by_agent: bool) -> Act:
    """Return the act of one sentence with straight quotes; "report" if no pattern matches.

    by_agent: True if an assistant is the speaker. People decide and instruct; agents propose and deliver.
    """
    for act, pattern in _OF_AGENTS if by_agent else _OF_PEOPLE:
        if pattern.search(sentence):
            return act
    return "report"


def acts_of(parts: Sequence[str], *, by_agent: bool) -> list[Act]:
    """Return the act of each sentence of a turn."""
    return [act_of(part, by_agent=by_agent) for part in parts]
