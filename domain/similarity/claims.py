"""Read the claims of a statement: the value of one attribute of one subject, by common sentence frames."""

import re
from collections.abc import Iterable

from slowwave_server.domain.similarity.frames import SECTIONS, Frame
from slowwave_server.domain.similarity.lexicon import is_kind_of, kind_of_name, lemma, stem, wider_words
from slowwave_server.domain.similarity.stopwords import NEGATORS
from slowwave_server.domain.similarity.tokens import tokenise
from slowwave_server.domain.similarity.verdicts import AttributeClaim

MAX_CLAIMS = 8
MAX_CLAUSE = 300
"""A longer clause is a table or prose, and no frame fits it."""

_CLAUSES = re.compile(
    r"[.;!?\n](?:(?<=\n)|(?<!\bDr.)(?<!\bMr.)(?<!\bMs.)(?<!\bMrs.)(?<!\bSt.)(?<!\bProf.)(?<=[^.\s]{2}.)\s+)"
)
_UNCERTAIN = re.compile(r"(?i)(?:an?|some|there|several|many|few|no|any|each|every|someone|nobody|if|when|maybe) ")
"""Openings of a clause about an indefinite subject."""
_MORE = re.compile(
    r"(?i),? (?:with|since|because|while|although|though|which|who|so that|in order to|during|before|after)\b|, "
)
_WHEN = re.compile(
    r"(?i)^(?:these days|nowadays|now|currently|at the moment|lately|(?:starting|as of|from|since) (?:\w+ ){0,2}?\w+),?"
    r" (?=(?:my|our|the|his|her|their)\b|(?-i:[A-Z]))"
)
"""The time at the beginning of a clause, which is no part of its subject."""
_THIS_TIME = re.compile(r",? this time (?=to\b)")
_NEGATED = re.compile(r"\b(?:" + "|".join(sorted(NEGATORS)) + r"|former|formerly|previously)\b", re.IGNORECASE)
_LIGHT_PREPOSITIONS = frozenset("in on at of for to by with from into onto via within".split())
_ARTICLE = re.compile(r"(?i)^(?:the|an?) ")
_OF = re.compile(r"(?i)^(.+?) of (?:the |an? )?(.+)$")
_BEHIND = re.compile(r" (?:for|of|in|on|at|to|with) ")
_NO_SUBJECT = re.compile(
    r"(?i)^(?:being|\w{3,}ing) |"
    r"\b(?:wish|hope|want|think|believe|say|said|told|know|feel|when|if|because|but|that)(?:s|es)?\b"
)
"""Words that are not subjects: actions, and subjects of a sentence around the clause."""
_DOING = re.compile(r"(?i)(?:being|\w{3,}ing|\w+ed|to \w+)\b")
_FUNCTIONAL = frozenset(
    stem(word)
    for word in "name age birthday job role occupation profession title employer company boss manager spouse husband "
    "wife partner home address city hometown email phone number deadline date day time start end budget price cost "
    "rent salary wage version port size capacity limit timezone zone weight height color status diet password username "
    "owner lead leader captain president director editor database framework provider host region default nationality "
    "citizenship religion major degree school university bank doctor dentist landlord flight seat room shift "
    "appointment plate quota threshold interval timeout frequency window slot branch currency language mode".split()
)
"""Stems of nouns that a person has one of at a time."""
_OF_THINGS = ("the ", "our ", "their ", "its ")
_OCCUPATIONS = frozenset("engineer developer programmer manager lawyer consultant student analyst accountant".split())
_WORKERS = ("professional", "worker", "employee", "creator", "scientist", "entertainer", "businessperson")
_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "date",
        re.compile(
            r"(?i)\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d|may \d|\d+:\d\d|tomorrow|"
            r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
            r"nov(?:ember)?|dec(?:ember)?)\b)"
        ),
    ),
    ("quantity", re.compile(r"[$€£¥]?\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\b")),
)


def claims_of(text: str) -> tuple[tuple[AttributeClaim, ...], bool]:
    """Return the claims of `text`, in order, each once, and True if they cover the whole text."""
    found: dict[tuple[str, str, str], AttributeClaim] = {}
    clauses = [clause.strip().rstrip(".!?; ") for clause in _CLAUSES.split(_THIS_TIME.sub(" ", text))]
    whole = sum(map(bool, clauses)) == 1
    for clause in (_WHEN.sub("", clause) for clause in clauses):
        if not clause or len(clause) > MAX_CLAUSE or _UNCERTAIN.match(clause):
            continue
        core = _MORE.split(clause, maxsplit=1)[0]
        whole = whole and core == clause
        for claim in _of_clause(core):
            found.setdefault((claim.subject, claim.attribute, claim.value), claim)
    return tuple(found.values())[:MAX_CLAIMS], whole and bool(found)


