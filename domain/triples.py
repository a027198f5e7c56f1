"""Read the explicit relations of a statement: subject, predicate, object, and the type of each end.

There are two sources: claims that were already read (an attribute of a subject), and simple clauses of subject, verb
and object. Statements that are denied, asked, wished or supposed give no relation, and neither does an unclear
sentence: a missing relation does little harm, a wrong one misleads.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from slowwave_server.domain.clauses import MAX_OBJECT_WORDS, VAGUE_NOUNS, Clause, first_clause, is_person, words_of
from slowwave_server.domain.extraction.verbs import is_past
from slowwave_server.domain.similarity import AttributeClaim, Reading
from slowwave_server.domain.similarity.lexicon import is_kind_of, parts_of_speech
from slowwave_server.domain.similarity.quotes import plain_words
from slowwave_server.domain.similarity.stopwords import FUNCTION_WORDS, ORDINALS
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
    r"dream\w*|no longer|stopped|former|formerly|previously)\b|['\u2019](?:ll|d)\b"
)
_ENDS_OBJECT = re.compile(
    r"(?i)[,;(]|\s(?:right now|and|but|because|since|so|when|while|where|who|which|that|although|though|as|after|"
    r"before|until|with|for|every|each|yesterday|today|now|recently|again|too|very much|a lot|in general|to|like|such|"
    r"including)\b"
)
# Without these words the object would be another thing: "flights that depart after 8", "action and sci-fi movies".
_NARROWS = re.compile(r"(?i)^\s(?:(?:that|which|who|where)\b|(?:and|or) \S+ \S)")
_DEFINES = re.compile(r"(?:about|from|into|of|that|which|who|whose|for (?!(?:his|her|their|my|our|its|\d+)\b))\b")
# What follows tells how or when, and names nothing: "is running on a laptop", "are whenever they can".
_TELLS_HOW = re.compile(r"(?i)(?:\w+ing|about|at|for|from|in|key|like|of|on|with|wh(?:at|en|ere|o|ich)(?:ever)?)\b")
_EDGES = " .!'\"\u2018\u2019\u201c\u201d"
_ARTICLE = re.compile(r"(?i)^(?:an?|the) ")
_WEEKDAY = re.compile(r"(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")
# In a subject or a predicate these words belong to another sentence.
_HALF = re.compile(r"(?i)\b(?:and|or|but|that|which|who|to|they|she|he|her|his|their|it|because|when|if)\b")
_FINITE = re.compile(r"(?i)\b(?:is|are|was|were|has|have)\b")
_SPEAKERS = re.compile(r"(?i)(?:i|we|you|they|he|she|it)(?:['\u2019]\w+)?$")
_WAS = re.compile(r"(?i)\b(?:was|were)\b")
_NEVER_OWNED = frozenset("always been never just so not".split())
_WITH_TO = frozenset({"is married to", "is allergic to", "is engaged to"})
_SMALL_IN_NAMES = frozenset("of the de van von".split())
_INNER = re.compile(r"(?i)\s(?:the|an?|his|her|their|its)\s")
_COUNTED = frozenset("one no all some any both each every other another such same own".split())
_TRAILING = FUNCTION_WORDS | frozenset("in on at of to for with from by about into over under as".split())
_OF_THINGS = frozenset({"likes", "dislikes", "prefers", "has", "uses", "owns"})
_FORMS = ("ed", "ing", "ly")
"""Endings of words that the lexicon of base forms lacks and that are no nouns: "a club called Northern Oars"."""
_STATES = ("going ", "doing ", "being ", "getting ", "having ")
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
    heads = {_head(relation.object) for relation in found}
    claimed = {(relation.subject, relation.predicate) for relation in found}
    for sentence in sentences[:MAX_SENTENCES]:
        clause = None if _UNREAL.search(sentence) else first_clause(tokenise(_BREAKS.split(sentence, maxsplit=1)[0]))
        if clause is None or _SPEAKERS.match(clause.subject) or _is_passive(clause):
            continue
        relation = _of_clause(clause)
        if _is_cut(relation.object, sentence, is_name=clause.phrase[-1].kind == "name"):
            continue
        # A relation from a claim is not repeated in the words of the clause.
        if _head(relation.object) not in heads and (relation.subject, relation.predicate) not in claimed:
            found.append(relation)
    return tuple(dict.fromkeys(found))[:MAX_RELATIONS]


def _is_passive(clause: Clause) -> bool:
    """Return True if the object is really a participle of a passive sentence: "is sunk tons"."""
    words = clause.predicate.split()
    return words[0] in {"is", "was", "are", "were"} and is_past(words[-1])


def _is_cut(words: str, sentence: str, *, is_name: bool) -> bool:
    """Return True if an object is only the beginning of its name ("blocks SA" of "blocks SA auth"), or a noun that the
    next words define ("raised a PR for …", "ran into a group of …").
    """
    after = re.search(rf"{re.escape(words)}(?: (?P<word>[\w.-]*\w)|(?P<path>:\S))", sentence)
    if after is None or after["path"]:
        return after is not None
    if not is_name and _DEFINES.match(sentence, after.start("word")):
        return True
    known = parts_of_speech(after["word"].lower())
    noun = known.startswith("n") or not (known or after["word"] in FUNCTION_WORDS or after["word"].endswith(_FORMS))
    return (noun or not after["word"].islower()) and _ENDS_OBJECT.match(f" {after['word']}") is None


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
    own = set(relation.object.split()) <= set(relation.subject.split())
    if own or relation.object.startswith(f"{relation.subject}'s ") or relation.object.count('"') % 2:
        return True  # "I'm Ola", said by Ola Berg; the half of a title
    if relation.predicate == "lives in" and relation.object[:1].islower():
        return True  # "moved to config"
    if (relation.predicate == "is" or relation.predicate.startswith("has the ")) and f"{relation.object} and " in text:
        return True  # the first of a list
    said = [sentence for sentence in sentences if relation.object in sentence]
    if any(_UNREAL.search(sentence) for sentence in said):
        return True
    if relation.predicate.startswith("is"):
        return f"'s {relation.object}" in text or any(_WAS.search(sentence) for sentence in said)
    return relation.object.endswith("ing") and f"{relation.object} with " in text


def _of_claims(claims: Iterable[AttributeClaim]) -> Iterator[Relation]:
    for claim in claims:
        polar = claim.value in {"yes", "no"}
        if claim.value.startswith("not ") or (polar and claim.value != _HELD_AT.get(claim.predicate, "yes")):
            continue
        words = _object_words(claim.object_text)
        if words is not None and _is_clear(claim) and _fits(claim.predicate, words):
            of = _checked_type(claim.object_type, words)
            yield Relation(claim.subject_text, _subject_type(claim), claim.predicate, words, of, CLAIMED)


def _object_words(text: str) -> str | None:
    """Return the name in the value of a claim, without its description; None if the value names nothing."""
    spaced = f" {text}"
    end = _ENDS_OBJECT.search(spaced)
    words = _ARTICLE.sub("", spaced[: end.start() if end else None].strip(_EDGES))
    narrowed = end is not None and _NARROWS.match(spaced[end.start() :]) is not None
    if (narrowed and len(words.split()) == 1) or ": " in words or _FINITE.search(words):
        return None
    while words and words.rpartition(" ")[2].lower() in _TRAILING:  # "dark mode in" every editor
        words = words.rpartition(" ")[0]
    last = _head(words.partition(" of ")[0])
    # Only the verb of "listening to the radio" would remain.
    torn = last.endswith("ing") and words != text.strip(_EDGES)
    first = words.partition(" ")[0].lower().strip("'\"")
    leans = (
        first in FUNCTION_WORDS or first in {"how", "why", "when", "where"}
    ) and first not in _COUNTED  # "them", "how it looks", "been great", "this quote"
    vague = not last or leans or words.startswith(_STATES) or last in VAGUE_NOUNS or is_past(last)
    return None if torn or vague or len(words.split()) > MAX_OBJECT_WORDS else words


def _fits(predicate: str, words: str) -> bool:
    """Return True if the predicate can have this object: a name for "is", a thing for likes, has and uses."""
    if predicate == "is":
        return _INNER.search(words) is None
    # Only the adjective of "the warm, soft bread" would remain; "has the dogs: more important" tells how, not which
    # object. A colour may be a favourite thing.
    described = predicate.startswith("has the ") and not predicate.startswith("has the favo")
    described = described or predicate in {"is a", "works as"}
    last = tokenise(words)[-1:]
    if predicate == "works as" and words.endswith("ing"):
        return False
    if predicate.startswith("has the ") and _TELLS_HOW.match(words):
        return False
    if not (predicate in _OF_THINGS or described) or not last or words.endswith("s"):  # only nouns have a plural
        return True
    return last[0].kind != "word" or not parts_of_speech(last[0].lemma).startswith("a")


def _is_clear(claim: AttributeClaim) -> bool:
    """Return True if subject and predicate have few words each, and neither contains half of another sentence."""
    subject, predicate = claim.subject_text, claim.predicate
    if not (0 < len(subject.split()) <= MAX_SUBJECT_WORDS and len(predicate.split()) <= MAX_PREDICATE_WORDS):
        return False
    if predicate == "likes" and subject.endswith("s") and parts_of_speech(tokenise(subject)[-1].lemma).startswith("n"):
        return False  # "Themes like sisterhood"
    if (
        subject.startswith("One of ")
        or tokenise(subject)[-1].lemma in VAGUE_NOUNS
        or (subject.istitle() and parts_of_speech(subject.lower()).startswith("v"))
    ):
        return False  # "Let …": the first word of a command, not a name
    if _HALF.search(subject) or _FINITE.search(subject) or (_HALF.search(predicate) and predicate not in _WITH_TO):
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


def _head(words: str) -> str:
    """Return the last word, by which two spellings of an object count as the same."""
    return words.casefold().rsplit(" ", 1)[-1]
