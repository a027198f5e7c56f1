"""What looks like a secret, out of what was just said.

What a flush has read is redacted thoroughly; this is for the minutes before that, and takes out only what is plainly a
secret: private keys, tokens of well-known forms, passwords in URLs, and what stands right behind "password:".

Must not know: where the text goes.
"""

import re

# Nearly all lines are clean, and a context holds hundreds: plain substrings are looked for first.
_HINTS = (
    "-----begin", "://", "bearer", "pass", "pwd", "secret", "token", "key",
    "sk-", "sk_", "pk-", "pk_", "rk-", "rk_",
    "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "xox", "akia", "asia", "aiza", "eyj",
)  # fmt: skip
_BLOCK = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY.*?(?:-----END [A-Z ]{0,40}-----|\Z)", re.DOTALL)
_URL = re.compile(r"(://[^\s:/?#@]{0,64}:)[^\s/@]{1,200}(?=@)")
_TOKEN = re.compile(
    r"\b(?:(?:sk|pk|rk)[-_][\w-]{16,}|gh[opsur]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{10,}|(?:AKIA|ASIA)[0-9A-Z]{16}|"
    r"AIza[\w-]{30,}|eyJ[\w=-]{8,}\.[\w.+/=-]{4,})"
)
_ANNOUNCED = re.compile(
    r"(?<![^\W_])((?:pass ?(?:word|phrase|code)|passwd|pwd|(?:api|access|secret|private)[ _-]?key|"
    r"(?:client[ _-]?)?secret|(?:access|auth|api|bearer|refresh|session)[ _-]?token|bearer)s?['\"]?"
    r"(?:\s{0,4}(?::=|=>|=|:)\s{0,4}|\s{1,4}(?:is|was)\s{1,4}(?=\S{0,40}[\d!@#$%^&*])|(?<=bearer) {1,4}(?=\S{12})))"
    r"[^\s,;]{3,200}",
    re.IGNORECASE,
)
MASK = "[masked]"


def mask(text: str) -> str:
    """`text` with every such secret replaced by "[masked]". Linear in its length."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return text
    text = _URL.sub(rf"\1{MASK}", _BLOCK.sub(MASK, text))
    return _ANNOUNCED.sub(rf"\1{MASK}", _TOKEN.sub(MASK, text))
