"""Tool calls and tool results as text of bounded length: the content of an event of the kind `tool`.

    call      cancel_booking(booking_id="ZX4", refund=true)      arguments as JSON, in the order of the call
    result    status: cancelled                                  a JSON object: one line for each key,
              items: [{"sku": "A1", "price": 12.5}]              nested values as JSON
              - {"flight": "HAT1"}                               a JSON array: one line for each item
              Booked for Zoë.                                    other text: unchanged

A text over the limit keeps its head and its tail around a mark that says how many characters are left out. No word is
cut in two, and no private key, since redaction would not recognise half a secret. The text of a call stays parseable: a
long argument is shortened inside its JSON string.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from slowwave.errors import InvalidMessage

MAX_PARSED_CHARACTERS = 200_000
"""The longest text that is parsed as JSON; a hook runs on the reply path, so longer texts are only cut."""

MAX_NAME_CHARACTERS = 100
MAX_WORD = 500
"""The longest word that a cut leaves out as a whole; no known kind of token is longer."""

_BLANK = re.compile(r"\s")
_WORD_END = re.compile(r"\s(?=\S*\Z)")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
)
_TAIL_SHARE = 3  # a third of the kept text is the end, where totals and errors are


def tool_name(name: str | None) -> str | None:
    """Return a tool's name as one line of at most 100 characters; None if no character remains."""
    if name is None:
        return None
    line = "".join(character if character.isprintable() else " " for character in name)
    return " ".join(line.split())[:MAX_NAME_CHARACTERS] or None


def call_text(name: str, arguments: Any, limit: int) -> str:
    """Return a call as one line, `name(key=value, …)`, of at most `limit` characters. Raises InvalidMessage."""
    given = _parsed(arguments)
    if given is None or given == "":
        inside = ""
    elif isinstance(given, Mapping):
        inside = ", ".join(f"{_one_line(key)}={_json(_shorter(value, limit // 4))}" for key, value in given.items())
    else:
        inside = given if isinstance(given, str) else _json(given)
    return bounded(f"{name}({inside})", limit)


def result_text(text: str, limit: int) -> str:
    """Return a result as lines, at most `limit` characters."""
    given = _parsed(text)
    if isinstance(given, dict) and given:
        text = "\n".join(f"{_one_line(key)}: {_shown(value)}" for key, value in given.items())
    elif isinstance(given, list) and given:
        text = "\n".join(f"- {_shown(value)}" for value in given)
    return bounded(text, limit)


def bounded(text: str, limit: int) -> str:
    """Return `text`, or its beginning and its end around a mark with the number of omitted characters."""
    if len(text) <= limit:
        return text
    text = _PRIVATE_KEY.sub("[private key left out]", text)
    if len(text) <= limit:
        return text
    # The mark with the largest possible number, so that the limit holds for every cut.
    room = max(limit - len(_mark(len(text))), 0)
    tail = room // _TAIL_SHARE
    head, end = _whole_words(text, room - tail, len(text) - tail)
    return f"{text[:head]}{_mark(end - head)}{text[end:]}"


def _whole_words(text: str, head: int, end: int) -> tuple[int, int]:
    """Move the end of the first part and the start of the last part to the nearest blanks, so that no word is cut."""
    if match := _WORD_END.search(text, max(head - MAX_WORD, 0), head + 1):
        head = match.start() if match.start() > 0 else head
    if match := _BLANK.search(text, max(end - 1, 0), end + MAX_WORD):
        end = match.end()
    return head, end


def _mark(number: int) -> str:
    return f"\n[… {number:,} characters left out …]\n"


def _parsed(given: Any) -> Any:
    """Parse JSON text; return other values unchanged."""
    if not isinstance(given, str) or len(given) > MAX_PARSED_CHARACTERS or given.lstrip()[:1] not in ("{", "["):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _shorter(value: Any, limit: int) -> Any:
    return bounded(value, limit) if isinstance(value, str) else value


def _shown(value: Any) -> str:
    """Return a value as text. Further lines of a text are indented, so that none of them looks like a key."""
    return value.replace("\n", "\n  ") if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(f"the arguments of a tool call can't be written as JSON: {error}") from None


def _one_line(key: Any) -> str:
    return " ".join(str(key).split())
