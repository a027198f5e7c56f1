"""Read the explicit relations of a statement: subject, predicate, object, and the type of each end.

There are two sources: claims that were already read (an attribute of a subject), and simple clauses of subject, verb
and object. Statements that are denied, asked, wished or supposed give no relation, and neither does an unclear
sentence: a missing relation does little harm, a wrong one misleads.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slowwave_server.domain.clauses import VAGUE_NOUNS, Clause, first_clause, is_person, words_of
from slowwave_server.domain.extraction.verbs import is_past
from slowwave_server.domain.relation_objects import FINITE, fits, head_of, is_cut, words_of_value
from slowwave_server.domain.similarity import AttributeClaim, Reading
from slowwave_server.domain.similarity.lexicon import is_kind_of, lemma, parts_of_speech
from slowwave_server.domain.similarity.quotes import plain_words, speakers_of
from slowwave_server.domain.similarity.stopwords import ORDINALS
from slowwave_server.domain.similarity.tokens import Token, tokenise

MAX_RELATIONS = 8
MAX_SENTENCES = 4
MAX_SUBJECT_WORDS = 4
MAX_PREDICATE_WORDS = 5
CLAIMED = 0.9
"""Confidence in a relation from a claim."""
NAMED = 0.7
"""Confidence in a clause whose object has a name."""
PLAIN = 0.6
"""Confidence in a clause whose object is any noun."""

_SENTENCES = re.compile(r"(?<=[^.\s]{2})[.;!]\s+|\n")
_BREAKS = re.compile(r"[,:](?=\s)|[();\u2013\u2014]|\s-\s")
_UNREAL = re.compile(
    r"(?i)\?|\b(?:if|unless|can|whether|maybe|perhaps|probably|might|may|would|could|should|will|shall|going to|"
    r"used to|almost|nearly|pretend\w*|imagin\w*|wish\w*|hop(?:e|es|ed|ing)|plans?|planned|planning|consider\w*|"
    r"dream\w*|seldom|rarely|hardly|barely|no longer|stopped|former|formerly|previously)\b|['\u2019](?:ll|d)\b"
)
_REST_OF_LIST = r"(?:, [^.;]*?)?,? (?:and|or|&) (?![^.;]*\b(?:am|is|are|was|were|has|have)\b)"
_WEEKDAY = re.compile(r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")
# In a subject or a predicate these words belong to another sentence.
_HALF = re.compile(r"(?i)\b(?:and|or|but|that|which|who|to|they|she|he|her|his|their|it|because|when|if)\b")
_SPEAKERS = re.compile(r"(?i)(?:i|we|you|they|he|she|it)(?:['\u2019]\w+)?$")
_WAS = re.compile(r"(?i)\b(?:was|were)\b")
_ONCE = re.compile(r"(?<!has )(?<!have )\b(?:lived|resided|worked)\b")
_NEVER_OWNED = frozenset("always been never just so not".split())
_WITH_TO = frozenset({"is married to", "is allergic to", "is engaged to"})
_SMALL_IN_NAMES = frozenset("of the de van von".split())
_HELD_AT = {"dislikes": "no"}
"""The value of a polarity at which a claim's predicate is true; "yes" for all others."""
_TYPE_AFTER = {"with": "person", "at": "organisation", "for": "organisation", "in": "place"}
_TYPE_OF_VERB = {
    "move": "place", "travel": "place", "visit": "place", "fly": "place", "drive": "place", "go": "place",
    "meet": "person", "manage": "person", "marry": "person", "mentor": "person", "help": "person", "support": "person",
    "encourage": "person", "admire": "person", "join": "organisation", "found": "organisation",
}  # fmt: skip
_TYPE_OF_NOUN = {"organization": "organisation", "city": "place", "country": "place", "building": "place"}


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of two ends in the words of the text; types: person, organisation, place, date, quantity, thing.

    confidence: the probability that the text says so, from 0 to 1.
    """

    subject: str
    subject_type: str
    predicate: str
    object: str
    object_type: str
    confidence: float


def triples(reading: Reading) -> tuple[Relation, ...]:
    """Return the relations of a text, each once, at most MAX_RELATIONS."""
    if reading.negated:
        return ()
    text = plain_words(reading.text)
    sentences = _SENTENCES.split(text)
    found = [one for one in _of_claims(reading.claims) if not _is_misread(one, text, sentences)]
    heads = {head_of(relation.object) for relation in found}
    claimed = {(relation.subject, relation.predicate) for relation in found}
    for sentence in sentences[:MAX_SENTENCES]:
        clause = None if _UNREAL.search(sentence) else first_clause(tokenise(_BREAKS.split(sentence, maxsplit=1)[0]))
        if clause is None or _SPEAKERS.match(clause.subject) or _is_no_deed(clause):
            continue
        relation = _of_clause(clause)
        is_name = clause.phrase[-1].kind == "name"
        if relation.object == relation.subject or is_cut(relation.object, sentence, is_name=is_name):
            continue
        # A relation from a claim is not repeated in the words of the clause.
        if head_of(relation.object) not in heads and (relation.subject, relation.predicate) not in claimed:
            found.append(relation)
    # "Course I agree", said by Maya: "Course Maya" is no name.
    torn = tuple(f"{mark}{speaker}" for speaker in speakers_of(reading.text) for mark in " -")
    return tuple(dict.fromkeys(one for one in found if not one.subject.endswith(torn)))[:MAX_RELATIONS]


def _is_no_deed(clause: Clause) -> bool:
    """Return True if the object is really a participle of a passive sentence ("is sunk tons"), if the clause has no
    verb ("RV booking number"), or if a name follows the object ("I named her Tilly").
    """
    words = clause.predicate.split()
    names = clause.verb in {"call", "name"} and not clause.preposition
    return names or words[0].endswith("ing") or (words[0] in {"is", "was", "are", "were"} and is_past(words[-1]))


def _of_clause(clause: Clause) -> Relation:
    return Relation(
        clause.subject,
        "person" if clause.of_person else "thing",
        clause.predicate,
        words_of(clause.phrase),
        _type(clause.phrase, clause.verb, clause.preposition),
        NAMED if clause.phrase[-1].kind == "name" else PLAIN,
    )


def _is_misread(relation: Relation, text: str, sentences: Sequence[str]) -> bool:
    """Return True if the text only supposes the relation, tells it of the past, or says something narrower, or if the
    object is the subject again, a part of a title or of a list, or no place.
    """
    predicate, words = relation.predicate, relation.object
    own = set(words.split()) <= set(relation.subject.split())
    said = [sentence for sentence in sentences if words in sentence]
    if (
        own  # "I'm Ola", said by Ola Berg
        or words.startswith(f"{relation.subject}'s ")
        or words.endswith(f" {relation.subject}")
        or words.count('"') % 2  # the half of a title
        or (predicate == "lives in" and words[:1].islower())  # "moved to config"
        or _is_part(predicate, words, text)
        or any(_UNREAL.search(sentence) for sentence in said)
    ):
        return True
    if predicate.startswith(("lives", "works")):
        return any(_ONCE.search(sentence) for sentence in said)
    if predicate.startswith("is"):
        return f"'s {words}" in text or any(_WAS.search(sentence) for sentence in said)
    return words.endswith("ing") and f"{words} with " in text


def _is_part(predicate: str, words: str, text: str) -> bool:
    """Return True for the first of a list, an adjective of several ("a one-week, cheap trip"), and the first of
    two features ("loves the color and texture").
    """
    if predicate == "is" or predicate.startswith("has the "):
        return re.search(f"{re.escape(words)}{_REST_OF_LIST}", text) is not None
    if predicate == "is a":
        return "-" in head_of(words) and f"{words}, " in text
    return predicate in {"likes", "dislikes"} and words.islower() and f" the {words} and " in text


def _of_claims(claims: Iterable[AttributeClaim]) -> Iterator[Relation]:
    for claim in claims:
        polar = claim.value in {"yes", "no"}
        if claim.value.startswith("not ") or (polar and claim.value != _HELD_AT.get(claim.predicate, "yes")):
            continue
        words = words_of_value(claim.object_text)
        if words is not None and _is_clear(claim) and fits(claim.predicate, words, is_single=claim.single):
            of = _checked_type(claim.object_type, words)
            yield Relation(claim.subject_text, _subject_type(claim), claim.predicate, words, of, CLAIMED)


def _is_clear(claim: AttributeClaim) -> bool:
    """Return True if subject and predicate have few words each, and neither contains half of another sentence."""
    subject, predicate = claim.subject_text, claim.predicate
    if not (0 < len(subject.split()) <= MAX_SUBJECT_WORDS and len(predicate.split()) <= MAX_PREDICATE_WORDS):
        return False
    if predicate == "likes" and subject.endswith("s") and parts_of_speech(tokenise(subject)[-1].lemma).startswith("n"):
        return False  # "Themes like sisterhood"
    if (
        subject.startswith(("One of ", "user "))
        or tokenise(subject)[-1].lemma in VAGUE_NOUNS
        or (subject.istitle() and parts_of_speech(lemma(subject.lower())).startswith(("v", "a", "r")))
    ):
        return False  # "Let …", "Less …": the first word of a command or a phrase, not a name
    if _HALF.search(subject) or FINITE.search(subject) or (_HALF.search(predicate) and predicate not in _WITH_TO):
        return False
    if any(word in _NEVER_OWNED or word.istitle() for word in predicate.split()[2:]):
        return False  # "Nature's always been my haven": "is", not "has"
    # More words than a name after a capital: "Maya's brother" is a person, "Maya appreciates Jonas" a sentence.
    owner, _, owned = subject.partition("'s ")
    small = any(word[:1].islower() and word not in _SMALL_IN_NAMES for word in owner.split())
    return not (owner[:1].isupper() and (small or len(owned.split()) > 1))


def _subject_type(claim: AttributeClaim) -> str:
    """Return the type of a subject. A capital marks a name, and only a name can be a person."""
    subject = claim.subject_text
    if subject == "user" or (subject[:1].isupper() and "'s " not in subject):
        # At the beginning of a sentence any noun has a capital: "Garlic is …".
        noun = " " not in subject and parts_of_speech(subject.lower()).startswith("n")
        return "thing" if noun and subject != "user" else claim.subject_type
    tokens = tokenise(subject)
    return "person" if tokens and is_person(tokens[-1]) else "thing"


def _checked_type(kind: str, words: str) -> str:
    """Return the type of a claim's value, even if the value was shortened."""
    tokens = tokenise(words)
    if kind not in {"thing", "date", "quantity"} or not tokens:
        return kind
    numbers = any(token.kind in {"number", "date", "time"} for token in tokens) or _WEEKDAY.search(words) is not None
    named = tokens[0].kind == "name" and tokens[-1].kind != "date"  # "PostgreSQL 16" is not a quantity
    return kind if numbers and not named else _type(tokens, "", "")


def _type(phrase: Sequence[Token], verb: str, preposition: str) -> str:
    first, last = phrase[0], phrase[-1]
    if last.kind == "name" or first.kind == "name":
        return (_TYPE_AFTER.get(preposition) or _TYPE_OF_VERB.get(verb) or "thing") if last.kind == "name" else "thing"
    if first.kind == "number" and first.text.lower() not in ORDINALS:
        return "quantity"
    if first.text.lower().endswith("ing"):
        return "thing"
    if is_person(last):
        return "person"
    return next((kind for noun, kind in _TYPE_OF_NOUN.items() if is_kind_of(last.lemma, noun)), "thing")
