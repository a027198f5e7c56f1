"""What a turn between a person and an agent says in plain sentences, apart from its lists, its titles and courtesies.

Must not know: which question a sentence answers.
"""

import re
from collections.abc import Iterable, Iterator

from slowwave_server.domain.extraction.outline import Outline, clean, has_siblings, outline
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.sentences import normalise, sentences
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.noise import is_chatter

MAX_QUOTE = 180
"""Characters of what is quoted of one turn."""
MOST_ASKED = 110
"""Characters of the question that a short answer answers."""
_LONGEST_HEAD = 6
"""Words."""
_PASTED_QUOTE = re.compile(r'"[^"]{80,}"')
_LEAST_LINES = 5
"""Lines of a turn from which it may be a list without marks."""
_LEAST_LABELLED = 3
_LABELLED = re.compile(r"^\W{0,4}[A-Z][\w &/'-]{1,40}: ?")
"""A line of a form or a specification."""
_ENDED = re.compile(r"[.!?:;,…\"'\]]\s*$")
_CLAUSE_END = re.compile(r"[,;:.!?)](?= )| [\u2013\u2014-](?= )")
_LEAST_OF_CUT = 0.6
"""Share of the room from which a quotation is cut where a clause ends, rather than at a space."""

_SET_APART = re.compile(r"^\s*(?:[-*•>|#]|\d{1,2}[.)]\s|\*\*[^*\n]{1,100}\*\*:?\s*$|[-=_]{3,})")
_VOCATIVE = re.compile(
    r"^(?:(?:my (?:guy|man|friend|dear|brother)|bro|man|dude|boss|oga|abeg)\b[\s,!.:-]+)+", re.IGNORECASE
)
_COURTESY = re.compile(
    r"\b(?:thank(?:s| you)|you(?:'re| are) (?:very |most |so )?welcome|feel free|reach out|let me know|"
    r"have a (?:\w+ ){0,3}"
    r"(?:day|trip|journey|flight|one|time|week|weekend|evening)|safe travels|(?:any|anything|further|more|"
    r"other) (?:\w+ ){0,2}"
    r"(?:questions?|assistance|help|concerns|else)|glad (?:to|i|we|that|you|it)|talk to you (?:soon|later|then)|"
    r"see you|happy to (?:help|assist|hear)|"
    r"here to "
    r"(?:help|support|assist)|my pleasure|hold on|one moment|a moment|bear with|appreciate|good luck|take care|enjoy|"
    r"sorry (?:to|for|about)|apologi[sz]e|i understand|that's (?:wonderful|great|fantastic|good) to hear|"
    r"great to hear|"
    r"delighted|how (?:does|do) (?:this|that|these|it) (?:\w+ ){0,4}(?:look|sound|feel)|does (?:this|"
    r"that) (?:\w+ ){0,3}"
    r"(?:help|work|look|sound|make sense)|what do you think|would you like (?:me )?(?:to )?(?:any|make any|to adjust|"
    r"tweak)|sound good|abi)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"^(?:and )?(?:is there )?anything else\b|^do you (?:need|have) any(?:thing)? (?:other|else|more)\b", re.IGNORECASE
)
_NO_TITLE = re.compile(
    r"^(?:[a-z]|[\w ]+ (?:IDs?|details|information)$|(?:for|it|here|this|these|that|quick|just|let|to|if|in|as|with|"
    r"before|once|some|your|my|our)\b)|"
    r"[!?]|\b(?:is|are|aims|should|can|will|here|below|i|you|your|we|let's)\b"
)
_OPEN_QUESTION = re.compile(r"^(?:and |so |but )?(?:what|which|who|when|where|how|why)\b", re.IGNORECASE)
_SHORT = 4
"""Content words below which an answer needs its question to be understood."""
_EMPTY_WORDS = frozenset(
    "feel free reach hear glad happy welcome hello assist assistance further question questions wonderful fantastic "
    "excellent amazing awesome absolutely certainly great forward hi dear understood understand sorry appreciate "
    "appreciated moment hold sound sounds guy talk soon later".split()
)


