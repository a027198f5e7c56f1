"""Whether a rewritten statement stands alone, and is worth a line: who, what, and something specific in it.

Must not know: who said it, and how it was scored.
"""

import re

MIN_CONTENT = 2
"""Words that carry content. Fewer say nothing to somebody who was not there."""

MAX_MENTIONS = 2
"""Times that a statement names one speaker; more is a rewriting that went wrong."""
_WORD = re.compile(r"[^\W_][\w'./@#&+-]*")
_EMPTY = frozenset(
    """
    a an the and or but if so as at by for from in into of on onto out over to up with without about after before than
    then that this these those it its he she him her his they them their there here who whom which what when where why
    how i you we me us my your our mine yours ours i'm i've i'll i'd you're we're it's that's don't doesn't didn't isn't
    aren't wasn't weren't won't can't cannot couldn't shouldn't wouldn't haven't hasn't hadn't not no yes be am is are
    was
    were been being have has had having do does did doing will would shall should can could may might must get gets got
    getting go goes going gone went come comes let lets just really very much more most some any all both each every
    other another such only also too even still already again ever never always quite pretty lot lots bit thing things
    something anything everything nothing way ways kind sort one ones well good great nice better best right okay ok
    sure
    like want wants wanted need needs needed know knows think thinks thought feel feels felt see sees look looks looking
    make makes made take takes keep say says said tell tells user assistant user's others now time today day days
    actually
    please thanks thank help perfect exactly definitely absolutely guess hope hopes mean means idea point part
    """.split()
)
_DANGLING = re.compile(
    r"^(?:(?:and|but|so|or|because|which|who|also|then|plus|maybe|perhaps|well) )?(?:it|its|it's|this|that|that's|"
    r"these|"
    r"those|they|they're|he|she|there|here|such|same|both|one|ones)\b(?! (?:week|month|year|morning|evening|weekend|"
    r"user))",
    re.IGNORECASE,
)
_POINTS_AWAY = re.compile(
    r"\b(?:needs?|wants?|likes?|loves?|did|does|do|used?|got|gets?|found|saw|has|have|tried?|try|about|with|for|of|on|"
    r"to|"
    r"see|appreciates?|accepts?|understands?|agrees? with|reviewed?|read|likes) (?:it|this|that|these|those|them|so|"
    r"one|"
    r"everything|all of (?:it|this|that))(?:[.!?]| (?:is|was|and|but|now|right|very|so|too|too|all|as|before|again|"
    r"yet)\b)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\b(?:here(?:'s| is| are)|let me|let's (?:see|look|start|begin|move|keep going)|as follows|see (?:below|above)|"
    r"(?:is|are|am|was|were) (?:now |all |so |really |definitely )*(?:ready|excited|happy|glad|eager|"
    r"looking forward)(?: to)?\b|"
    r"wants? to (?:start|begin|continue|move on|kick off|dive|get (?:started|back|going)|go (?:over|through|ahead)|"
    r"focus on this|"
    r"make sure|confirm|check|clarify|discuss|talk|review|revisit|share|point out|add|ask|let)\b|moving on|next up|"
    r"in this (?:message|answer|conversation))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:can you|could you|would you|will you|please|let me know|tell me|show me|give me|help me|what do you think|"
    r"wonder(?:s|ing)|(?:is|are) curious|wants? you to|needs? you to|needs? (?:your )?help|"
    r"(?:would like|wants?|needs?|'d like|would prefer) (?:you|to (?:know|see|hear|ask|understand|get|have|book|cancel|"
    r"change|add|use|upgrade|proceed|make|return|exchange|modify|switch|rebook|adjust|remove|update|be sure))|"
    r"needs? (?:a|an|some|the|one|two|\d+) (?:[\w-]+ ){0,4}(?:overview|list|summary|examples?|draft|version|answer|"
    r"explanation|breakdown|update|copy|outline|template|details|specifics|confirmation)|"
    r"(?:write|create|give|make|generate|provide|draft|show|tell|send|find|suggest|explain) (?:me|us|the user|them)|"
    r"write (?:a|an|the|\d+)|rewrite|rephrase)\b",
    re.IGNORECASE,
)
_REACTS = re.compile(
    r"\b(?:appreciates?|thanks?|thank you|sounds? (?:good|great|like)|looks? (?:good|great|perfect|much better)|makes "
    r"sense|(?:is|was|are) (?:so |very |really |such )?(?:helpful|amazing|awesome|fantastic|wonderful|perfect|great|"
    r"glad|"
    r"happy|proud|sorry|thrilled|excited|relieved|impressed)\b(?! (?:with|about|at|in|to))|good (?:job|work|luck|"
    r"point)|"
    r"what .{1,40} (?:expects?|wanted|asked|needed|was looking for)|can't wait|got it|loud and clear|is on point)",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|probably|guess(?:es)?|suppose[sd]?|wonder|imagine|hypothetically)\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"\[[A-Z][^\]]{2,60}\]|<[A-Z][^>]{2,40}>|_{3,}|\{\{|\bXX+\b|lorem ipsum", re.IGNORECASE)
