"""Patterns of English words that show why a statement is unclear alone, each with the name of its flaw."""

import re

DANGLING = re.compile(
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
ASKS = re.compile(
    r"\b(?:can you|could you|would you|will you|please|let me know|tell me|show me|give me|help me|what do you think|"
    r"wonder(?:s|ing)|(?:is|are) curious|wants? you to|needs? you to|needs? (?:your )?help|"
    r"(?:would like|wants?|needs?|'d like|would prefer|looking|hoping) (?:you|to (?:know|see|hear|ask|understand|get|"
    r"have|book|cancel|change|add|use|upgrade|downgrade|proceed|make|return|exchange|modify|switch|rebook|adjust|"
    r"remove|update|call|be sure))|"
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
UNREAL = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|probably|guess(?:es)?|suppose[sd]?|wonder|imagine|hypothetically)\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\[[A-Z][^\]]{2,60}\]|<[A-Z][^>]{2,40}>|_{3,}|\{\{|\bXX+\b|lorem ipsum|\[e\.g\.|: \(e\.g\.",
    re.IGNORECASE,
)
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
    r"(?:has|have) (?:\w+ )?(?:updated|changed|edited|modified|refreshed|uploaded|attached|pasted|reverted) (?:their|"
    r"the|my) (?:\S+ ){0,2}(?:files?|code|config\w*|settings|readme|screenshots?|\S+\.\w{1,4})(?![\w/])|"
    r"(?:is|are) still (?:trying|working|waiting|looking)|"
    r"(?:is|are) on step|(?:is|are) trying to (?:understand|figure|see|get|find|make sense|remember|decide|say)|"
    r"wants? to now|now wants?|got (?:it|that)|(?:was|"
    r"were) (?:just )?(?:thinking|wondering|hoping|trying))\b",
    re.IGNORECASE,
)
WANTS = re.compile(
    r"^(?:the user|\w+) (?:really |also |just |still |definitely )?(?:wants?|needs?|would (?:like|love|prefer)|"
    r"is looking for|was trying to|"
    r"thought|expects?|requires?) ",
    re.IGNORECASE,
)
DISPUTED = re.compile(
    r"\b(?:my memory is (?:\w+ ){0,2}(?:clear|hazy|fuzzy|failing|perfect|sharp)|distinctly (?:recall|remember)s?|"
    r"your (?:records?|memory|notes) (?:is|are|says?|shows?)|you already (?:have|know) (?:it|this|that|them|all)|"
    r"(?:i|we)(?:'ve| have)? already (?:answered|covered|explained|provided|"
    r"(?:agreed(?: on)?|discussed|gave|given|sent|talked about) (?:you|it|this|that|these|those|them))|"
    r"you (?:specifically|explicitly|clearly|literally) (?:said|stated|told|wrote|presented|mentioned|confirmed)|"
    r"(?:i|we) thought (?:that )?we (?:just|already|had))\b",
    re.IGNORECASE,
)
"""Words of a person who disputes what the agent remembers."""
META = re.compile(
    r"\b(?:respond as|reply as|act as|you (?:are|will be) (?:a|an|my)|remember that i will be|if you understand|"
    r"as an ai|"
    r"this (?:chat|conversation|thread)|your (?:last|previous) (?:message|answer|reply)|unproductive|unacceptable|"
    r"irrelevant|the (?:latest version|contents?|code) of|i (?:hear|told|asked|already told|already asked) you|"
    r"you (?:already )?(?:said|told me|asked|promised|confirmed|suggested|captured|understood|nailed|are repeating)|"
    r"patience|waste of (?:my )?time|sharp sharp)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:has|had|gets?|got|is getting|sees?|is seeing|faces?|is facing|encounters?|is encountering|is giving|gives|"
    r"with)"
    r"\b.{0,40}\b(?:errors?|issues?|problems?|bugs?|exceptions?|40[0-9]|500|failures?)\b|\bwhen the user (?:runs?|"
    r"tries|"
    r"opens?|clicks?|starts?)\b|\b(?:does not|doesn't|isn't|not) work(?:ing)?\b|\bfails? to\b|\bfailed to\b",
    re.IGNORECASE,
)
"""A current problem: its end is worth keeping, its existence is not."""
SCOLDS = re.compile(
    r"\bmy (?:\w+ )?(?:instruction|directive|command|demand)s? (?:was|were|is|are|remains?)\b|"
    r"\bi(?: have|'ve)? (?:explicitly|repeatedly|clearly)\b|\bi (?:stated|specified|demanded|instructed|reiterate)\b|"
    r"\bi (?:don't|do not) care\b|\b(?:i'm|i am) not (?:here|paying|interested)\b|"
    r"\byou(?:'re| are| have|'ve)? (?:\w+ly |still )?(?:failing|failed|missed|missing|wasting|merely)\b|"
    r"\byour (?:inability|failure|excuses?|incompetence)\b|\b(?:missed|missing|miss) the point\b|"
    r"\bdereliction\b|\b(?:won't|doesn't|does not) cut it\b|\btells me nothing\b|\btime is a luxury\b|"
    r"\bstop (?:explaining|making|wasting)\b",
    re.IGNORECASE,
)
"""Words of a person who is angry with the agent: of eight such memories, readers called one useful."""
UNMARKED = re.compile(
    r"^(?:(?:and|so|ok|okay|hm+|also) )?(?:what'?s|how'?s|(?:the )?best way to|good way to|any (?:way|idea)|"
    r"let'?s say)\b|"
    r"\bnot sure (?:which|what|how|why|if|whether|where|who)\b|"
    r"^(?:in|for|with) \w+ (?:should|can|does|do) |\bwhy (?:can|does|do|isn't|don't|doesn't)\b",
    re.IGNORECASE,
)
"""A question of a person to an agent without a question mark."""
OF_AGENT = re.compile(
    r"\b(?:as a(?: large)? language model|i lack the (?:ability|capacity)|modify my own code|my training data)\b",
    re.IGNORECASE,
)
"""What an agent says of itself, pasted by a person."""
SOMEBODY = re.compile(r"\b(?:she|he|her|him|his|hers|herself|himself)\b", re.IGNORECASE)
PERSON = re.compile(
    r"\b(?:mom|mum|mother|dad|father|parents?|wife|husband|partner|spouse|son|daughter|kids?|child|children|baby|"
    r"brother|"
    r"sister|cousin|uncle|aunt|nephew|niece|grand\w+|friend|girlfriend|boyfriend|fianc\w+|boss|manager|colleague|"
    r"coworker|"
    r"client|customer|doctor|nurse|teacher|professor|mentor|neighbo\w+|roommate|flatmate|housemate|dentist|therapist|"
    r"tutor|accountant|landlord|dog|cat|puppy|kitten|pet|"
    r"horse|"
    r"man|woman|guy|girl|boy|lady|agent|developer|engineer|lawyer|coach|trainer|mechanic|director|ceo|cto|md)s?\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:kindly |just |simply |then |now |also )?(?:act|add|adjust|analy[sz]e|announce|apply|assume|build|caters?|"
    r"change|"
    r"check|chop|coach|come up|compare|consider|continue|convert|correct|create|cut|define|describe|design|do|don't|"
    r"draft|"
    r"drop|edit|elaborate|end|expand|explain|extend|fill|find|fix|focus|follow|generate|give|go|help|imagine|implement|"
    r"improve|include|integrate|let|list|look|make|modify|move|play|please|prepare|present|pretend|propose|provide|put|"
    r"read|refactor|remove|rename|reorder|rephrase|replace|reply|respond|return|review|revise|rewrite|roll|run|seek|"
    r"send|"
    r"set|share|shorten|show|simplify|split|start|stop|suggest|summari[sz]e|switch|take|tell|test|translate|try|turn|"
    r"update|use|wait|write)\b(?!['\u2019]|:|[-_.]\w| (?:is|are|was|were|has|have|had|would|can|will|helps?|makes?|"
    r"takes?)\b)",
    re.IGNORECASE,
)
DEICTIC = re.compile(
    r"\b(?:this|these|those) (?!week|month|year|morning|evening|weekend|afternoon|summer|winter|spring|fall|time|"
    r"season|days?\b|past|last|"
    r"coming)[a-z]+|\bthat (?:one|route|plan|idea|kind|way|place|list|part|point|issue|option|approach|schedule|draft|"
    r"version|"
    r"document|step|section|topic)\b|\b(?:it|them|one|ones|there)(?=[.,;!]| (?:and|but|so|because|with|for|to|in|on|"
    r"at|as|when|now|too|up|out|"
    r"again|all)\b)",
    re.IGNORECASE,
)
CUT_OFF = re.compile(
    r"(?:\b(?:are|is|was|were|has|have|and|or|but|because|if|which|the|a|an|its|their|our|my|your|of|with|as|than|"
    r"including|e\.g|i\.e|ie|\w+'ve|they're|we're|i'm|as follows|the following|such as|namely|"
    r"(?:adjust|change|move|set|switch|update) (?:it|them|this|that) to),?|(?<!\d),)[.!]?$",
    re.IGNORECASE,
)
NAMED = re.compile(r"(?<=[\w,;:)] )(?!I\b|The\b)[\"'(]?[A-Z][\w'-]+|\d|[\"'][A-Z]")


_CODE = re.compile(r"[{}<>|]|^\+|^//|\*\*|^(?:return|const|import|def|func|if) ")
"""Code, markup or a table that looks like a sentence."""
_HALF_QUESTION = re.compile(
    r"^(?:how|why|can|could|does|do|did|is|are|may|which|"
    r"what (?:up|is|are|has|have|do|does|did|fix|should|would|will))\b",
    re.IGNORECASE,
)
"""A question without a question mark."""
_ADDRESSES = re.compile(r"(?<!\w)(?:you|your|you're|you'll|you've|yours)\b", re.IGNORECASE)
"""Words addressed to a person whom the statement does not name."""
_CONTINUES = re.compile(
    r"^(?:then|next|uh+|um+|sounds?|seems|maybe|presumably|perhaps|once|in fact|instead of|apparently|anyway|sorry|"
    r"thanks?|congrats|yeah|yep|ok|okay|hey|wow|luckily|not this)\b",
    re.IGNORECASE,
)
"""The start of a sentence that continues the previous one."""
_FEELS = re.compile(
    r"\b(?:can't wait|fingers crossed|hopes? (?:they|it|you)|appreciates?|bets?\b|imagines?\b)", re.IGNORECASE
)
"""Moods, and guesses about another person."""
DISFLUENT = re.compile(r"\b(?:uh|um|mm|hmm|hhh)\b|\b(\w{1,5}) \1 \1\b", re.IGNORECASE)
"""Transcribed speech with disfluencies."""


AMONG_PEOPLE = (
    ("dangling reference", DANGLING),
    ("points away", _POINTS_AWAY),
    ("template", _TEMPLATE),
    ("fragment", _FRAGMENT),
    ("praise", _PRAISES),
    ("wisdom", _WISDOM),
    ("code", _CODE),
    ("question", _HALF_QUESTION),
    ("continuation", _CONTINUES),
    ("feeling", _FEELS),
)
AT_WORK = (
    *AMONG_PEOPLE,
    ("announcement", _ANNOUNCES),
    ("request", ASKS),
    ("reaction", _REACTS),
    ("progress", _PROGRESS),
    ("transient", _TRANSIENT),
    ("lack", _LACKS),
    ("about the conversation", META),
    ("about what is remembered", DISPUTED),
    ("mood", _MOOD),
    ("trouble of the moment", _TROUBLE),
    ("imperative", _IMPERATIVE),
    ("progress", _PINGS),
    ("addresses somebody", _ADDRESSES),
)
