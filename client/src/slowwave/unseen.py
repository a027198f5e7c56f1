"""Characters that nobody sees but a program or a model reads.

Must not know: what a text is for.
"""

import re

# Joiners of words have two honest uses: emoji of several parts, and letters of scripts that join (Persian, Indian
# scripts). Elsewhere, and several in a row, they hide something.
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ALWAYS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
UNSEEN = re.compile(f"[{_ALWAYS}{_JOINERS}{_SELECTORS}]")
