"""Reversible escapes for any text within one line of Markdown, and for any value within an HTML comment.

A line break becomes `<br>`; other control characters, and blanks at the ends, become `&#…;`. If the text itself
contains `<br>`, `<!--` or `&#…;`, a backslash precedes it, and backslashes directly before any of these are doubled.
All other text, backslashes included, stays as a person would type it.
"""

import json
import re
from typing import Any

_TOKENS = r"<br>|<!--|&#[0-9]{1,7};"
# A match starts only at the first of several backslashes; starting at each would take quadratic time.
_RUN = r"(?<!\\)(\\*)"
_WRITTEN = re.compile(rf"{_RUN}({_TOKENS})")
# Characters that some program treats as line ends, and invisible characters.
_UNSEEN = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
_SPECIAL = re.compile(rf"{_RUN}({_TOKENS}|\n|{_UNSEEN})")
_SPECIAL_OF_LINES = re.compile(rf"{_RUN}({_TOKENS}|{_UNSEEN})")
_LAST_CODE_POINT = 0x10FFFF


def escape(text: str) -> str:
    """Return `text` within one line, without a comment and without blanks at its ends."""
    core = text.strip()
    if not core:
        return _blanks(text)
    start = text.index(core)
    before, after = text[:start], text[start + len(core) :]
    # Blanks at the end are written as tokens, so backslashes before them are doubled, too.
    slashes = core[len(core.rstrip("\\")) :] if after else ""
    return _blanks(before) + _SPECIAL.sub(_mark, core) + slashes + _blanks(after)


def escape_lines(text: str) -> str:
    """Return `text` with its lines, without a comment."""
    return _SPECIAL_OF_LINES.sub(_mark, text)


def unescape(written: str) -> str:
    """Undo `escape` or `escape_lines`; text typed by a person without escapes stays the same."""
    return _WRITTEN.sub(_meant, written)


def _blanks(text: str) -> str:
    return "".join("<br>" if character == "\n" else _numbered(character) for character in text)


def _mark(found: re.Match[str]) -> str:
    slashes, special = found[1] * 2, found[2]
    if special == "\n":
        return f"{slashes}<br>"
    return slashes + (_numbered(special) if len(special) == 1 else f"\\{special}")


def _meant(found: re.Match[str]) -> str:
    slashes, special = found[1], found[2]
    kept = slashes[: len(slashes) // 2]
    if len(slashes) % 2 or special == "<!--":
        return kept + special
    if special == "<br>":
        return f"{kept}\n"
    number = int(special[2:-1])
    return kept + (chr(number) if number <= _LAST_CODE_POINT and not _is_surrogate(number) else special)


def _is_surrogate(number: int) -> bool:
    return 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - Unicode


def _numbered(character: str) -> str:
    return f"&#{ord(character)};"


def comment_json(value: Any) -> str:
    """Return `value` as one line of JSON for an HTML comment: sorted keys, no `<`, `>` or `--`."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    written = written.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return re.sub(_UNSEEN, lambda found: f"\\u{ord(found[0]):04x}", written)