def plain(text: str) -> list[str]:
    """The sentences of a turn that stand in no list, heading or table, without marks, in order."""
    return list(_sentences(line for line in text.split("\n") if not _SET_APART.match(line)))


def all_of(text: str) -> list[str]:
    """The sentences of a turn with those of its lists, without marks, in order."""
    return list(_sentences(text.split("\n")))


def own(text: str) -> list[str]:
    """The sentences of a person's turn in their own words; those of lists only if there are no others."""
    mine = own_with_lists(text)
    apart = set(plain(_PASTED_QUOTE.sub("[quoted text]", normalise(text))))
    return [part for part in mine if part in apart] or mine


def own_with_lists(text: str) -> list[str]:
    """The sentences of a person's turn in their own words, without marks and long quotations."""
    lines = [line for line in _PASTED_QUOTE.sub("[quoted text]", normalise(text)).split("\n") if line.strip()]
    if sum(_LABELLED.match(line) is not None for line in lines) >= _LEAST_LABELLED:
        lines = [line for at, line in enumerate(lines) if at == 0 or not _LABELLED.match(line)]
    ended = [line for at, line in enumerate(lines) if at == 0 or _ENDED.search(line)]
    shown = lines if len(lines) < _LEAST_LINES or 2 * len(ended) > len(lines) else ended
    return [part for said in own_words("\n".join(shown)) if (part := bare(said))]


def bare(sentence: str) -> str:
    """A sentence without marks and without "My friend, …" before it."""
    said = without_address(clean(sentence))
    return said[:1].upper() + said[1:]


def without_address(sentence: str) -> str:
    """A sentence without "My friend, …" before it."""
    return _VOCATIVE.sub("", sentence).strip()


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence greets, thanks, praises or offers further help, and says nothing else."""
    if is_chatter(sentence) or _OFFERS.search(sentence):
        return True
    said = [word for word in content_words(sentence) if word not in _EMPTY_WORDS]
    return not said or (_COURTESY.search(sentence) is not None and len(said) <= _MAX_OF_COURTESY)


_MAX_OF_COURTESY = 5


def quoted(sentence: str, limit: int = MAX_QUOTE) -> str:
    """A sentence in quotes; if it is long, cut where a clause ends, else at a space."""
    said = " ".join(sentence.replace('"', "'").split())
    if len(said) > limit:
        ends = [match.end() for match in _CLAUSE_END.finditer(said, int(_LEAST_OF_CUT * limit), limit)]
        cut = said[: ends[-1]] if ends else said[:limit].rsplit(" ", 1)[0]
        said = cut.rstrip(" ,;:-") + " …"
    return f'"{said}"'


def asked_before(before: str, answer: str) -> str:
    """The question that a short answer answers by yes or no, in brackets; "" if the answer says enough."""
    if len(set(content_words(answer))) >= _SHORT:
        return ""
    asked = [part for part in plain(before) if part.endswith("?") and not is_courtesy(part)]
    return f" (to {quoted(asked[-1], MOST_ASKED)})" if asked and not _OPEN_QUESTION.search(asked[-1]) else ""


def head(point: str) -> str:
    """A point, or what it is called if the rest only explains it."""
    head, _, rest = point.partition(": ")
    plain_name = rest and 1 < head.count(" ") + 1 <= _LONGEST_HEAD and not any(map(str.isdigit, head))
    return head if plain_name else point.rstrip(" .…")


def titled(text: str) -> Outline | None:
    """The outline of what an agent hands over, if it has a title of its own and asks nothing."""
    handed = outline(text)
    if handed is None or _NO_TITLE.search(handed.title) or len(set(content_words(handed.title))) == 1:
        return None
    if has_siblings(text, handed.title):
        return None  # the name of the first part is no name of the whole
    return None if any(point.endswith("?") for point in handed.points) else handed


def _sentences(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (said for sentence in sentences(clean(line)) if (said := bare(sentence)))
