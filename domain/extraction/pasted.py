"""Separate a speaker's own words from pasted articles, letters and listings in a long turn."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from slowwave_server.domain.extraction.sentences import normalise, sentences
from slowwave_server.domain.long_text import pieces

PASTED = 700
"""Characters. A longer turn of a person is searched for pasted text."""
PIECE = 3000
"""Characters of a piece that is judged by itself."""
OWN_SHARE = 0.2
"""A long piece with a smaller share of first-person sentences counts as pasted."""
OWN_PARAGRAPH = 0.5
"""The minimum share of first-person sentences of an own paragraph within pasted text."""
MOST_OF_MANY = 2
"""Sentences with "we" that count for each sentence with "I"."""
MOST_REMARKS = 2
"""Maximum first-person sentences in pasted text that count as the speaker's remarks; more belong to the author."""

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|ive|i'll|i'd|my|mine|me|we|we're|we've|our|ours)\b", re.IGNORECASE)
_OF_ONE = re.compile(r"\b(?:i|i'm|im|i've|ive|i'll|i'd|my|mine|me)\b", re.IGNORECASE)
_SPEAKS = re.compile(r"(?:[\w' ]{1,30}[,:] )?(?:i|i'm|im|i've|ive|i'll|i'd|my|mine)\b(?![.)])", re.IGNORECASE)
_QUOTES = re.compile(r"[\"“”«»]|^\s{0,8}>|(?:^|\s)'\w", re.MULTILINE)


BRIEF = 300
"""Characters from which a turn may contain a text to work on, besides the request."""
LOOKED_AT = 1_000
"""Characters in which the request to work on a text must begin."""
_WORK_ON = re.compile(
    r"\b(?:rewrite|re-write|edit|proofread|proof-read|rephrase|paraphrase|improve|correct|summari[sz]e|translate|"
    r"polish|shorten|grade|evaluate|check)\b.{0,40}\b(?:this|these|the following|below|my|text|letter|e-?mail|essay|"
    r"paragraph|report|story|article|grammar|statement|draft)\b|\b(?:act|respond|reply|behave) as\b|"
    r"\byou (?:are|will be) (?:a|an|my|the|going to)\b|"
    r"\b(?:pretend|imagine|role-?play|text(?:-based)? adventure|let's play)\b|\bprompt\b",
    re.IGNORECASE,
)


_REPLY = re.compile(
    r"\b(?:this is|here is|here's|that's) (?:the (?:answer|reply|response) )?(?:from|of|by|what) "
    r"(?:chatgpt|claude|codex|copilot|gemini|gpt|grok|deepseek|another (?:ai|agent|assistant|chat|model))\b"
    r"[\w ]{0,20}:\s{0,3}[\"\u201c\n]",
    re.IGNORECASE,
)
"""The line before the pasted reply of another agent."""
_OLDER_MAIL = re.compile(
    r"^(?:On .{8,120}\bwrote:|-{2,}\s?(?:Original|Forwarded) Message\b.*|From: .{3,120}@.{3,80})\s*$.*",
    re.MULTILINE | re.IGNORECASE | re.DOTALL,
)
_SIGNATURE = re.compile(r"^(?:--|-{5,}|_{5,})[^\S\n]*$(?:\n[^\n]{0,90}){1,14}\Z", re.MULTILINE)
"""A line of dashes and short lines up to the end of a mail."""
_CONTACT = re.compile(r"\S@\S|https?://|\b(?:tel|phone|fax|mobile)\b|\+\d\d", re.IGNORECASE)
_AGENTS_STEP = re.compile(
    r"\blet me (?:\w+ ){0,2}(?:check|verify|implement|look|create|examine|start|add|update|fix|run|review|analy[sz]e|"
    r"also|think|try|search|continue|now|first)\b|"
    r"\bi(?:'ll| will| need to| should)(?: \w+)? (?:implement|create|check|verify|look|examine|commit|modify)\b|"
    r"\bi(?:'ve| have) (?:successfully )?(?:implemented|created|updated|analy[sz]ed)\b|"
    r"\buser (?:then |also )?(?:wanted|asked|requested|confirmed|mentioned|reported|provided|approved)\b|"
    r"\byou(?:'re| are) asking me\b|\bhere's the (?:implementation|updated|complete|fixed|corrected)\b|\bi can see\b|"
    r"(?:^|[.\n] ?)wait,",
    re.IGNORECASE,
)
MIN_STEPS = 3
"""Minimum steps: none of 871 long turns of people to an assistant has as many."""
LEAST_LINE = 20
"""Minimum characters of a line that shows that a person repeats the agent's text."""
_QUOTED_LINE = re.compile(r"^[^\S\n]{0,8}>.*$\n?", re.MULTILINE)


