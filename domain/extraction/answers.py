"""Turn a short answer and its question into a statement.

"Do you have children?" and "Yes, two." together become "I have children: two." The rules accept only safe cases: one
plain question to "you", answered by a plain yes, no or fragment. The statement is in the first person of the speaker
who answers.
"""

import re

MAX_QUESTION = 160
"""Characters. The meaning of a yes to a longer question is uncertain."""

_QUESTION = re.compile(
    r"^(?:(?:so|and|but|oh|well|hey|wow|cool|nice)[\s,!]{1,3}){0,2}(?P<aux>do|did|are|were|have|can) you "
    r"(?P<ever>ever )?(?:(?:still|also|currently|actually|really|usually) ){0,2}(?P<rest>[^?]{2,90})\?$",
    re.IGNORECASE,
)
_WHAT = re.compile(r"^(?:so |and )?what(?:'s| is| are) your (?P<what>[a-z' ]{2,40})\?$", re.IGNORECASE)
_WHERE = re.compile(r"^(?:so |and )?where do you (?P<verb>live|work|study)\?$", re.IGNORECASE)
_KIND = re.compile(
    r"^(?:so |and )?(?:what|which) (?P<kind>(?:(?:kind|type|sort)s? of )?[a-z' ]{2,30}?) do you (?P<verb>[a-z]{2,12})"
    r"(?: (?:best|most|the most))?\?$",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:oh |well |why )?(?:yes|yeah|yea|yep|yup|sure|definitely|absolutely|of course|i do|i am|i did|i have|i can)\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^(?:oh |well |sadly |unfortunately )?(?:no\b|nope|nah|not (?:yet|really|at all)|never|i (?:don't|do not|haven't|"
    r"have not|didn't|am not|can't))",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"\b(?:oh|well|why|yes|yeah|yea|yep|yup|sure|definitely|absolutely|of course|no|nope|nah|not|yet|really|at all|"
    r"never|sadly|"
    r"unfortunately|actually|indeed|i (?:do|am|did|have|can|don't|do not|haven't|have not|didn't|am not|can't))\b|"
    r"[\s,.!-]",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",?\s*\b(?:too|then|anyway|though|by the way|by any chance|right now|these days|at all|at the moment)\s*$",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"\b(?:or|think|know|mind|agree|mean|believe|hear|heard|remember|sure|want|it|that|them|those|this|one|there|me|"
    r"my|us|we|our|what|how|why|who|when|if)\b",
    re.IGNORECASE,
)
_SECOND_TO_FIRST = {"you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
_SECOND = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_SENTENCE_LIKE = re.compile(
    r"^(?:it|they|that|we|i|he|she|you|there|this|my|the|but|and|so|because|just)\b|"
    r"\b(?:is|are|was|were|have|has|had|i|i'm|it's|do|does|did|can|will|would|know|think|sure|idea|you)\b|\?",
    re.IGNORECASE,
)
_PLACE = ("in ", "at ", "near ", "outside ", "on ", "just ", "close ")
_LOWER = (*_PLACE, "mostly ", "mainly ", "usually ", "any ", "all ", "anything ")
_FORMS = {
    "do": ("I ", "I do not "), "did": ("I did ", "I did not "), "are": ("I am ", "I am not "),
    "were": ("I was ", "I was not "), "have": ("I have ", "I have not "), "can": ("I can ", "I can not "),
}  # fmt: skip


def statement(question: str, answer: str) -> str | None:
    """Return the first-person statement that `question` and `answer` make together; None if it would be a guess.

    Both are single sentences with straight quotes.
    """
    if len(question) > MAX_QUESTION or len(answer) > MAX_QUESTION:
        return None
    asked = _QUESTION.match(question)
    if asked is not None:
        return _yes_or_no(asked, answer)
    return _open_question(question, answer.strip(" .!"))


def _open_question(question: str, fragment: str) -> str | None:
    """Handle "What is your …?", "Where do you …?" and "What kind of … do you …?" with a fragment as the answer."""
    if (
        not fragment
        or fragment.count(" ") > 6
        or _SENTENCE_LIKE.search(fragment)
        or _YES.match(fragment)
        or _NO.match(fragment)
    ):
        return None
    if fragment.lower().startswith(_LOWER):
        fragment = fragment[:1].lower() + fragment[1:]
    if (what := _WHAT.match(question)) is not None:
        verb = "are" if " are your " in question.lower() else "is"
        return f"My {what['what']} {verb} {fragment}."
    if (where := _WHERE.match(question)) is not None:
        return f"I {where['verb'].lower()} {fragment if fragment.lower().startswith(_PLACE) else f'in {fragment}'}."
    if (kind := _KIND.match(question)) is not None:
        return f"I {kind['verb'].lower()} {fragment} ({kind['kind'].lower()})."
    return None


def _yes_or_no(asked: re.Match[str], answer: str) -> str | None:
    rest = _TAG.sub("", asked["rest"]).strip(" ,.")
    if not rest or _UNCLEAR.search(rest):
        return None
    negative = _NO.match(answer) is not None
    if not negative and _YES.match(answer) is None:
        return None
    detail = _ECHO.sub(" ", answer).split()
    if detail and (negative or len(detail) > 4 or _SENTENCE_LIKE.search(" ".join(detail))):
        return None
    aux = asked["aux"].lower()
    rest = _SECOND.sub(lambda match: _SECOND_TO_FIRST[match.group().lower()], rest)
    if negative and aux == "have" and asked["ever"]:
        return f"I have never {rest}."
    lead = _FORMS[aux][1 if negative else 0]
    if not negative:
        rest = re.sub(r"\bany\b ?", "", rest)
    return f"{lead}{rest}: {' '.join(detail)}." if detail else f"{lead}{rest}."
