"""The wording of a memory that records an ending, and its parser.

    called off      "The user called off: the newsletter plan."
    lifted          'The user lifted an instruction: "You can use emojis again."'
    corrected       'The user corrected: "It is seat 14C, not 12A."'

An ending is stored only as these words, so it survives exports, rebuilds and edits of memory files.
"""

import re

from slowwave_server.domain.endings.recognise import Act, Ending, recognise, recognise_lift

_VERBS: dict[Act, str] = {
    "called_off": "called off",
    "lifted": "lifted an instruction",
    "corrected": "corrected",
}
_TOLD = re.compile(r"^(?P<who>[^:\n]{1,80}?) (?P<verb>called off|lifted an instruction|corrected): (?P<body>\S.*)$")
_ADDED_DATE = re.compile(r" \((?:week of )?\d{4}-\d\d(?:-\d\d)?\)")


def told(ending: Ending, speaker: str) -> str:
    """Return the statement that records the ending."""
    said = ending.said if ending.act == "called_off" else f'"{ending.said}"'
    return f"{speaker} {_VERBS[ending.act]}: {said}."


def ending_of(content: str) -> Ending | None:
    """Parse the ending in a memory's content, as written by `told`; None if it tells no ending."""
    match = _TOLD.match(content)
    if match is None:
        return None
    body = _ADDED_DATE.sub("", match["body"]).rstrip(" .").strip('"')
    if match["verb"] == _VERBS["called_off"]:
        return Ending("called_off", what=body, said=body)
    found = recognise(body)
    if found is None and match["verb"] == _VERBS["lifted"]:
        found = recognise_lift(body)
    return found if found is not None and _VERBS[found.act] == match["verb"] else None


def speaker_of(content: str) -> str:
    """Return the speaker that an ending or an instruction names; "" if the memory is neither."""
    match = _TOLD.match(content) or _INSTRUCTS.match(content) or _QUOTES.match(content)
    return "" if match is None else match["who"]


def instruction_of(content: str) -> str | None:
    """Return the words of an instruction: after "Maya instructs:", or quoted in another language; None for others."""
    match = _INSTRUCTS.match(content) or (None if _TOLD.match(content) else _QUOTES.match(content))
    return None if match is None else match["body"]


def is_quoted(content: str) -> bool:
    """Return True if a statement quotes its original words, in a language other than English."""
    return _INSTRUCTS.match(content) is None and _TOLD.match(content) is None and _QUOTES.match(content) is not None


_QUOTES = re.compile(r'^(?P<who>[^:"\n]{1,80}?): "(?P<body>[^"\n]+)"\.?$')
_INSTRUCTS = re.compile(r"^(?P<who>[^:\n]{1,80}?) instructs: (?P<body>\S.*)$")
