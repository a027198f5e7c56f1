"""Decide whether the object of a relation is a name or a whole noun phrase, which names something by itself.

Half of a phrase names another thing or nothing: "blocks SA" of "blocks SA auth", the adjective of "is 100% sure".
"""

import re

from slowwave_server.domain.clauses import MAX_OBJECT_WORDS, VAGUE_NOUNS
from slowwave_server.domain.extraction.verbs import is_past
from slowwave_server.domain.similarity.lexicon import lemma, parts_of_speech
from slowwave_server.domain.similarity.stopwords import FUNCTION_WORDS, NUMBERS

EDGES = " .!'\"\u2018\u2019\u201c\u201d"
"""Characters around an object that are no part of it."""
_ENDS = re.compile(
    r"(?i),(?!\d)|[;(]|\s(?:right now|and|but|because|since|so|when|while|where|who|which|that|although|though|as|"
    r"after|before|until|with|for|every|each|yesterday|today|now|lately|recently|again|too|very much|a lot|in general|"
    r"to|like|such|including)\b"
)
# Without these words the object would be another thing: "flights that depart after 8", "action and sci-fi movies".
_NARROWS = re.compile(r"(?i)^\s(?:(?:that|which|who|where|like|such)\b|(?:and|or) \S+ \S)")
_DEFINES = re.compile(r"(?:about|from|into|of|that|where|which|who|whose|for (?!(?:his|her|their|my|our|its|\d+)\b))\b")
# What follows tells how or when, and names nothing: "is running on a laptop", "are whenever they can".
_TELLS_HOW = re.compile(
    r"(?i)(?:\w+ing|about|at|for|from|in|into|key|like|of|on|with|wh(?:at|en|ere|o|ich)(?:ever)?)\b"
)
_HALF_OF_PAIR = re.compile(r" (?:and|or|&) (?P<other>[\w-]+) (?P<noun>[\w-]+)")
_HALF_QUOTED = re.compile(r"[^s]['\u2019\u201d\"] ")
_TITLE_ENDS = re.compile(r"[.,]?[\"'\u2019\u201d]")
_ARTICLE = re.compile(r"(?i)^(?:an?|the) ")
FINITE = re.compile(r"(?i)\b(?:is|are|was|were|has|have)\b")
"""A verb that makes a sentence of a phrase."""
_INNER = re.compile(r"(?i)\s(?:the|an?|his|her|their|its)\s")
_LEANS_ON_TALK = re.compile(r"\b(?:them|him|it|our|my|your|these|those)\b|\ball the\b")
_BEFORE_PHRASE = re.compile(r" (?:about|at|for|from|in|of|on|with) ")
_COUNTED = frozenset("one no all some any both each every other another such same own".split())
_PORTIONS = frozenset("few bit lot couple ton little".split())
_DETERMINERS = frozenset("a an the his her their its my our your".split())
_TRAILING = FUNCTION_WORDS | frozenset("in on at of to for with from by about into over under as".split())
_REFERS = frozenset("it them him her that this".split())
_OF_THINGS = frozenset({"likes", "dislikes", "prefers", "has", "uses", "owns", "is", "is a", "works as"})
_FORMS = ("ed", "ing", "ly")
"""Endings of words that the lexicon of base forms lacks and that are no nouns: "a club called Northern Oars"."""
_VAGUE = VAGUE_NOUNS | {"place", "things"}
_PARTICLES = frozenset("up off out down away back over".split())
_STATES = ("going ", "doing ", "being ", "getting ", "having ")


def head_of(words: str) -> str:
    """Return the last word, by which two spellings of an object count as the same."""
    return words.casefold().rsplit(" ", 1)[-1]


def is_cut(words: str, sentence: str, *, is_name: bool) -> bool:
    """Return True if an object is only a part of its name ("blocks SA" of "blocks SA auth"), half of a pair ("drone and
    ground cameras"), or a noun that the next words define ("raised a PR for …", "systems needed to …").
    """
    found = re.search(rf"(?:\b(?P<before>\w+) )?(?P<quote>[\"'\u2018\u201c]?){re.escape(words)}(?![\w'-])", sentence)
    last = words.rpartition(" ")[2]
    if found is None or (last.islower() and is_past(last)) or _HALF_QUOTED.search(words):
        return True  # "the kids & work", "helps Maya stay focused", "finished 6-month", "Bezel Click' technique"
    rest = sentence[found.end() :]
    if found["quote"] and not _TITLE_ENDS.match(rest):
        return True  # "Kiln Guide: Part One"
    pair = _HALF_OF_PAIR.match(rest)
    if pair and " " not in words and not last.endswith("s") and found["before"] not in _DETERMINERS:
        return _is_noun(pair["noun"]) and not pair["other"].endswith(_FORMS)
    following = re.match(r" (?P<word>[\w.-]*\w)|:\S", rest)
    word = following["word"] if following else None
    return following is not None if word is None else _goes_on(word, rest[1:], is_name=is_name)


