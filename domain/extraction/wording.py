"""The wording of a statement: in the third person if that is unambiguous, else in the speaker's own words.

    Maya adopted a dog.
    Maya: "We agreed with Rob that I move the demo."
    Maya to Jonas: "I'll send your farm the contract."
    Maya (asked “What does the kitchen cost?”): "18,000, worktop included."

"We", "you" and a second "I" have no third person that a reader understands without the conversation.
"""

import re

from slowwave_server.domain.extraction import verbs
from slowwave_server.domain.extraction.edges import trim
from slowwave_server.domain.extraction.person import UNNAMED, Speaker

_UNCLEAR = re.compile(r"\b(?:we|we're|we've|we'll|we'd|us|our|ours|ourselves|let's)\b", re.IGNORECASE)
_OF_OTHER = re.compile(r"\b(?:you|you're|you've|you'll|you'd|your|yours|yourself)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:i|i'm|i've|i'll|i'd)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|me|my|mine|myself)\b", re.IGNORECASE)
_OPENS = re.compile(r"(?:\w+ly |also |just |still )?(?:i|i'm|i've|i'll|i'd|im|ive|my)\b", re.IGNORECASE)
"""A sentence that begins with its speaker."""
_THEY = re.compile(r"\b(?:they|they're|them|their|theirs)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_CALL = re.compile(r"(?P<name>(?:(?:mr|mrs|ms|madam|madame)\b\.?\s?)?[\w|^`\[\]-]+)\s?[,:]\s", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\S*[^\W\d]*(?:[\d/_=:@`\\]|\.\w)\S*")
"""A first word that must keep its small initial letter."""
_TIMES = frozenset("yesterday today tomorrow tonight now then however anyway lately still also overall so".split())
MOST_OWN = 2
"""Maximum words for the speaker in a third-person statement: "Maya loves their dog"."""


def is_clear(said: str, speaker: Speaker) -> bool:
    """Return True if the third person is unambiguous. said: one sentence in its original words."""
    said = _QUOTED.sub("", said)
    if _UNCLEAR.search(said) or (speaker.addressee is not None and _OF_OTHER.search(said)):
        return False
    own = _OWN.findall(said)
    if not own:
        return True
    return (
        _OPENS.match(trim(said) or said) is not None
        and len(own) <= MOST_OWN
        and len(_SUBJECT.findall(said)) <= 1
        and not (len(own) > 1 and _THEY.search(said))
        and not _is_called(said)
    )


def _is_called(said: str) -> bool:
    """Return True if a sentence begins with its addressee's name ("Rob, I …")."""
    call = _CALL.match(said)
    return call is not None and not verbs.is_adverb(call["name"].lower()) and call["name"].lower() not in _TIMES


def quoted(said: str, speaker: Speaker, asked: str | None = None) -> str:
    """Return the sentence verbatim after the names of its speaker and of "you". asked: the question it answers."""
    text = said.strip()
    ended = text if text.endswith((".", "!", "?", "…")) else f"{text}."
    to_whom = None if UNNAMED in {speaker.name, speaker.addressee} else speaker.addressee
    to = f" to {to_whom}" if to_whom and _OF_OTHER.search(said) else ""
    opening, closing = "“”" if '"' in text else '""'
    words = ended if _IDENTIFIER.match(ended) else f"{ended[:1].upper()}{ended[1:]}"
    if asked is not None:
        return f"{speaker.name} (asked “{asked}”): {opening}{words}{closing}"
    return f"{speaker.name}{to}: {opening}{words}{closing}"