def excludes(one: AttributeClaim, other: AttributeClaim) -> bool:
    """Return True if two claims give one attribute of one subject two values that exclude each other.

    A value that only adds detail to the other ("Berlin", "Berlin, Germany") excludes nothing, and neither do two
    descriptions of one occupation ("a good cook", "a trained cook").
    """
    if not one.single or one.attribute != other.attribute or one.value == other.value:
        return False
    if one.subject != other.subject and not _same_name(one.subject.split(), other.subject.split()):
        return False
    if one.attribute == "occupation" and one.value.split()[-1:] == other.value.split()[-1:]:
        return False
    mine, its = set(one.value.split()), set(other.value.split())
    return not (mine <= its or its <= mine)


def _same_name(one: list[str], other: list[str]) -> bool:
    """Return True if one name is the other name plus a family name."""
    return one[: len(other)] == other or other[: len(one)] == one if min(len(one), len(other)) == 1 else False


def normal(text: str) -> str:
    """Return the stems of the content words in `text`, in order, with the function words that change their meaning."""
    return " ".join(
        token.stem
        for token in tokenise(text)
        if token.carries_content
        or token.kind == "negator"
        or (token.kind == "preposition" and token.lemma not in _LIGHT_PREPOSITIONS)
    )


def _of_clause(clause: str) -> Iterable[AttributeClaim]:
    lower = clause.lower()
    for frame in (frame for section in SECTIONS if section.may_fit(lower) for frame in section.frames):
        found = frame.pattern.match(clause)
        if found is None:
            continue
        claim = _claim(frame, found, negated=_NEGATED.search(clause) is not None)
        if claim is not None:
            yield claim
            if frame.final:
                return


def _claim(frame: Frame, found: re.Match[str], *, negated: bool) -> AttributeClaim | None:
    parts = found.groupdict()
    subject, topic = normal(_of_turned(parts["s"])), normal(_of_turned(parts.get("n") or ""))
    words = (parts.get("v") or parts.get("n") or "").strip()
    value = normal(parts.get("v") or "")
    if not subject or not (value or topic) or _NO_SUBJECT.search(parts["s"]):
        return None
    attribute = frame.attribute.format(n=topic, v=value, pair=" / ".join(sorted((value, topic))))
    single = frame.single
    if frame.by_kind:
        kind = _kind(words)
        attribute, single = f"{attribute}:{kind}" if kind else attribute, kind is not None
    if frame.functional and not _is_functional(parts["n"], words, subject=parts["s"]):
        attribute, single = f"{attribute}:{value}", False
    if attribute.startswith("uses:") and not _is_system(parts["s"]):
        single = False
    if attribute == "is" and not parts["s"].lower().startswith(_OF_THINGS):
        attribute, value = ("age", value) if words.isdigit() else (f"is:{value}", "yes")
    if frame.polar and attribute.startswith("is:") and is_occupation(words):
        attribute = "occupation"
    elif frame.polar:
        value = "no" if negated != frame.hostile else "yes"
    if negated and value not in {"yes", "no"}:
        attribute, value = f"{attribute}:{value}", "no"
    return AttributeClaim(
        subject,
        attribute,
        value,
        single,
        "user" if subject == "user" else _ARTICLE.sub("", parts["s"]),
        frame.predicate.format(n=(parts.get("n") or "").strip(), v=words),
        _ARTICLE.sub("", words),
        "person" if subject == "user" or parts["s"][:1].isupper() else "thing",
        frame.object_type or _type(words),
    )


def _is_system(subject: str) -> bool:
    words = subject.lower().split()
    return words[0] in {"the", "our", "their", "its"} and words[-1] not in {
        "user",
        "team",
        "company",
        "group",
        "client",
    }


def _of_turned(words: str) -> str:
    """Turn `the deadline of the project` into `project deadline`."""
    return _OF.sub(r"\2 \1", words)


def _kind(words: str) -> str | None:
    """Return the common kind of the values; None if unknown, "" for names and numbers, which exclude each other."""
    tokens = [token for token in tokenise(words) if token.carries_content]
    if not tokens:
        return None
    if known := kind_of_name(tokens[0].lower):
        return known
    if any(token.kind != "word" for token in tokens):
        return ""
    if len(tokens) > 1:
        return tokens[-1].stem
    wider = wider_words(tokens[0].lemma)
    return wider[-1] if wider else None


def _is_functional(topic: str, words: str, *, subject: str) -> bool:
    """Return True if an attribute has one value at a time, and this text is a value: a name, a noun, a number."""
    if _DOING.match(subject) or _DOING.match(words):
        return False
    head = _BEHIND.split(topic, maxsplit=1)[0].split()[-1].lower()
    return stem(lemma(head)) in _FUNCTIONAL and not (head.endswith("s") and lemma(head) != head)


def is_occupation(words: str) -> bool:
    """Return True if the words name an occupation."""
    head = next((token.lemma for token in reversed(tokenise(words)) if token.kind == "word"), "")
    return head in _OCCUPATIONS or any(is_kind_of(head, wide) for wide in _WORKERS)


def _type(words: str) -> str:
    return next((name for name, pattern in _TYPES if pattern.search(words)), "thing")
