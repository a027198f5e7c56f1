"""Recognize text that no person said: code, commands, traces, headers and footers of mails, licences, labels of links.

The patterns look at one sentence as `sentences` returns it, so a command may begin with a capital letter.
"""

import re

MIN_TOKENS = 6
"""Fewer tokens are too few to compare words with other tokens."""
MIN_WORDS = 0.6
"""Minimum share of plain words among the tokens of a sentence; numbers do not count."""
_WORD = re.compile(r"[\"'(*]{0,3}[^\W\d_]+(?:['-][^\W\d_]+)*[.,:;!?)\"'*…]{0,4}")
_NUMBER = re.compile(
    r"[(#$€£+~-]{0,2}\d[\d.,:%/-]*(?:st|nd|rd|th|[a-zA-Z]{1,3})?[.,:;!?)%]{0,3}|[-\u2013\u2014=&+/]{1,2}"
)
_HEADER = r"(?:from|to|cc|bcc|sent|date|subject|de|à|envoyé|objet|von|an|gesendet|betreff|para|enviado|asunto|assunto)"
_MAIL = re.compile(
    rf"^{_HEADER}\s?:.*(?:\S@\S|\b(?:re|fwd?|aw|tr)\s?:|(?<!\w){_HEADER}\s?:)|"
    r"^(?:cc|bcc|sent|envoyé|gesendet|enviado|objet|betreff|asunto|assunto|à|de)\s?:\s|"
    r"^received on (?:mon|tue|wed|thu|fri|sat|sun)\w{0,6}\b|"
    r"^date\s?:\s{0,3}(?:mon|tue|wed|thu|fri|sat|sun)\w{0,6},|"
    r"\b(?:tel|phone|fax|mobile)\s?:\s{0,3}[+\d(].*\be-?mail\s?:|\bis not liable in any way\b",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"\((?:learn|read|see|show) more\)|\bthe undersigned\b|\bdo not (?:sell or )?share my personal information\b|"
    r"\ball rights reserved\b|\breleased under\b.{0,40}\blicen[cs]e\b|\bredistribut\w+\b.{0,60}\bmodif|"
    r"\breceived this (?:e-?mail|message)\b.{0,20}\b(?:error|mistake)|"
    r"\bmay contain\b.{0,30}\b(?:confidential|privileged)|"
    r"\b(?:recebeu|recibido|reçu)\b.{0,40}\b(?:por engano|por error|par erreur)|\birrtümlich (?:erhalten|bekommen)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:error|warning) [A-Z]{1,4}\d{3,5}:|^(?:[\w ]{1,30}: )?(?:\w+\.){0,5}[A-Z]\w{0,40}(?:Error|Exception): "
)
"""The message of a compiler or of an exception."""
_RAW = re.compile(
    r"^[(\[]?\d\d:\d\d:\d\d\b|^[a-z]{3},? (?:[a-z]{3} )?\d{1,2}\b.{0,30}\b\d\d:\d\d:\d\d\b|"
    r"^\w{1,60} = [\w.]{1,60}\(|(?<!\S)\w{1,60}_\w{1,60} = \w|"
    r"^(?:/\*|\*/|;;|#!|<\?|>>> |\([a-z]+[_:-]\w)|\bat \S{1,200} \(\S{1,200}:\d+(?::\d+)?\)|^\S{1,200}\.\w{1,4}:\d+\b|"
    r"^(?:\$ |sudo |git (?:add|commit|push|pull|checkout|clone|rebase|merge|reset|switch) (?:-|\S{0,200}[/.])|"
    r"/[a-z][\w-]{1,30} (?!(?:\w+s|are|can|must|should|will)\b)|"
    r"(?:docker|kubectl|iptables|systemctl|chmod|chown|curl|wget|rm|cp|mv) (?:\S{1,30} )?-\w)",
    re.IGNORECASE,
)


def is_boilerplate(sentence: str) -> bool:
    """Return True for a fixed text of forms, web pages, mails and licences."""
    return _LEGAL.search(sentence) is not None


def is_machine_text(sentence: str) -> bool:
    """Return True if a sentence is code, output of a program, or a fixed text of mails and licences."""
    if any(pattern.search(sentence) is not None for pattern in (_MAIL, _LEGAL, _ERROR, _RAW)):
        return True
    tokens = [token for token in sentence.split() if _NUMBER.fullmatch(token) is None]
    if len(tokens) < MIN_TOKENS:
        return False
    return sum(_WORD.fullmatch(token) is not None for token in tokens) < MIN_WORDS * len(tokens)
