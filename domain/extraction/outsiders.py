"""Check whether a statement is clear to a reader who did not take part in the conversation.

People who talk to each other omit what all of them know: the subject, the occasion, how certain it is. A memory of such
a talk needs a name or a number, a whole sentence, and no condition.
"""

import re

from slowwave_server.domain.extraction.flaws import AT_WORK, CUT_OFF, DANGLING
from slowwave_server.domain.extraction.machine_text import is_machine_text
from slowwave_server.domain.extraction.outcomes import has_specifics
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.standalone import content_words, is_named, is_unreal
from slowwave_server.domain.extraction.tone import is_rambling
from slowwave_server.domain.similarity.lexicon import is_common_word

LEAST_WORDS = 5
"""Minimum content words."""
_SHOULD = re.compile(r"\bshould\b", re.IGNORECASE)
_AGENDA = re.compile(r"\(\d{1,3} ?m(?:in(?:utes)?)?\b")
"""The planned length of an item: "(5m, Lee)"."""
_VERB = re.compile(
    r"\b(?:am|is|are|was|were|be|been|has|have|had|do|does|did|can|could|will|would|should|may|might|must|"
    r"[a-z]{2,}(?:s|ed))\b|n't\b|'(?:m|re|ve|d|ll|s)\b",
)
_CONNECTIVE = re.compile(
    r"(?:so(?! far)|and|but|or|also|because|though|plus|otherwise|again|still|yet|therefore|then|thus|hence)\b",
    re.IGNORECASE,
)
"""The start of a sentence whose subject is in an earlier message."""
_UNNAMED = re.compile(
    r"\b(?:the|this|my|your|our) (?:PR|diff|patch|commit|pull request|follow-up)\b(?! ?#?\d)|"
    r"(?:^|[.!?] )(?:adds|fixes|makes|removes|wraps|saved|built|wrapped|added|fixed|tested|removed) ",
    re.IGNORECASE,
)
"""A change whose number or name is in another message, and a sentence without a subject."""
_SECOND_SPEAKER = re.compile(
    r"(?:^|[.!?;] )[A-Z][\w ]{0,30} \((?:in|on|via|from|by) (?:the )?chat\)\s?:|"
    r"[.!?] (?!OK|PS|NB|PR|FYI|BTW)[A-Z]{2,3}: [A-Z]"
)
"""A scribe's line inside the statement: "… Agreed. ZB (on chat): Keep both"."""
_ELSEWHERE = re.compile(
    r"(?:^|[.!?;,] )(?:this|these|those|that)(?:'s)? (?:is|was|are|were|will|can|has|would|removes?|means?|one)\b|"
    r"(?:^|[.!?;,] )that's\b|^other \w+|\b(?:these new|the other one|of (?:these|those|them))\b(?=[.,;!]|$)| -- |"
    r"\b(\w+), \1,",
    re.IGNORECASE,
)
"""A word for something in an earlier sentence, and speech that breaks off."""
_RUN_TOGETHER = re.compile(
    r"(?<=[a-z0-9)] )(?:We|This|That|It|They|But|Both|If|When|Use|Also|Only|Need|Then|Now|Issue is|Wrote|"
    r"(?:Investigat|Discuss|Fix|Review|Land|Look|Work|Fil|Add)ed)\b"
)
"""A scribe's next line without a stop before it."""
_DIARY = re.compile(
    r"(?:^|[.!?] )(?:investigat|discuss|learn|rebas|debugg|attend)(?:ed|ing) |, (?:learned|rebasing)\b|"
    r"(?<=[a-z]) reviews?[.]?$",
    re.IGNORECASE,
)
"""What its writer did today."""
_NAMED_AGAIN = re.compile(r"^(?P<first>[A-Z][a-z]+): [a-z]|(?<=[a-z] )(?P<inside>[A-Z][a-z]+): [a-z]")
"""The name of another speaker in a scribe's line: "Ida: we keep both", "works for both Ida: no, for one"."""
_MEETING = re.compile(
    r"\b(?:hand(?:ing)? (?:it |this |things )?(?:over|off) to|pass the word|"
    r"(?:have|has|take|yield)s? the floor|next up|call(?:ing)? on you|raise your hands?|"
    r"welcome (?:to the|all|every\w+)|(?:coffee|lunch|short|minute) break|today's (?:agenda|call|meeting)|"
    r"agenda (?:today|is|for|item|overview)|meeting (?:began|opened|started|will be hosted)|"
    r"share (?:my|your) screen|on the speaker queue|"
    r"(?:our|the) next (?:agenda )?(?:item|speaker|presenter|witness)|consent agenda|public hearing tonight|"
    r"moves? (?:to (?:approve|adopt|adjourn|table|accept)|amendments? \d|(?:the )?(?:adoption|approval|motion))|"
    r"motion (?:passe[sd]|carrie[sd]|fail(?:s|ed))|i(?:'?m|\s?m| am) here with|(?-i:recogni[sz]e [A-Z]\w*)|"
    r"(?-i:call (?:up)?on (?:the )?[A-Z]\w*)|we(?:'ll| will)? (?:now )?move on to|(?:this|next|previous) slide|"
    r"a quick (?:look|overview|review|recap) (?:at|of)|(?:listed|shown) here)\b|^ha\b",
    re.IGNORECASE,
)
"""Words of people who run a meeting or show something there, and a joke."""
_UNDER_REVIEW = re.compile(
    r"\bmake (?:\w*test|check)\b|\bPASS\b|"
    r"\b\d[\d,]* (?:tests? )?(?:passed|failed|skipped)(?=[,;.)])|(?<!\w)[+]\d+/-\d+\b|"
    r"\b(?i:docs?-only|no (?:production )?code (?:is |was )?(?:touched|changed))\b"
)
"""The size of a change under review, and the results of its tests, which the next run replaces."""
_UNCLEAR = tuple(pattern for name, pattern in AT_WORK if name in {"reaction", "transient", "imperative"})
_FOR_SALE = re.compile(
    r"(?=.*[£$€]\s?\d).*\b(?:for sale|sold|ono|v\.? ?g\.? ?c|in good condition|clean condition|collection only|"
    r"(?:plus|inc\w*) (?:post\w*|p&p))\b",
    re.IGNORECASE,
)
"""An offer with its price."""
_SYMPTOM = re.compile(
    r"\b(?:(?:facing|having|have|hit|hitting|getting|seeing|see|found|got|same|up against) "
    r"(?:an?|the|this|that|some|same|any)? ?(?:[\w-]+ ){0,3}(?:issues?|errors?|problems?|bugs?|exceptions?|panics?|"
    r"crash(?:es)?)|fail(?:s|ed)|crash(?:es|ed|ing)|refuses|disappears|cuts out|hangs|"
    r"not (?:working|updating|showing|responding)|(?:doesn't|does not|don't|do not|won't) (?:work|start|load|update|"
    r"respond|open)|(?:cannot|can't|unable to) (?:seem|get|open|start|install|connect|log|find|see|load|run))\b",
    re.IGNORECASE,
)
_CURE = re.compile(
    r"\b(?:because|since|due to|caused?|reason|fix(?:ed|es)?|solv\w+|resol\w+|solution|work(?:ed|s)?[ -]?arounds?|gone|"
    r"no more|no longer|instead|try|need(?:s|ed)? to|requires?|released?|until)\b",
    re.IGNORECASE,
)
"""Words of a cause or a cure. A problem alone is of no use later: readers called none of four useful."""
MIN_LISTED = 8
"""Minimum lines or sentences of a listing."""
MOST_STATED = 0.2
"""Maximum share of them that have a verb."""
_SENTENCE_END = re.compile(r"[.!;] ")


