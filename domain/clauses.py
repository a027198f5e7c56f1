"""Read simple clauses without a tagger: the actor with whom a sentence begins, the verb, and its object.

If a clause is not clear, every function returns nothing instead of a guess.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slowwave_server.domain.extraction.verbs import is_adverb, is_past
from slowwave_server.domain.extraction.words import WORDS
from slowwave_server.domain.similarity.lexicon import is_kind_of, parts_of_speech
from slowwave_server.domain.similarity.tokens import Token

MAX_OBJECT_WORDS = 5
VAGUE_NOUNS = frozenset(
    "time times day week month year morning evening night weekend lot way thing kind sort bit while hour minute daily "
    "years weekly part source yesterday today tomorrow tonight home there here".split()
)
"""Nouns that are not objects by themselves: times, and nouns that need another noun."""

# After these verbs comes a thought, a separate clause, or half of a phrase.
_NO_DEEDS = frozenset(
    "be seem appear feel think say tell know believe want need try decide find realize realise mention ask suggest let "
    "keep get make consider look remember forget understand mean guess suppose agree become do have like love enjoy "
    "prefer hate dislike express emphasize emphasise acknowledge describe explain show share offer receive take give "
    "bring face state note".split()
)
_DETERMINERS = frozenset("a an the his her their its my our your own some".split())
_CONNECTORS = frozenset("of the de van von".split())
_PREPOSITIONS = frozenset("to at in for with from by about into on".split())
_AFTER_PHRASE = frozenset("last next due such like including based".split())
_QUESTIONS = frozenset("how why whether what which".split())
_BE = frozenset("is are was were am".split())
_HAVE = frozenset("has have had".split())
_REACH = 4
"""The most tokens between the subject and its verb."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause. subject: a name, "user", or a thing that one of them owns; verb: its dictionary form; predicate: the
    words as written.

    preposition: the preposition that ends the predicate, or ""; phrase: the noun phrase that follows, without articles.
    """

    subject: str
    of_person: bool
    predicate: str
    verb: str
    preposition: str
    phrase: tuple[Token, ...]


def first_clause(tokens: Sequence[Token]) -> Clause | None:
    """Return the first clause of a sentence, or None if it is not clear."""
    for subject, of_person, end in _subjects(tokens):
        place = _main_verb(tokens, end)
        if place is not None:
            return _clause(tokens, subject, end, place, of_person=of_person)
    return None


def is_person(token: Token) -> bool:
    """Return True if a common noun names a person."""
    noun = parts_of_speech(token.lemma).startswith("n")
    return (noun and is_kind_of(token.lemma, "person")) or "family" in WORDS.get(token.text.lower(), ())


def words_of(tokens: Sequence[Token]) -> str:
    """Return the tokens as written."""
    return "".join(token.text if token.kind == "possessive" else f" {token.text}" for token in tokens).strip()


def _clause(tokens: Sequence[Token], subject: str, end: int, place: int, *, of_person: bool) -> Clause | None:
    words = [token.text for token in tokens[end:place] if token.text.lower() in _BE]
    words.append(tokens[place].text)
    at, preposition = place + 1, ""
    if at < len(tokens) and tokens[at].text.lower() in _PREPOSITIONS:
        preposition, at = tokens[at].text.lower(), at + 1
        words.append(preposition)
    phrase = _noun_phrase(tokens[at:])
    # "tends to rest": after "to", the bare verb names the action.
    if not phrase or (preposition == "to" and tokens[at] is phrase[0] and phrase[0].kind == "word"):
        return None
    return Clause(subject, of_person, " ".join(words).lower(), _base(tokens[place]), preposition, tuple(phrase))


def _subjects(tokens: Sequence[Token]) -> Iterator[tuple[str, bool, int]]:
    """Return possible subjects ("Maya", "user", "Maya's sister"), each with its end and True if it is a person."""
    start = 1 if tokens and tokens[0].text.lower() == "the" else 0
    end = start
    while end < len(tokens) and tokens[end].kind == "name":
        end += 1
    user = end == start < len(tokens) and tokens[start].text.lower() == "user"
    end += user
    if end == start or end == len(tokens):
        return
    name = "user" if user else words_of(tokens[start:end])
    if tokens[end].kind != "possessive":
        yield name, True, end
        return
    for last in range(end + 1, min(end + 3, len(tokens))):
        owned = tokens[end + 1 : last + 1]
        if all(token.kind == "word" and parts_of_speech(token.lemma)[:1] in {"n", ""} for token in owned):
            yield f"{name}'s {words_of(owned)}", is_person(owned[-1]), last + 1


def _main_verb(tokens: Sequence[Token], start: int) -> int | None:
    """Return the position of the main verb; only auxiliaries and adverbs may precede it."""
    helped = False
    for place in range(start, min(start + _REACH, len(tokens))):
        token = tokens[place]
        lower = token.text.lower()
        if lower in _BE or lower in _HAVE or is_adverb(lower) or parts_of_speech(token.lemma).startswith("r"):
            helped = helped or lower in _BE or lower in _HAVE
            continue
        # "has had turtles": a word after an auxiliary that ends in s is not a verb.
        base = "" if helped and lower.endswith("s") else _base(token)
        return place if token.kind == "word" and base and base not in _NO_DEEDS else None
    return None


def _base(token: Token) -> str:
    """Return the dictionary form of an inflected verb, or "" for any other token."""
    lower = token.text.lower()
    if "v" in parts_of_speech(token.lemma) and lower != token.lemma:
        return token.lemma
    # The participle may have its own dictionary entry: "adopted", "hired".
    endings = (lower[:-2], lower[:-1]) if lower.endswith("ed") else (lower[:-3], f"{lower[:-3]}e")
    if lower.endswith(("ed", "ing")):
        found = next((base for base in endings if "v" in parts_of_speech(base)), "")
        return found or (token.lemma if is_past(lower) else "")
    return token.lemma if is_past(lower) else ""


def _noun_phrase(tokens: Sequence[Token]) -> list[Token]:
    """Return the noun phrase at the start of `tokens` without its articles; empty if the phrase is not clear."""
    start = 0
    while start < len(tokens) and tokens[start].text.lower() in _DETERMINERS:
        start += 1
    if start == len(tokens) or not _begins(tokens[start], bare=start == 0):
        return []
    end = start + 1
    while end < len(tokens) and _continues(tokens, start, end):
        end += 1
    phrase = list(tokens[start:end])
    if end < len(tokens) and tokens[end].kind == "word" and not _ends_phrase(tokens[end]):
        return []
    return [] if len(phrase) > MAX_OBJECT_WORDS or _has_more(tokens, end) or not _is_noun(phrase[-1]) else phrase


def _ends_phrase(token: Token) -> bool:
    """Return True if the next token surely ends a noun phrase: "the agency interviews" may be noun and verb."""
    lower, parts = token.text.lower(), parts_of_speech(token.lemma)
    if lower in _AFTER_PHRASE or is_past(lower) or token.lemma in VAGUE_NOUNS:
        return True
    return "n" not in parts or parts[0] == "r"


def _begins(token: Token, *, bare: bool) -> bool:
    """Return True if a noun phrase can begin here: not "seeing Jonas", "help Jonas", but "his painting"."""
    deed = token.text.lower().endswith("ing") or parts_of_speech(token.lemma).startswith("v")
    word = token.kind == "word" and token.text.lower() not in _QUESTIONS
    return token.kind in {"name", "number"} or (word and not (bare and deed))


def _continues(tokens: Sequence[Token], start: int, at: int) -> bool:
    """Return True if the token at `at` belongs to the noun phrase that begins at `start`."""
    token, before, following = tokens[at], tokens[at - 1], tokens[at + 1 : at + 3]
    match token.kind:
        case "name" | "possessive":
            return True
        case "function" | "preposition":
            title = tokens[start].kind == "name" and any(word.kind == "name" for word in following)
            return title and token.text.lower() in _CONNECTORS
        case "number":  # "PostgreSQL 16", but not "Oslo two years ago"
            counts = bool(following) and following[0].lemma in VAGUE_NOUNS
            return before.kind == "name" and token.text[0].isdigit() and not counts
        case "word":
            return _is_next_noun(before, token)
        case _:
            return False


def _is_next_noun(before: Token, word: Token) -> bool:
    parts, lower = parts_of_speech(word.lemma), word.text.lower()
    if not parts or parts[0] == "r" or word.lemma in VAGUE_NOUNS or lower in _AFTER_PHRASE:
        return not parts and before.kind == "word"
    # A verb after a noun begins an action of the noun: "a group helping children".
    verb_after_noun = parts[0] == "v" and word.lemma != lower and parts_of_speech(before.lemma).startswith("n")
    return not verb_after_noun and (before.kind != "name" or "n" in parts[: 2 if word.lemma == lower else 1])


def _has_more(tokens: Sequence[Token], end: int) -> bool:
    """Return True if the next tokens make the phrase an indirect object: "gave Jonas a book", "told Jonas to rest"."""
    following = [token.text.lower() for token in tokens[end : end + 2]]
    if not following:
        return False
    to_do = following[0] == "to" and len(following) > 1 and "v" in parts_of_speech(following[1])
    return following[0] in _DETERMINERS or to_do


def _is_noun(token: Token) -> bool:
    if token.kind == "number":
        return token.text[0].isdigit()
    # A word that is mainly an adjective is not a noun: else "a challenging but rewarding project" would end at
    # "challenging".
    lower = token.text.lower()
    nouns = parts_of_speech(lower if lower.endswith("ing") else token.lemma).partition("a")[0]
    return token.kind == "name" or (token.kind == "word" and token.lemma not in VAGUE_NOUNS and "n" in nouns[:2])
