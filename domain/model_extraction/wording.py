"""The sentence of a memory: cleaned, with full dates, in the third person, with the speaker's name."""

import re
from collections.abc import Mapping
from typing import Any

from slowwave.recall.rendering import one_line
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.dates import Mention, local_day, mentions
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.person import Speaker, third_person
from slowwave_server.domain.model_extraction.asking import ShownEvent
from slowwave_server.domain.redaction import redact

MAX_CONTENT = 500
"""Characters. A memory is a sentence; a longer text is a copy of the conversation."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TAIL = 60
_BEGINNING = 60
_OPENS_OTHERWISE = re.compile(r"[][#<>{}|:;\"]")
"""Marks that never open a statement: the text after them may be a forged line."""
_ACCEPTS = re.compile(
    r"\W*(?:yes|yep|yeah|ok|okay|sure|agreed?|deal|done|perfect|great|good|fine|cool|alright|excellent|lgtm|approved?|accepted|correct|"
    r"right|exactly|sounds|looks|let's|go (?:ahead|with)|please (?:do|go|proceed|book)|do (?:it|that)|book it|ship it|"
    r"that (?:works|sounds|looks|is)|this (?:works|is|version|looks)|i (?:accept|agree|like|approve|will take|confirm)|"
    r"i['\u2019]ll (?:take|go with)|i(?:['\u2019]d| would) like to (?:go with|take|book|choose|proceed)|"
    r"the (?:first|second|third|last) (?:one|option))\b",
    re.IGNORECASE,
)
_NOBODY = frozenset({"the user", "user", "the agent"})
_FIRST_PERSON = frozenset("i i'm i've i'll i'd me my mine myself we we're we've we'll our ours us you your".split())


class Dropped(Exception):
    """The memory is dropped; the message is the name of the reason."""


def clean_content(item: Any) -> tuple[str, int]:
    """Return one memory's content on one line, and the number of secrets redacted from it. Raises Dropped."""
    if not isinstance(item, Mapping) or not isinstance(item.get("content"), str):
        raise Dropped("malformed")
    if len(item["content"]) > 4 * MAX_CONTENT:
        raise Dropped("malformed")
    clean = redact(one_line(item["content"]))
    if not clean.text:
        raise Dropped("malformed")
    return clean.text, len(clean.kinds)


def resolved(content: str, sources: tuple[ShownEvent, ...], context: ExtractionContext) -> tuple[Mention, ...]:
    """Resolve the dates in the content, relative to the day of the source that names them, else of the last source."""
    low = content.lower()
    today = local_day(sources[-1].event.happened_at, context.time_zone)
    for said in sources:
        day = local_day(said.event.happened_at, context.time_zone)
        text = said.text.lower()
        if any(text[mention.start : mention.end] in low for mention in mentions(said.text, day)):
            today = day
            break
    return mentions(content, today)


def heard_by(said: ShownEvent) -> str:
    """Return the text that the event answers or accepts, if any; it counts as the event's own words."""
    before = said.speech.before
    if before is None:
        return ""
    accepts = _ACCEPTS.match(asserted(said.text)) is not None
    if not accepts and (said.text.rstrip().endswith("?") or "?" not in before[-_TAIL:]):
        return ""
    return redact(before).text


def asserted(text: str) -> str:
    """Return the text without its questions."""
    return " ".join(part for part in _SENTENCE.split(text) if not part.rstrip("\"') ").endswith("?"))


def in_third_person(content: str, speaker: Speaker) -> str:
    """Return the sentence without "I" and "you", if it contains any."""
    words = {word.strip(".,;:!?()").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for word in content.lower().split()}
    return third_person(content, speaker) if words & _FIRST_PERSON else content


def attributed(content: str, sources: tuple[ShownEvent, ...]) -> str:
    """Put the speaker's name before a statement without a name, so that a reader knows whose claim it is."""
    begins = _OPENS_OTHERWISE.split(content[:_BEGINNING], maxsplit=1)[0].casefold()
    if any(name.casefold() in begins for said in sources for name in (said.name, said.name.split()[0])):
        return content
    return f"{sources[-1].name} said: {content}"


def names_in(content: str, given: list[Any], people: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in the sentence: those that the rules find, and those of `given` that the sentence contains."""
    found = dict.fromkeys(entities(content, people))
    for name in given:
        if isinstance(name, str) and len(name) > 1 and name in content and not any(name in longer for longer in found):
            found[name] = None
    return tuple(name for name in found if name.casefold() not in _NOBODY)[:10]
