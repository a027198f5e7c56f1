"""Any text within one line of Markdown, and any value within an HTML comment, both reversible.

A line break becomes `<br>`, other control characters and blanks at the ends `&#…;`; where the text itself says `<br>`,
`<!--` or `&#…;`, a backslash stands before it, and backslashes that stand before any of these are doubled. All other
text, backslashes included, stays as somebody would type it.

Must not know: what the text is.
"""

import json
import re
from typing import Any

_TOKENS = r"<br>|<!--|&#[0-9]{1,7};"
# Backslashes are looked at from the first of them on: from each, a run of many would take its length squared.
_RUN = r"(?<!\\)(\\*)"
_WRITTEN = re.compile(rf"{_RUN}({_TOKENS})")
# Characters that end a line somewhere, or can't be seen.
_UNSEEN = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
_SPECIAL = re.compile(rf"{_RUN}({_TOKENS}|\n|{_UNSEEN})")
_SPECIAL_OF_LINES = re.compile(rf"{_RUN}({_TOKENS}|{_UNSEEN})")
_LAST_CODE_POINT = 0x10FFFF


def escape(text: str) -> str:
    """`text` within one line, with no comment in it and no blank at its ends."""
    core = text.strip()
    if not core:
        return _blanks(text)
    start = text.index(core)
    before, after = text[:start], text[start + len(core) :]
    # Blanks at the end are written as tokens, so backslashes before them count as before any.
    slashes = core[len(core.rstrip("\\")) :] if after else ""
    return _blanks(before) + _SPECIAL.sub(_mark, core) + slashes + _blanks(after)


def escape_lines(text: str) -> str:
    """`text` with its lines, and no comment in it."""
    return _SPECIAL_OF_LINES.sub(_mark, text)


def unescape(written: str) -> str:
    """What `escape` or `escape_lines` was given; and what somebody typed who knows nothing of them."""
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
    """`value` as JSON in one line that can stand in an HTML comment: keys in order, no `<`, `>` or `--`."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    written = written.replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return re.sub(_UNSEEN, lambda found: f"\\u{ord(found[0]):04x}", written)