_PROGRESS = re.compile(
    r"\b(?:all \d+ tests? pass|tests? (?:pass|are passing)|let me (?:check|look|try|fix|run)|now (?:i|let)|running the|"
    r"the (?:issue|problem|error) (?:is|might|seems)|looking (?:at|into)|i'll (?:check|look|start|now|try))\b",
    re.IGNORECASE,
)


_TRANSIENT = re.compile(
    r"\b(?:can barely|heading (?:off|out|to)|about to (?:go|leave|start|head|run)|(?:is|are|was|were) (?:\w+ly |just |"
    r"finally |already |"
    r"so |still |now |a bit |all )*(?:tired|exhausted|drained|busy|hungry|sleepy|bored|confused|stuck|off|back|here|"
    r"done|good|fine|okay|"
    r"sure|waiting|feeling)\b(?! (?:with|at|in|for|on|from|of) [A-Z0-9])|gotta|have to go|has to go|brb|right now|"
    r"at the moment)\b",
    re.IGNORECASE,
)
_PRAISES = re.compile(
    r"\b(?:loves?|likes?|admires?|enjoys?|glad|excited|happy|proud|grateful|thankful|lucky|honou?red|blessed) (?:how|"
    r"the (?:thought|"
    r"idea|way|mapping|vibe|look|sound)|your?\b|that you|to (?:hear|see|have|know|be)|(?:for|of|about) (?:you|your|"
    r"the support)|"
    r"hearing|seeing|having you)",
    re.IGNORECASE,
)
_LACKS = re.compile(
    r"\b(?:(?:doesn't|does not|don't|do not) (?:have|remember|recall|know|see|understand|mind)|(?:isn't|is not|aren't|"
    r"not) (?:sure|certain)|"
    r"needs? (?:assistance|this|help)|forgot|can't (?:find|remember|see|wait))\b",
    re.IGNORECASE,
)
_WISDOM = re.compile(
    r"^(?:[A-Z][\w' ]{2,40} (?:is|are|can be) (?:so |such |really |truly |always |very |a |an |the )*(?:special|"
    r"important|amazing|"
    r"different|powerful|beautiful|wonderful|great|key|crucial|essential|tough|hard|rewarding|inspiring|reminder|"
    r"part of life|everything)"
    r"\b|(?:life|love|nature|art|music|family|friendship|time|success|change|everyone|people|we all|sometimes)\b)|"
    r"\b(?:teaches us|reminds us|helps us|makes us|brings us|keeps us|gives us|we all)\b",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"^(?:for|again|to|of|with|about|from|by|as|than|like|especially|including|such|even|just)\b[^,]*$", re.IGNORECASE
)
_MOOD = re.compile(
    r"\b(?:drained|swamped|overwhelmed|exhausted|fingers crossed|hopes? .{0,40}soon|wish(?:es)?|won't (?:quit|give up|"
    r"stop)|(?:feels?|"
    r"feeling|felt) (?:so |really |a bit |very |more |much |like )*(?:confident|excited|good|great|better|bad|sad|"
    r"lost|raw|proud|"
    r"relieved|stuck|nervous|anxious|hopeful|motivated|inspired)|head (?:is|was|started|starts)|brain (?:is|was)|"
    r"keeps? their head)\b",
    re.IGNORECASE,
)
_PINGS = re.compile(
    r"^(?:the user|\w+) (?:(?:has|have|had) (?:now |just |already |finally |been )*(?:looked|gone through|run|read|"
    r"reviewed|thought|"
    r"thinking|considered|seen|checked|tried|started|finished reading|opened)|just (?:wanted|looked|tried|finished|"
    r"ran)|will (?:go check|"
    r"try their best|start|get back|let|take a look|review|read|check|see|report|do that|action|handle)|"
    r"thinks they (?:can|have)|saw some|"
    r"(?:is|are) on step|got (?:it|that)|(?:was|were) (?:just )?(?:thinking|wondering|hoping|trying))\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"^(?:the user|\w+) (?:really |also |just |still |definitely )?(?:wants?|needs?|would (?:like|love|prefer)|"
    r"is looking for|was trying to|"
    r"thought|expects?|requires?) ",
    re.IGNORECASE,
)
_META = re.compile(
    r"\b(?:respond as|reply as|act as|you (?:are|will be) (?:a|an|my)|remember that i will be|if you understand|"
    r"as an ai|"
    r"this (?:chat|conversation|thread)|your (?:last|previous) (?:message|answer|reply)|unproductive|unacceptable|"
    r"irrelevant|"
    r"patience|waste of (?:my )?time|sharp sharp)\b",
    re.IGNORECASE,
)
_DEICTIC = re.compile(
    r"\b(?:this|these|those) (?!week|month|year|morning|evening|weekend|afternoon|summer|winter|spring|fall|time|"
    r"season|days?\b|past|last|"
    r"coming)[a-z]+|\bthat (?:one|route|plan|idea|kind|way|place|list|part|point|issue|option|approach|schedule|draft|"
    r"version|"
    r"document|step|section|topic)\b|\b(?:it|them|one|ones|there)(?=[.,;!]| (?:and|but|so|because|with|for|to|in|on|"
    r"at|as|when|now|too|up|out|"
    r"again|all)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[\w,;:)] )(?!I\b|The\b)[\"'(]?[A-Z][\w'-]+|\d|[\"'][A-Z]")


def is_named(content: str) -> bool:
    """Whether a statement holds a proper name, a number or a quoted title."""
    return _NAMED.search(content) is not None


def _is_dangling(content: str) -> bool:
    """Whether a word points at something that the statement does not name."""
    return _DEICTIC.search(content) is not None and _NAMED.search(content) is None


_AMONG_PEOPLE = (
    ("dangling reference", _DANGLING),
    ("points away", _POINTS_AWAY),
    ("template", _TEMPLATE),
    ("fragment", _FRAGMENT),
    ("praise", _PRAISES),
    ("wisdom", _WISDOM),
)
_AT_WORK = (
    *_AMONG_PEOPLE,
    ("announcement", _ANNOUNCES),
    ("request", _ASKS),
    ("reaction", _REACTS),
    ("progress", _PROGRESS),
    ("transient", _TRANSIENT),
    ("lack", _LACKS),
    ("about the conversation", _META),
    ("mood", _MOOD),
    ("progress", _PINGS),
)


def content_words(text: str) -> list[str]:
    """The words of a text that say something, in lower case; numbers and identifiers count."""
    found = [word.strip("'./-").lower() for word in _WORD.findall(text)]
    return [word for word in found if word and word not in _EMPTY and not (len(word) == 1 and not word.isdigit())]


def flaw(content: str, *, names: tuple[str, ...] = (), at_work: bool = True) -> str | None:
    """Why a statement is not worth keeping, or None.

    names: of its speakers, who are no content by themselves. at_work: a person talks to an agent; among people a short
    statement about oneself is worth keeping, and a wish is no request.
    """
    bare = content
    for name in names:
        bare = bare.replace(name, " ")
    if len(set(content_words(bare))) < 1:
        return "too little content"
    found = next(
        (reason for reason, pattern in (_AT_WORK if at_work else _AMONG_PEOPLE) if pattern.search(content)), None
    )
    if found is not None:
        return found
    return _flaw_of_subject(content, bare, names, at_work=at_work)


def _flaw_of_subject(content: str, bare: str, names: tuple[str, ...], *, at_work: bool) -> str | None:
    if _is_dangling(bare):
        return "dangling reference"
    if names and not any(name.lower() in content.lower() for name in names):
        return "about nobody"
    vague = not is_named(bare) and len(set(content_words(bare))) < 2 * MIN_CONTENT
    if at_work and vague and _WANTS.search(content):
        return "request"
    if any(content.count(name) > MAX_MENTIONS for name in names):
        return "garbled"
    return "unfinished" if content.rstrip().endswith(("…", "?", ":")) else None


def is_unreal(content: str) -> bool:
    """Whether a statement is a guess or a hypothesis."""
    return _UNREAL.search(content) is not None
