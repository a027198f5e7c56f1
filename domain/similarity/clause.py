"""Parse a statement without a tagger: its subject, its verb, and whether the subject is definite."""

from collections.abc import Sequence
from dataclasses import dataclass

from slowwave_server.domain.similarity.lexicon import american, lemma, parts_of_speech
from slowwave_server.domain.similarity.tokens import Token

AUXILIARIES = frozenset(
    "am is are was were be been 'm 're has have had does do did will would shall should can could may might "
    "must".split()
)
_DETERMINERS = frozenset("a an the this that these those my our your his her their its some any every each all".split())
_INDEFINITE = frozenset("a an some any every each several many few another".split())
_RELATIVE = frozenset("who that which".split())
_THERE = 2
_NEAR = 4


@dataclass(frozen=True, slots=True)
class Clause:
    """The parts of the first clause: tokens[start:end] are the subject, tokens[end] begins the predicate.

    verb: the dictionary form of the main verb, or ""; passive: True for "is being cut by"; existential: True for "there
    is …";
    definite: True if the subject is a certain one ("Maya", "the deadline") and not any ("a man", "two dogs"); scene:
    True if the clause describes the present action of someone without a name ("the boy is running"); state: True if it
    describes a lasting result ("is written in").
    """

    start: int
    end: int
    verb: str
    passive: bool
    existential: bool
    definite: bool
    scene: bool
    state: bool


def parse(tokens: Sequence[Token]) -> Clause:
    """Return the first clause of `tokens`."""
    lower = [token.text.lower() for token in tokens]
    existential = len(lower) > _THERE and lower[0] == "there" and lower[1] in AUXILIARIES
    start = _THERE if existential else _after_fronted(tokens, lower)
    end = _existential_end(tokens, start) if existential else _subject_end(tokens, lower, start)
    verb, passive, state = _verb(tokens, lower, end)
    definite = not existential and _definite(tokens, lower, start, end)
    return Clause(start, end, verb, passive, existential, definite, _is_scene(tokens, lower, start, end), state)


def _after_fronted(tokens: Sequence[Token], lower: Sequence[str]) -> int:
    """Return the position of the subject after a phrase like "In the morning"."""
    at = 0
    while at < len(tokens) and tokens[at].kind == "preposition":
        at += 1
        while at < len(tokens) and lower[at] in _DETERMINERS:
            at += 1
        at += 1
    return at if at < len(tokens) - 1 else 0


def _subject_end(tokens: Sequence[Token], lower: Sequence[str], start: int) -> int:
    for at in range(start + 1, len(tokens)):
        token, before = tokens[at], tokens[at - 1]
        if token.kind == "function" and lower[at] in AUXILIARIES:
            return at
        if token.kind == "negator" and before.kind != "function":
            return at
        if token.kind in {"word", "name"} and before.carries_content and _is_finite(lower[at], lower[at - 1]):
            return at
    return next((at for at in range(start + 1, len(tokens) - 1) if _may_be_verb(tokens, lower, at)), len(tokens))


def _may_be_verb(tokens: Sequence[Token], lower: Sequence[str], at: int) -> bool:
    """Return True if an unknown word is in the position of a verb: "the team syncs every Tuesday"."""
    return (
        lower[at].endswith("s")
        and tokens[at].kind == "word"
        and tokens[at - 1].carries_content
        and tokens[at + 1].kind in {"function", "preposition", "date", "time", "number"}
    )


def _is_finite(word: str, before: str) -> bool:
    base = lemma(word)
    parts = parts_of_speech(base)
    if "v" not in parts:
        return False
    if american(word) != base:
        return not word.endswith("ing") and (word.endswith("s") or "v" in parts[:2])
    return parts[0] == "v" and (before.endswith("s") or before == "user")


def _existential_end(tokens: Sequence[Token], start: int) -> int:
    for at in range(start + 1, len(tokens)):
        word = tokens[at].text.lower()
        if word in _RELATIVE or (word.endswith("ing") and (tokens[at].kind == "word" or word == "being")):
            return at
        if tokens[at].kind == "preposition":
            return at
    return len(tokens)


def _verb(tokens: Sequence[Token], lower: Sequence[str], end: int) -> tuple[str, bool, bool]:
    be = False
    being = False
    for at in range(end, len(tokens)):
        token = tokens[at]
        if token.carries_content:
            # After a form of "be" only a participle is a verb: "red" in "is red" is none, though "redden" is a verb.
            formed = lower[at] != token.lemma or "by" in lower[at:]
            if token.kind != "word" or "v" not in parts_of_speech(token.lemma) or (be and not formed):
                return ("be" if be else ""), False, False
            participle = be and not lower[at].endswith(("ing", "s"))
            passive = participle and (being or "by" in lower[at:])
            return token.lemma, passive, participle and not passive
        be = be or lower[at] in {"am", "is", "are", "was", "were", "be", "been"}
        being = being or lower[at] == "being"
        if token.kind == "preposition":
            return ("be" if be else ""), False, False
    return ("be" if be else ""), False, False


def _definite(tokens: Sequence[Token], lower: Sequence[str], start: int, end: int) -> bool:
    if start < len(tokens) and lower[start].endswith("ing") and tokens[start].lemma != lower[start]:
        return False  # "losing the job was …"
    if any(token.kind in {"name", "possessive"} for token in tokens[start:end]):
        return True
    return start < len(lower) and lower[start] not in _INDEFINITE and tokens[start].kind not in {"number", "negator"}


def _is_scene(tokens: Sequence[Token], lower: Sequence[str], start: int, end: int) -> bool:
    named = any(token.kind in {"name", "possessive"} or token.stem == "user" for token in tokens[start:end])
    return not named and any(word.endswith("ing") for word in lower[end : end + _NEAR])
