"""Extract the plain sentences of a turn between a person and an agent, without lists, titles and courtesies."""

import re
from collections.abc import Iterable, Iterator

from slowwave_server.domain.extraction.outline import Outline, clean, has_siblings, outline
from slowwave_server.domain.extraction.pasted import own_words
from slowwave_server.domain.extraction.sentences import normalise, sentences
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.noise import is_chatter

MAX_QUOTE = 180
"""Maximum characters quoted from one turn."""
MOST_ASKED = 110
"""Maximum characters quoted from the question before a short answer."""
_LONGEST_HEAD = 6
"""Words."""
_PASTED_QUOTE = re.compile(r'"[^"]{80,}"')
_LEAST_LINES = 5
"""Minimum lines of a turn that may be a list without bullets."""
_LEAST_LABELLED = 3
_LABELLED = re.compile(r"^\W{0,4}[A-Z][\w &/'-]{1,40}: ?")
"""A line of a form or a specification."""
_ENDED = re.compile(r"[.!?:;,…\"'\]]\s*$")
_CLAUSE_END = re.compile(r"[,;:.!?)](?= )| [\u2013\u2014-](?= )")
_LEAST_OF_CUT = 0.6
"""Minimum share of the limit at which a quotation may be cut at the end of a clause rather than at a space."""

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
"""An answer with fewer content words needs its question to be understood."""
_EMPTY_WORDS = frozenset(
    "feel free reach hear glad happy welcome hello assist assistance further question questions wonderful fantastic "
    "excellent amazing awesome absolutely certainly great forward hi dear understood understand sorry appreciate "
    "appreciated moment hold sound sounds guy talk soon later".split()
)


def plain(text: str) -> list[str]:
    """Return the sentences of a turn outside lists, headings and tables, without Markdown, in order."""
    return list(_sentences(line for line in text.split("\n") if not _SET_APART.match(line)))


def all_of(text: str) -> list[str]:
    """Return the sentences of a turn, list items included, without Markdown, in order."""
    return list(_sentences(text.split("\n")))


def own(text: str) -> list[str]:
    """Return the sentences in the person's own words; sentences of lists only if all are in lists."""
    mine = own_with_lists(text)
    apart = set(plain(_PASTED_QUOTE.sub("[quoted text]", normalise(text))))
    return [part for part in mine if part in apart] or mine


def own_with_lists(text: str) -> list[str]:
    """Return the sentences in the person's own words, without Markdown and long quotations."""
    lines = [line for line in _PASTED_QUOTE.sub("[quoted text]", normalise(text)).split("\n") if line.strip()]
    if sum(_LABELLED.match(line) is not None for line in lines) >= _LEAST_LABELLED:
        lines = [line for at, line in enumerate(lines) if at == 0 or not _LABELLED.match(line)]
    ended = [line for at, line in enumerate(lines) if at == 0 or _ENDED.search(line)]
    shown = lines if len(lines) < _LEAST_LINES or 2 * len(ended) > len(lines) else ended
    return [part for said in own_words("\n".join(shown)) if (part := bare(said))]


def bare(sentence: str) -> str:
    """Return a sentence without Markdown and without an address such as "My friend, …"."""
    said = without_address(clean(sentence))
    return said[:1].upper() + said[1:]


def without_address(sentence: str) -> str:
    """Return a sentence without an address such as "My friend, …"."""
    return _VOCATIVE.sub("", sentence).strip()


def is_courtesy(sentence: str) -> bool:
    """Return True if a sentence only greets, thanks, praises or offers further help."""
    if is_chatter(sentence) or _OFFERS.search(sentence):
        return True
    said = [word for word in content_words(sentence) if word not in _EMPTY_WORDS]
    return not said or (_COURTESY.search(sentence) is not None and len(said) <= _MAX_OF_COURTESY)


_MAX_OF_COURTESY = 5


def quoted(sentence: str, limit: int = MAX_QUOTE) -> str:
    """Put a sentence in quotes; cut a long one at the end of a clause, else at a space."""
    said = " ".join(sentence.replace('"', "'").split())
    if len(said) > limit:
        ends = [match.end() for match in _CLAUSE_END.finditer(said, int(_LEAST_OF_CUT * limit), limit)]
        cut = said[: ends[-1]] if ends else said[:limit].rsplit(" ", 1)[0]
        said = cut.rstrip(" ,;:-") + " …"
    return f'"{said}"'


def asked_before(before: str, answer: str) -> str:
    """Return the yes/no question before a short answer, in brackets; "" if the answer is clear without it."""
    if len(set(content_words(answer))) >= _SHORT:
        return ""
    asked = [part for part in plain(before) if part.endswith("?") and not is_courtesy(part)]
    return f" (to {quoted(asked[-1], MOST_ASKED)})" if asked and not _OPEN_QUESTION.search(asked[-1]) else ""


def head(point: str) -> str:
    """Return a list item, or only its name if the rest explains the name."""
    head, _, rest = point.partition(": ")
    plain_name = rest and 1 < head.count(" ") + 1 <= _LONGEST_HEAD and not any(map(str.isdigit, head))
    return head if plain_name else point.rstrip(" .…")


def titled(text: str) -> Outline | None:
    """Return the outline of a text that an agent delivers, if it has its own title and asks nothing."""
    handed = outline(text)
    if handed is None or _NO_TITLE.search(handed.title) or len(set(content_words(handed.title))) == 1:
        return None
    if has_siblings(text, handed.title):
        return None  # the title names only the first part
    return None if any(point.endswith("?") for point in handed.points) else handed


def _sentences(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from (said for sentence in sentences(clean(line)) if (said := bare(sentence)))
