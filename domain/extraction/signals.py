"""Detect the named signals in one sentence, by words (the lexicon), short patterns, and the sentence's shape."""

import re
from dataclasses import dataclass

from slowwave_server.domain.extraction import verbs
from slowwave_server.domain.extraction.words import WORDS

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"(?<=[a-z,;] )(?!God\b|I')[A-Z][^\W\d_]{2,}")

_ASKS_YOU = re.compile(r"\b(?:you|your)\b[^?]*\?\W*$")

_BE = "i'm im am"
_HAVE = "i've ive have we've had"
_WILL = "i'll will we'll gonna"


def _pattern(
    name: str, needs: str, pattern: str, *, weight: float | None = None
) -> tuple[str, frozenset[str], re.Pattern[str], float | None]:
    """Build a signal of a few words. It is searched only if `needs` is empty or the text contains one of these words.

    weight: its weight for the decision to keep a sentence, if it was set by hand.
    """
    return name, frozenset(needs.split()), re.compile(pattern), weight


PATTERNS = (
    _pattern("i_am", _BE, r"\b(?:i'm|im|i am)\b"),
    _pattern(
        "i_am_a",
        f"{_BE} was i've been",
        r"\b(?:i'm|im|i am|i was|i've been) (?:also |currently |actually |just )?(?:an? |from |in |the )",
    ),
    _pattern(
        "i_like",
        "like love enjoy hate prefer dislike liked loved enjoyed",
        r"\bi (?:\w+ ){0,2}(?:like|love|enjoy|hate|prefer|dislike|liked|loved|enjoyed)\b",
    ),
    _pattern(
        "i_have",
        "have had own owns got bought",
        r"\b(?:i|we) (?:\w+ )?(?:have|had|own|got|bought) (?:an? |two |three |\d|my |some |one |many |the |lots )",
    ),
    _pattern(
        "i_have_done",
        _HAVE,
        r"\b(?:i've|ive|i have|we've|we have) (?:\w+ )?(?:been|never|always|had|seen|done|tried|lived|got)\b",
    ),
    _pattern("i_will", _WILL, r"\b(?:i'll|i will|we'll|we will|i'm gonna)\b"),
    _pattern(
        "i_want",
        "want need hope plan wish decided love like going planning hoping trying looking considering learning saving",
        r"\b(?:i|we) (?:\w+ )?(?:want|need|hope|plan|wish|decided)\b|\b(?:i'd|i would) (?:\w+ )?(?:love|like)\b|"
        r"\b(?:i'm|im|i am|we're|we are) (?:\w+ )?(?:going|planning|hoping|trying|looking|considering|learning|"
        r"saving)\b",
    ),
    _pattern(
        "i_cannot",
        "can't cant cannot not couldn't don't dont didn't haven't won't never",
        r"\bi (?:can't|cant|cannot|can not|couldn't|don't|dont|do not|didn't|haven't|have not|won't|never)\b",
    ),
    _pattern(
        "i_think",
        "think guess bet mean suppose believe feel thought heard know see",
        r"\b(?:i|i've) (?:\w+ )?(?:think|guess|bet|mean|suppose|believe|feel|thought|heard|know|see)\b",
    ),
    _pattern(
        "my_x_is",
        "my our",
        r"\b(?:my|our) (?:\w+ ){1,3}(?:is|are|was|were|has|have|had|loves|likes|works|lives|and i)\b",
    ),
    _pattern("my_favourite", "my our", r"\b(?:my|our) (?:\w+ )?fav"),
    _pattern(
        "about_you",
        "you u your you're you'll it hear",
        r"\b(?:i (?:hope|bet|think|know|see|guess|wish|heard|understand|am glad|am sure|am sorry)|i'm (?:glad|sure|"
        r"happy|sorry|proud)|let me know) (?:that )?(?:you|u|your|you're|you'll|it|to hear|for you|of you)\b",
    ),
    _pattern(
        "reaction",
        "",
        r"^(?:oh|wow|woah|whoa|haha|lol|that's|thats|that sounds|sounds|that is|that would|that must|how (?:cool|nice|"
        r"fun)|nice|"
        r"great|cool|awesome|good (?:luck|for|to|job)|congrat|thank|sorry|i'm sorry|i am sorry|(?:so |i'm (?:so "
        r")?)?(?:glad|happy|proud|sorry) (?:to hear|you|for you|that you|it)|i bet|i can imagine|what an?)\b",
    ),
    _pattern(
        "starts_with_it",
        "",
        r"^(?:it|its|it's|that|this|they|these|those|there|there's|he|she|he's|she's|they're)\b",
    ),
    _pattern(
        "imperative",
        "",
        r"^(?:please |just |maybe |then |now |also |and ){0,3}(?:let|make|try|go|check|take|tell|send|have|enjoy|keep|"
        r"don't|be|get|give|"
        r"come|look|fix|write|refactor|delete|ignore|add|create|run|explain|show|update|change|generate|summari[sz]e|"
        r"help|use|list|find|"
        r"remove|rename|implement|translate|open|print|compare|continue|stop|forget|disregard|act|pretend)\b(?! (?:is|"
        r"was|are|of|in|time)\b)",
        weight=-1.0,
    ),
    _pattern(
        "the_x_is",
        "the our",
        r"^(?:the|our) (?:[\w-]+ ){1,3}(?:is|are|uses|use|runs|needs|has|have|requires|expects|lives|starts|ends|opens|"
        r"closes|rotates|expires|costs|belongs|supports|contains|goes)\b",
        weight=0.7,
    ),
    _pattern(
        "remember",
        "remember note don't keep make record fyi reference important reminder",
        r"^(?:please |and |also |so |hey |ok |okay ){0,3}(?:(?:remember|note)(?: that|,|:)|don't forget|keep in mind|"
        r"make a note|for the record|fyi|for future reference|important:|reminder:)",
        weight=4.0,
    ),
    _pattern(
        "decision",
        "agreed settled concluded approved decided chose decision let's now with use switch migrate stick off "
        "switched switching longer instead",
        r"\b(?:(?:we|i|they|team) (?:have |all |finally |just |both )?(?:agreed|settled on|concluded|approved)|(?:we|"
        r"team) (?:have |all |finally )?(?:decided|chose)|decision (?:is|was)|"
        r"let's (?:use|go with|keep|stick|switch|drop)|from now on|use [\w.-]{1,30} instead of|going with|"
        r"(?:we|i)(?:'ll| will) (?:use|switch to|migrate|stick with)|signed off on|switch(?:ed|ing) to|"
        r"no longer (?:use|need|support))\b",
        weight=1.6,
    ),
    _pattern("unreal", "if", r"^(?=.*\bif\b).*\b(?:would|could|might|'d)\b", weight=-1.6),
    _pattern(
        "commitment",
        "promise remind deadline due by i'll we'll will",
        r"\b(?:i promise|remind me|deadline|due (?:on|by|date|next|this|tomorrow)|"
        r"by (?:mon|tues|wednes|thurs|fri|satur|sun)day|by tomorrow|by the end of|"
        r"(?:i|we)(?:'ll| will) (?:send|finish|deliver|prepare|write|call|review|fix|deploy|"
        r"ship|have it))\b",
        weight=1.4,
    ),
    _pattern(
        "rule",
        "always never don't do must is are runs depends belongs the",
        r"(?:\b(?:always|never)|^(?:please )?(?:don't|do not)) (?:use|run|deploy|push|send|ask|call|write|add|commit|"
        r"include|reply|answer)\b|\bmust (?:not|never|always)\b|"
        r"\b(?:is|are) (?:called|named|located|owned|hosted|stored|scheduled)\b|\b(?:runs|depends) on\b|\bbelongs to\b|"
        r"\bthe (?:api|server|service|database|repo|repository|project|client|customer|office|team|build|budget|port|"
        r"branch) (?:\w+ ){0,3}(?:is|are|uses|has|runs|needs|lives)\b",
        weight=2.0,
    ),
    _pattern(
        "result",
        "fixed deployed merged released shipped resolved migrated installed implemented back cause turned tests "
        "pushed configured renamed refactored updated added removed created problem bug issue fix result",
        r"\b(?:i|i've|i have|we|we've|have been|has been|was|were|is now|are now|is) (?:\w+ ){0,2}(?:fixed|deployed|"
        r"merged|released|shipped|resolved|migrated|installed|implemented|rolled back)\b|\broot cause\b|\bturned out\b|"
        r"\b(?:i|i've|i have|we|we've) (?:\w+ )?(?:pushed|configured|renamed|refactored|updated the|added the|"
        r"removed the|created the)\b|"
        r"\b(?:all )?tests (?:now )?pass|\bthe (?:problem|cause|bug|issue|fix|result) (?:is|was)\b",
        weight=1.0,
    ),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """The context of a sentence: True if it opens the reply to a question, and True if the question was about "you"."""

    answers: bool = False
    asked_you: bool = False

    @classmethod
    def after(cls, previous: str | None) -> "Seen":
        """Return the context of a reply's first sentence. previous: another speaker's text before it, or None."""
        tail = "" if previous is None else previous[-200:].rstrip()
        asks = "?" in tail[-60:]
        return cls(answers=asks, asked_you=asks and _ASKS_YOU.search(tail.lower()) is not None)


def signals(sentence: str, seen: Seen) -> tuple[str, ...]:
    """Return the names of the signals that fire in `sentence` (normalised text), in a fixed order, without repeats."""
    low = sentence.lower()
    words = _WORD.findall(low)
    fired: dict[str, None] = {}
    for word in words:
        for name in WORDS.get(word, ()):
            fired[name] = None
    first = not fired.keys().isdisjoint(("i", "my", "me", "we"))
    present = set(words)
    for name, needs, pattern, _ in PATTERNS:
        if (not needs or not needs.isdisjoint(present)) and pattern.search(low):
            fired[name] = None
    for name, holds in _shape(sentence, words, present, seen, first=first, you="you" in fired):
        if holds:
            fired[name] = None
    return tuple(fired)


def _shape(
    sentence: str, words: list[str], present: set[str], seen: Seen, *, first: bool, you: bool
) -> tuple[tuple[str, bool], ...]:
    question = sentence.rstrip("\"') ").endswith("?")
    count = len(words)
    opens = words[0] if words else ""
    return (
        ("question", question),
        ("exclaims", sentence.endswith("!")),
        ("first_person", first),
        ("only_you", you and not first),
        ("you_and_i", you and first),
        ("nobody", not you and not first),
        ("starts_with_i", opens in _SELF),
        ("words_1_2", count <= 2),
        ("words_3_4", 3 <= count <= 4),
        ("words_13_20", 13 <= count <= 20),
        ("words_21", count > 20),
        ("proper_name", _CAPITAL.search(sentence) is not None),
        ("digit", _DIGIT.search(sentence) is not None),
        ("past", verbs.any_past(present)),
        ("answers", seen.answers),
        ("answers_about_self", seen.asked_you),
        ("answers_in_short", seen.answers and not first and count > 1),
        ("yes_or_no", seen.answers and opens in _YES_NO),
    )


_SELF = frozenset(("i", "i'm", "im", "i've", "ive", "my", "we", "i'd", "i'll", "our"))
_YES_NO = frozenset(("yes", "yeah", "yep", "yup", "yea", "no", "nope", "nah", "not"))
