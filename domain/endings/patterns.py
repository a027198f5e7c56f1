"""English patterns of sentences that call off a plan, lift an instruction or correct a value."""

import re
from typing import Literal

Direction = Literal["demand", "prohibition", "either"]
"""Which instructions a sentence can lift: demands, prohibitions, or both."""

_F = re.IGNORECASE


def _any(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), _F)


_LEAD = (
    r"^(?:(?:ok|okay|alright|right|well|oh|ah|so|and|but|then|now|also|hmm|hey|please|sorry|actually|no|nope|wait|yes|"
    r"yeah|on second thought|great|good|thanks|by the way|just)[\s,.!:;-]+){0,4}"
)
_BID = r"(?:let's |let us |(?:we|you) (?:can|should|will) |we'll )?(?:please |just )?"
_EXIT = (
    r"(?=\s*(?:[,;:.!()\u2013\u2014]|$|-{1,2}\s|"
    r"\b(?:and|because|since|as|altogether|entirely|completely|for good|after all)\b))"
)
_THE = r"(?:the|my|our|that|this|your|all (?:of )?(?:the|my|our))"
_THING = rf"(?P<what>{_THE} [^,;:.!?]{{3,80}}?){_EXIT}"
_ANYTHING = rf"(?P<what>[^,;:.!?]{{3,80}}?){_EXIT}"
_DEED = r"(?P<what>[^,;:.!?]{3,80}?)"
_PLAN = (
    r"(?:plans?|ideas?|projects?|proposals?|decisions?|approach|schemes?|experiments?|campaigns?|roll-?outs?|launch|"
    r"initiatives?|concepts?|strategy|migration|trips?|events?|part(?:y|ies)|workshops?|redesign|rewrite|offsite)"
)
_NO_MORE = r",? (?:any ?more|any longer|after all)\b"
_FROM_NOW_ON = r",? (?:any ?more|any longer|from now on|going forward|in (?:the )?future)\b"
_WE = rf"{_LEAD}(?:i|we)(?:'ve| have)? (?:now |just |finally |both )?"
_WE_ARE = rf"{_LEAD}(?:i'm|i am|we're|we are) "

CALLS_OFF = (
    _any(_LEAD, _BID, r"(?:scrap|ditch|shelve|abandon|call off) ", _THING),
    _any(
        *(_LEAD, _BID, r"(?:drop|forget|forget about|cancel|discard|kill|skip) "),
        rf"(?P<what>{_THE} (?:[\w'/&-]+ ){{1,6}}{_PLAN}(?: (?:for|of|to|with|in) [^,;:.!?]{{2,60}}?)?){_EXIT}",
    ),
    _any(
        *(_LEAD, r"(?:drop|forget|cancel|scrap|kill) "),
        rf"(?P<what>{_THE} {_PLAN} (?:for|of|to|with|about) [^,;:.!?]{{3,60}}?){_EXIT}",
    ),
    _any(_WE, r"decided (?:against|not to) ", _ANYTHING),
    _any(_WE, r"(?:called off|scrapped|dropped|abandoned|shelved|cancell?ed|ditched) ", _THING),
    _any(
        *(_WE_ARE, r"no longer (?:going ahead with|going with|going for|doing|pursuing|using|planning|considering) "),
        _ANYTHING,
    ),
    _any(_WE_ARE, r"not (?:going ahead with|going with|doing|pursuing|using|planning) ", _DEED, _NO_MORE),
    _any(
        *(_LEAD, r"(?:i|we) (?:won't|will not|don't want to) (?:be )?"),
        *(r"(?:do|doing|use|using|go(?:ing)? with|pursue|pursuing|need|needing) ", _DEED, _NO_MORE),
    ),
    _any(
        *(_LEAD, r"(?P<what>(?:the|our|my) [\w '/&-]{3,60}?) (?:is|has been|was) (?:now |officially |just )?"),
        r"(?:off the table|cancell?ed|called off|scrapped|shelved)",
        r"(?=\s*(?:[,;.!]|$|now\b|because\b|since\b|after all\b))",
    ),
)
"""The group `what` is the thing that the sentence calls off."""