def _goes_on(word: str, rest: str, *, is_name: bool) -> bool:
    """Return True if `word`, the first of `rest`, belongs to the object before it, or defines it."""
    if is_name and word in _PARTICLES:
        return True  # "hooked Maya up"
    if not is_name and (_DEFINES.match(rest) or (is_past(word) and word not in {"called", "named"})):
        return True
    known = parts_of_speech(word.lower())
    noun = known.startswith("n") or not (known or word in FUNCTION_WORDS or word.endswith(_FORMS))
    return (noun or not word.islower()) and _ENDS.match(f" {word}") is None


def words_of_value(text: str) -> str | None:
    """Return the name in the value of a claim, without its description; None if the value names nothing."""
    spaced = f" {text}"
    end = _ENDS.search(spaced)
    words = _ARTICLE.sub("", spaced[: end.start() if end else None].strip(EDGES))
    narrowed = end is not None and _NARROWS.match(spaced[end.start() :]) is not None
    if (narrowed and len(words.split()) == 1) or ": " in words or FINITE.search(words):
        return None
    while words and (trailing := words.rpartition(" ")[2].lower()) in _TRAILING:  # "dark mode in" every editor
        if trailing in _REFERS:
            return None  # "a huge fan of it"
        words = words.rpartition(" ")[0]
    last = head_of(words.partition(" of ")[0])
    # Only the verb of "listening to the radio" would remain.
    torn = last.endswith("ing") and words != text.strip(EDGES)
    first = words.partition(" ")[0].lower().strip("'\"")
    leans = first in FUNCTION_WORDS or first in {"how", "why", "when", "where"} or first in _PORTIONS
    leans = leans and first not in _COUNTED  # "them", "how it looks", "been great", "this quote", "few games"
    vague = not last or leans or words.startswith(_STATES) or lemma(last) in _VAGUE or is_past(last)
    return None if torn or vague or len(words.split()) > MAX_OBJECT_WORDS else words


def fits(predicate: str, words: str, *, is_single: bool) -> bool:
    """Return True if the predicate can have this object: a name for "is", a thing for likes, has and uses.

    is_single: True if the attribute of "has the …" has one value at a time.
    """
    described = predicate.startswith("has the ") and not predicate.startswith("has the favo")
    # "has the team: calls", "has the store: open", "has the eldest: 9"
    is_value = is_single or not words.islower() or any(map(str.isdigit, words))
    if (
        (predicate == "is" and (_INNER.search(words) or _is_sentence(words)))
        or (predicate in {"works as", "has"} and words.endswith("ing"))  # "has a pipe sitting" in the yard
        or (predicate in {"likes", "dislikes"} and _LEANS_ON_TALK.search(words))
        or (predicate.startswith("has the ") and _TELLS_HOW.match(words))
        or (described and (not is_value or (_is_adjective(head_of(predicate)) and not words[:1].isupper())))
    ):
        return False
    # Only the adjective of "the warm, soft bread" would remain. A colour may be a favourite thing.
    if not (described or predicate in _OF_THINGS):
        return predicate not in {"has the favorite", "has the favourite"}
    heads = {words, _BEFORE_PHRASE.split(words, maxsplit=1)[0] if predicate == "is a" else words}
    return not any(_is_adjective(head.rpartition(" ")[2]) for head in heads)


def _is_adjective(word: str) -> bool:
    is_plural = word.endswith("s") and not word.endswith(("ss", "us"))  # only nouns have a plural
    is_word = word.islower() and word not in NUMBERS and not word.endswith("ing")
    return is_word and not is_plural and parts_of_speech(word).startswith("a")


def _is_sentence(words: str) -> bool:
    """Return True for a name and its verb: "The only problem is Maya work in Oslo"."""
    name, _, verb = words.partition(" ")
    return name.isalpha() and name.istitle() and parts_of_speech(verb.partition(" ")[0]).startswith("v")


def _is_noun(word: str) -> bool:
    return parts_of_speech(lemma(word.lower())).startswith("n")