_HOLDS = re.compile(
    r"\b(?:decided|agreed|will|consensus|plans? to|action|resol(?:ved|ution)|appointed|released?|until|since|"
    r"support(?:s|ed)?|against|oppos\w+|approved?|requires?|must|only)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(?<=[\w,;:)] )(?!I\b)[A-Z][\w'-]+")
SEVERAL = 3
"""Minimum names of a statement that says something without a word of `_HOLDS`."""


def is_clear_to_outsiders(said: str, asked: str | None = None) -> bool:
    """Return True if a statement is clear to outsiders. asked: the question it answers, if the memory contains it."""
    return (
        (is_named(said) or has_specifics(said))
        and len(set(content_words(f"{asked or ''} {said}"))) >= LEAST_WORDS
        and not (is_unreal(said) or _SHOULD.search(said))
        and (asked is not None or (DANGLING.search(said) is None and all(map(_VERB.search, _SENTENCE_END.split(said)))))
        and not any(
            pattern.search(said)
            for pattern in (
                *(_AGENDA, _UNNAMED, _UNDER_REVIEW, _SECOND_SPEAKER, _MEETING, _FOR_SALE),
                *(_ELSEWHERE, _RUN_TOGETHER, _DIARY, *_UNCLEAR),
            )
        )
        and not _speaks_for_another(said)
        and _CONNECTIVE.match(said) is None
        and CUT_OFF.search(said) is None
        and (_SYMPTOM.search(said) is None or _CURE.search(f"{asked or ''} {said}") is not None)
        and said.count("(") <= said.count(")")
        and not is_machine_text(said)
        and not is_rambling(said)
    )


def _speaks_for_another(said: str) -> bool:
    """Return True if the dictionary lacks a label in a statement, so that the label is a name."""
    match = _NAMED_AGAIN.search(said)
    return match is not None and not is_common_word((match["first"] or match["inside"]).lower())


def says_what_holds(said: str) -> bool:
    """Return True if a statement tells a decision, a rule or a term, or names several things."""
    return _HOLDS.search(said) is not None or len(_NAMES.findall(said)) >= SEVERAL


def has_verb(said: str) -> bool:
    """Return True if an English statement has a finite verb, as far as its words show."""
    return _VERB.search(said) is not None


def is_inference(said: str) -> bool:
    """Return True for a step of thought: "But the entry might have no key", "So the old file should be gone"."""
    return _CONNECTIVE.match(said) is not None and (is_unreal(said) or _SHOULD.search(said) is not None)


def is_listing(text: str) -> bool:
    """Return True if an English turn is a poster, a playlist or another list of names, not its speaker's statements."""
    lines = list(sentences(text))
    stated = sum(_VERB.search(line) is not None for line in lines)
    return len(lines) >= MIN_LISTED and stated < MOST_STATED * len(lines)
