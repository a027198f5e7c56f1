"""Return the plain words of a statement that an extractor quoted.

An extractor quotes a sentence that the third person would make unclear: 'Maya: "We moved to Porto (2024-05)."' A
comparison reads it without quotes, with the speaker in place of "I", and without dates in parentheses. Words that
contain quotation marks are between “ and ”.
"""

import re
from functools import lru_cache

_QUOTED = re.compile(
    r'(?s)(?P<speaker>[^:"(]{1,60}?)(?: to (?P<listener>[^:"(]{1,60}))?(?: \(asked [^"]*\))?: ["“](?P<words>.*)["”]'
)
_RESOLVED = re.compile(r" \((?:week(?:end)? of )?\d{4}-\d\d(?:-\d\d)?\)")
_FIRST_PERSON = (
    (re.compile(r"\bI(?: am|['\u2019]m)\b"), "{} is"),
    (re.compile(r"\bI(?: have|['\u2019]ve)\b"), "{} has"),
    (re.compile(r"\bI\b"), "{}"),
    (re.compile(r"\b[Mm]y\b"), "{}'s"),
    (re.compile(r"\bme\b"), "{}"),
)


@lru_cache(maxsize=8192)
def plain_words(text: str) -> str:
    """Return the statement in `text` in the third person, as if its speaker's name were the subject."""
    found = _QUOTED.fullmatch(text)
    if found is None:
        return _RESOLVED.sub("", text)
    speaker, words = found["speaker"], found["words"]
    inside = "the user" if speaker == "The user" else speaker
    for pattern, form in _FIRST_PERSON:
        words = pattern.sub(form.format(inside), words)
    return _RESOLVED.sub("", words[:1].upper() + words[1:])


@lru_cache(maxsize=8192)
def speakers_of(text: str) -> frozenset[str]:
    """The speaker of a quoted statement, and the person to whom it was said."""
    found = _QUOTED.fullmatch(text)
    return frozenset(name for name in (found["speaker"], found["listener"]) if name) if found else frozenset()


def with_user_for_speaker(one: str, other: str) -> tuple[str, str]:
    """Return the plain words of two statements, with "the user" in place of the only speaker of the two.

    A speaker's name is no value, and the pairs of `change_score.json` are about the user.
    """
    plain = plain_words(one), plain_words(other)
    speakers = [found["speaker"] for text in (one, other) if (found := _QUOTED.fullmatch(text))]
    name = re.compile(rf"\b{re.escape(speakers[0])}\b") if speakers else None
    if name is None or speakers[0] != speakers[-1] or not (len(speakers) > 1 or all(map(name.search, plain))):
        return plain
    first, second = (name.sub("the user", words) for words in plain)
    return first[:1].upper() + first[1:], second[:1].upper() + second[1:]


def with_speaker_for_we(text: str) -> str:
    """Return the plain words with the speaker in place of "We" at the start: a person who says "We moved to Porto"
    lives there.
    """
    found = _QUOTED.fullmatch(text)
    words = plain_words(text)
    if found is None:
        return words
    words = re.sub(r"^We(?:['\u2019]re| are)\b", f"{found['speaker']} is", words)
    return re.sub(r"^We(?=(?: have)? )", found["speaker"], words)
