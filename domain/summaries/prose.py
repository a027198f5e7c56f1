"""What a turn between a person and an agent says in plain sentences, apart from its lists, its titles and courtesies.

Must not know: which question a sentence answers.
"""

import re
from collections.abc import Iterable, Iterator

from slowwave_server.domain.extraction.outline import Outline, clean, outline
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.extraction.standalone import content_words
from slowwave_server.domain.noise import is_chatter

MAX_QUOTE = 140
"""Characters of what is quoted of one turn."""

_SET_APART = re.compile(r"^\s*(?:[-*•>|#]|\d{1,2}[.)]\s|\*\*[^*\n]{1,100}\*\*:?\s*$|[-=_]{3,})")
_VOCATIVE = re.compile(
    r"^(?:(?:my (?:guy|man|friend|dear|brother)|bro|man|dude|boss|oga|abeg)\b[\s,!.:-]+)+", re.IGNORECASE
)
_COURTESY = re.compile(
    r"\b(?:thank(?:s| you)|you(?:'re| are) (?:very |most |so )?welcome|feel free|reach out|let me know|"
    r"have a (?:\w+ ){0,3}"
    r"(?:day|trip|journey|flight|one|time|week|weekend|evening)|safe travels|(?:any|anything|further|more|"
    r"other) (?:\w+ ){0,2}"
    r"(?:questions?|assistance|help|concerns|else)|glad (?:to|i|we|that|you|it)|happy to (?:help|assist|hear)|"
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
    r"^(?:[a-z]|(?:for|it|here|this|these|that|quick|just|let|to|if|in|as|with|before|once|some|your|my|our)\b)|"
    r"[!?]|\b(?:is|are|here|below|i|you|your|we|let's)\b"
)
_OPEN_QUESTION = re.compile(r"^(?:and |so |but )?(?:what|which|who|when|where|how|why)\b", re.IGNORECASE)
_SHORT = 4
"""Content words below which an answer needs its question to be understood."""
_EMPTY_WORDS = frozenset(
    "feel free reach hear glad happy welcome hello assist assistance further question questions wonderful fantastic "
    "excellent amazing awesome absolutely certainly great forward hi dear understood understand sorry appreciate "
    "appreciated moment hold sound sounds guy".split()
)


def plain(text: str) -> list[str]:
    """The sentences of a turn that stand in no list, heading or table, without marks, in order."""
    return list(_sentences(line for line in text.split("\n") if not _SET_APART.match(line)))


def all_of(text: str) -> list[str]:
    """The sentences of a turn with those of its lists, without marks, in order."""
    return list(_sentences(text.split("\n")))


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


def quoted(sentence: str) -> str:
    """A sentence in quotes, cut at a space if it is long."""
    said = sentence.replace('"', "'").strip()
    if len(said) > MAX_QUOTE:
        said = said[:MAX_QUOTE].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
    return f'"{said}"'


def asked_before(before: str, answer: str) -> str:
    """The question that a short answer answers by yes or no, in brackets; "" if the answer says enough."""
    if len(set(content_words(answer))) >= _SHORT:
        return ""
    asked = [part for part in plain(before) if part.endswith("?") and not is_courtesy(part)]
    return f" (to {quoted(asked[-1])})" if asked and not _OPEN_QUESTION.search(asked[-1]) else ""


def titled(text: str) -> Outline | None:
    """The outline of what an agent hands over, if it has a title of its own and asks nothing."""
    handed = outline(text)
    if handed is None or _NO_TITLE.search(handed.title) or len(set(content_words(handed.title))) == 1:
        return None
    return None if any(point.endswith("?") for point in handed.points) else handed


def _sentences(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for sentence in sentences(clean(line)):
            bare = without_address(sentence)
            if bare:
                yield bare[:1].upper() + bare[1:]