LIFTS: tuple[tuple[Direction, re.Pattern[str]], ...] = (
    (
        "prohibition",
        _any(
            *(_LEAD, r"(?:you (?:can|may|could)|(?:please )?feel free to|you(?:'re| are) free to|"),
            r"it(?:'s| is) (?:ok|okay|fine) (?:for you )?to) (?:now |start |go back to )?",
            *(_DEED, r",? again\b(?! (?:later|tomorrow|in a|if|when|until))"),
        ),
    ),
    (
        "prohibition",
        _any(
            *(_LEAD, r"(?P<what>[\w'-]+(?: [\w'-]+){0,4}) (?:is|are) (?:ok|okay|fine|allowed|welcome|permitted)"),
            r"(?: to use)? again\b",
        ),
    ),
    (
        "either",
        _any(
            *(_LEAD, r"(?:you can |please |just )?(?:forget|ignore|disregard|never mind|drop|scrap)(?: about)? "),
            r"(?:what i(?:'ve)? (?:said|told you|asked(?: for| you)?|wrote|mentioned)(?: earlier| before)?|",
            r"(?:my|the|that) (?:earlier |previous |old |last |standing )?",
            r"(?:instructions?|rules?|requests?|requirements?|preferences?)) ",
            *(r"(?:about|on|regarding|concerning|for|to|that you should|that) ", _ANYTHING),
        ),
    ),
    (
        "either",
        _any(
            *(_LEAD, r"(?:you can |please |just )?(?:forget|ignore|disregard|drop|scrap|lift|remove|cancel) "),
            *(r"(?:the|my|that) (?P<what>(?:[\w'-]+ ){1,5})(?:rule|instruction|requirement|restriction|ban)s?", _EXIT),
        ),
    ),
    ("demand", _any(_LEAD, r"(?:there's |there is )?no (?:more )?need to ", _DEED, _FROM_NOW_ON)),
    ("demand", _any(_LEAD, r"you (?:don't|do not|needn't) (?:have to |need to )?", _DEED, _FROM_NOW_ON)),
    ("demand", _any(_LEAD, r"you no longer (?:have to|need to) ", _ANYTHING)),
    ("demand", _any(_LEAD, r"i no longer (?:want|need|require|expect) you to ", _ANYTHING)),
)
"""The group `what` is the content of the lifted instruction."""

_NAME = r"(?!I\b|I'|We\b|It\b|The\b|You\b|They\b|He\b|She\b)[A-Z][\w'.&/-]*"
_DAY = (
    r"(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|"
    r"october|november|december|today|tomorrow|tonight|noon|midnight|morning|evening)"
)
_UNIT = r"(?i:am|pm|percent|euros?|dollars?|usd|eur|people|guests|days|weeks|hours|minutes|years)"
_BEFORE_VALUE = (
    r"(?:a |an |the |on |at |in |to |by |for |from |seat |room |gate |platform |version |number |no\. |\$|€|£|['\"])*"
)
_VALUE = (
    rf"{_BEFORE_VALUE}(?:{_NAME}(?: (?:of |de |la |the )?{_NAME}){{0,3}}|{_DAY}|[\w-]*\d[\w:.,/%-]*)"
    rf"(?: (?:{_DAY}|\d[\w:.,/%-]*|{_UNIT}))?['\"]?"
)
_OLD, _NEW = rf"(?P<old>{_VALUE})", rf"(?P<new>{_VALUE})"
_AT_END = r"(?=\s*(?:[.!,;]|$))"
_GOES = (
    r"(?P<chooses>(?:we|I)(?:'re|'m|'ll| are| am| will)? (?:go(?:ing)?|fly(?:ing)?|travel(?:ling|ing)?|tak(?:e|ing)|"
    r"us(?:e|ing)|meet(?:ing)?|book(?:ing)?|pick(?:ing)?|want|chose|choose|said|meant))(?: (?:with|to|for|in|on|at))?"
)
_MOVES = r"(?P<chooses>\b(?:[Ww]e|[Ii])(?:'ve| have)? (?:now |just )?(?:switched|moved|migrated))\b"
_NO_ROUTE = r"(?:(?!flight|trip|train|route|ticket|bus|journey|ride)[^.;:!?]){0,40}?"
"""Words between a change and its values: "my flight from Rome to Oslo" changes no value."""
_TAKES = (
    r"(?P<chooses>\b(?:[Ll]et's|[Ww]e'll|[Ii]'ll|[Ww]e will|[Ww]e|[Ii]) (?:rather )?"
    r"(?:use|go with|take|pick|choose|book|fly to|go to|travel to|meet on|meet in|meet at|do))\b"
)
_INSTEAD = r" (?:instead of|rather than) "

CORRECTS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Nn]ot {_OLD},? (?:but|it's|it is|make it|rather)(?: rather)? {_NEW}",
        rf"\b[Nn]ot {_OLD}[,;:]? {_GOES} {_NEW}",
        rf"{_NEW},? (?:and |but )?not {_OLD}{_AT_END}",
        rf"{_MOVES}{_NO_ROUTE} from {_OLD} to {_NEW}",
        rf"{_TAKES}[^.;:!?]{{0,40}}?{_NEW}{_INSTEAD}{_OLD}",
        rf"\b[Uu]se {_NEW}{_INSTEAD}{_OLD}{_AT_END}",
    )
)
"""The group `old` is the wrong value and `new` the right one; `chooses` matches if the new value is a choice."""

UNCERTAIN = re.compile(
    r"\?|\b(?:if|whether|unless|would|could|might|may be|maybe|perhaps|should we|shall we|for now|for today|right now|"
    r"this time|just this once|yet|not sure|don't know|thinking (?:of|about)|consider(?:ing)?|suppose|imagine|either|"
    r"someone|everyone|nobody|people|they|he|she|wish|hope|(?<!-)only|just because)\b",
    _F,
)
"""A question, a hypothesis, a temporary state, or other people's habits: such a sentence ends nothing."""
