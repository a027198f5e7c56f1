"""Find denials in a statement: of the whole ("does not", "there is no", "no one", "no longer"), or of a part ("without
sugar").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.similarity.clause import AUXILIARIES
from slowwave_server.domain.similarity.spoken import with_digits
from slowwave_server.domain.similarity.tokens import Token, uncontracted

_REWRITES = tuple(
    (re.compile(rf"(?i)\b(?:{pattern})"), instead)
    for pattern, instead in (
        (r"no one|no-one\b", "nobody"),
        (r"(?:can not|cannot) (?:stand|bear)\b", "hates"),
        (r"(?:can not|cannot) (?:wait|help)\b", "wants"),
        (r"no (?:doubt|matter|problem|wonder)\b", ""),
        (r"not (?:only|just|merely)\b", ""),
        (r"(?:nothing|nobody|no one) else\b|no other\b", "only"),
        (r"(?:with no|without|no) exceptions?\b|not (?:before|sooner)\b|no sooner\b", ""),
        (r"(?:rather than|instead of)\b", ", not"),
        (r"no (?:longer|more)\b|not any (?:longer|more)\b", "not"),
        (r"any ?more\b|any longer\b|at all\b", ""),
        (r"(?:has |have )?(?:stopped|quit|given up|gave up|ceased) (?=\w+ing\b)", "not "),
        (r"(?<!is )(?<!are )(?<!was )(?<!get )(?<!gets )(?<!got )used? to (?=\w)", "not "),
        (r"(?:is|are|was) unable to\b", "can not"),
        (r"(?:fails?|failed|failing|refuses?|refused|refusing) to\b", "not"),
        (r"lacks?\b", "has no"),
        (r"(?:happens?|occurs?|takes? place|is held|are held)\b", "is"),
    )
)
_REWRITTEN = re.compile(
    "no[t -]|nobody|without except|rather than|instead of|any ?more|any longer|at all|stopped|quit|given up|gave up|"
    "ceased|use|unable|fail|refus|lack|happen|occur|takes? place|held"
)
"""A text with none of these, in lower case, has no match of _REWRITES."""
_FIRST_PERSON = (
    (re.compile(r"\bI'm\b"), "the user is"),
    (re.compile(r"\bI've\b"), "the user has"),
    (re.compile(r"\bI\b(?!\w)"), "the user"),
    (re.compile(r"\b[Mm]y\b"), "the user's"),
    (re.compile(r"\bthe user am\b"), "the user is"),
)
_SPEAKS = re.compile("I|[Mm]y|the user am")
_OUTRIGHT = frozenset("nobody none nothing never cannot hardly barely scarcely neither nowhere noone".split())
_LOCAL_REACH = 3


@dataclass(frozen=True, slots=True)
class Polarity:
    """The denials of a statement. denied: True if it denies its whole content; without: stems of the parts that it
    calls absent.
    """

    denied: bool
    without: frozenset[str]


def plainly(text: str) -> str:
    """Return `text` with one verb for being ("takes place" as "is"), one negation ("no longer" as "not"), compound
    numbers and times in digits, and no first person.
    """
    text = with_digits(uncontracted(text))
    rewrites = _REWRITES if _REWRITTEN.search(text.lower()) else ()
    for pattern, instead in (*rewrites, *(_FIRST_PERSON if _SPEAKS.search(text) else ())):
        text = pattern.sub(instead, text)
    return text


def polarity(tokens: Sequence[Token]) -> Polarity:
    """Return the denials in the tokens of one statement."""
    denied = 0
    without: set[str] = set()
    for at, token in enumerate(tokens):
        if token.kind != "negator":
            continue
        before = tokens[at - 1] if at else None
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        if _denies_all(token, before, after):
            denied += 1
        else:
            reach = (near for near in tokens[at + 1 : at + 1 + _LOCAL_REACH] if near.carries_content)
            without.update([near.stem for near in reach][:1])
    return Polarity(denied > 0, frozenset(without))


def _denies_all(token: Token, before: Token | None, after: Token | None) -> bool:
    if token.lemma in _OUTRIGHT or before is None:
        return True
    if token.lemma == "no":
        return before.kind != "preposition"
    if token.lemma == "not":
        auxiliary = before.kind == "function" and (before.lemma in AUXILIARIES or before.lemma not in {"and", "but"})
        return auxiliary or before.kind == "possessive" or (after is not None and after.text.lower() in {"to", "be"})
    return False