def without_older_mail(text: str) -> str:
    """Return a mail without signature and the mail that it answers: no quoted lines, nothing after "On … wrote:"."""
    signature = _SIGNATURE.search(text) if "\n--" in text or "\n____" in text else None
    if signature is not None and _CONTACT.search(signature.group()) is not None:
        text = text[: signature.start()]
    if ">" not in text and "rote:" not in text and "Message" not in text and "From:" not in text:
        return text
    return _QUOTED_LINE.sub("", _OLDER_MAIL.sub("", text))


def without_echo(text: str, before: str | None) -> str:
    """Return a long turn of a person without the lines that stand in the agent's previous turn, too.

    A program hands one agent's plan to the next one as the turn of a user. Questions stay: people answer below them.
    """
    if before is None or len(text) < BRIEF:
        return text
    said = {told for line in before.split("\n") if (told := line.strip()) and not told.endswith("?")}
    lines = text.split("\n")
    is_echo = any(len(line.strip()) >= LEAST_LINE and line.strip() in said for line in lines)
    return "\n".join(line for line in lines if line.strip() not in said) if is_echo else text


def is_agents_log(text: str) -> bool:
    """Return True if a person's long turn is an agent's account of its own steps, pasted or filed as the person's.

    The summary with which an agent continues a session is such an account: "The user asked …".
    """
    return len(text) >= BRIEF and sum(1 for _ in _AGENTS_STEP.finditer(text)) >= MIN_STEPS


def own_words(text: str) -> list[str]:
    """Return the sentences of a turn that are the speaker's own.

    A long turn is read in pieces. A piece with few first-person sentences counts as pasted. In a turn that is mostly
    pasted, every piece between the first and the last one counts as pasted, too. From pasted text, the function keeps
    the first and the last sentence of the turn, paragraphs in the first person, and single remarks, if they contain no
    quotes.

    The reply of another agent ("this is from Codex: …") is not the speaker's own.

    If the turn asks the agent to work on a text or to play a role, only the request is the speaker's own.
    """
    if (reply := _REPLY.search(text)) is not None:
        text = text[: reply.start()]
    if len(text) < BRIEF:
        return list(sentences(text))
    if (request := _request(text)) is not None:
        return request
    if len(text) < PASTED:
        return list(sentences(text))
    text = normalise(text)
    read = [(piece, list(sentences(piece))) for piece in pieces(text, PIECE)]
    is_own_turn = _share([part for _, parts in read for part in parts]) >= OWN_SHARE
    kept: list[str] = []
    for at, (piece, parts) in enumerate(read):
        is_edge = at in {0, len(read) - 1}
        if (is_edge or is_own_turn) and _share(parts) >= OWN_SHARE:
            kept += parts
        else:
            own = set(_own_parts(piece, parts))
            first, last = at == 0, at == len(read) - 1
            own |= {part for part in (*parts[: int(first)], *parts[len(parts) - int(last) :]) if _is_of_one(part)}
            kept += [part for part in parts if part in own]
    return kept


def _request(text: str) -> list[str] | None:
    """Return the first sentence that asks to work on a text or to play a role; the first two if the second one asks."""
    begin = list(islice(sentences(text[:LOOKED_AT]), 2))
    at = next((at for at, part in enumerate(begin) if _WORK_ON.search(part)), None)
    return None if at is None else begin[: at + 1]


def _share(parts: Sequence[str]) -> float:
    """Return the share of first-person sentences; "we" alone counts little, because companies use it too."""
    of_one = sum(map(_is_of_one, parts))
    of_many = sum(map(_is_first_person, parts)) - of_one
    return (of_one + min(of_many, MOST_OF_MANY * of_one + 1)) / len(parts) if parts else 0.0


def _is_of_one(part: str) -> bool:
    return _OF_ONE.search(part) is not None


def _is_first_person(part: str) -> bool:
    return _FIRST_PERSON.search(part) is not None


def _own_parts(piece: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield the speaker's own sentences within pasted text."""
    remarks = sum(map(_is_first_person, parts)) <= MOST_REMARKS
    for paragraph in _paragraphs(piece):
        if _FIRST_PERSON.search(paragraph) is None or _QUOTES.search(paragraph) is not None:
            continue
        inside = list(sentences(paragraph))
        if inside and _SPEAKS.match(inside[0]) is not None and _share(inside) >= OWN_PARAGRAPH:
            yield from inside
        elif remarks:
            yield from (part for part in inside if _SPEAKS.match(part) is not None)


def _paragraphs(piece: str) -> Iterator[str]:
    lines: list[str] = []
    for line in piece.split("\n"):
        if line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)
