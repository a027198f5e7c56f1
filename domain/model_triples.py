"""Let a model read relations out of memories: the prompt, and the check of each relation against the text.

The memory must contain both ends word for word, and the predicate must consist of the memory's words; an invented
relation is dropped. A denied statement gives no relation, as with the rules.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slowwave.recall.rendering import Block, fenced, one_line
from slowwave_server.domain.model_calls import Answer, Prompt, rows_schema
from slowwave_server.domain.prompts import prompt_text
from slowwave_server.domain.similarity import read
from slowwave_server.domain.similarity.stopwords import FUNCTION_WORDS
from slowwave_server.domain.similarity.tokens import tokenise
from slowwave_server.domain.triples import MAX_PREDICATE_WORDS, MAX_RELATIONS, PLAIN, Relation

VERSION = "triples/1"
AT_ONCE = 10
"""The number of memories in one call."""
TYPES = ("person", "organisation", "place", "date", "quantity", "thing")
_MAX_END_WORDS = 6
_TEXT = {"type": "string"}
_TYPE = {"type": "string", "enum": list(TYPES)}
_FIELDS = {
    "note": {"type": "integer"},
    "subject": _TEXT,
    "subject_type": _TYPE,
    "predicate": _TEXT,
    "object": _TEXT,
    "object_type": _TYPE,
}
SCHEMA: Mapping[str, Any] = rows_schema("relations", _FIELDS)


def question(memories: Sequence[str]) -> Prompt:
    """Ask for the relations of these memories, numbered from 1, fenced as data."""
    notes = [f"{number}. {one_line(memory)}" for number, memory in enumerate(memories, start=1)]
    return Prompt("triples", VERSION, prompt_text(VERSION), fenced([Block("The notes", notes)]), SCHEMA, "relations")


def relations_of(answer: Answer, memories: Sequence[str]) -> list[tuple[Relation, ...]]:
    """Return the supported relations of each memory, in the order of `memories`, each once, at most MAX_RELATIONS."""
    found: list[list[Relation]] = [[] for _ in memories]
    for row in answer.data["relations"][: 3 * MAX_RELATIONS * len(memories)]:
        place = row["note"] - 1
        if 0 <= place < len(memories):
            found[place] += _relation(row, memories[place])
    return [tuple(dict.fromkeys(relations))[:MAX_RELATIONS] for relations in found]


def _relation(row: Mapping[str, Any], memory: str) -> Iterator[Relation]:
    reading = read(memory)
    subject, predicate, what = (one_line(row[name]).strip(" .") for name in ("subject", "predicate", "object"))
    if reading.negated or subject.casefold() == what.casefold():
        return
    if _stands_in(subject, memory) and _stands_in(what, memory) and _is_said(predicate, memory):
        yield Relation(subject, row["subject_type"], predicate, what, row["object_type"], PLAIN)


def _stands_in(end: str, memory: str) -> bool:
    """Return True if the memory contains this end word for word."""
    words = _words(end)
    return 0 < len(words) <= _MAX_END_WORDS and f" {' '.join(words)} " in f" {' '.join(_words(memory))} "


def _words(text: str) -> list[str]:
    return [token.lower for token in tokenise(text)]


def _is_said(predicate: str, memory: str) -> bool:
    """Return True if the predicate has few words, and the memory contains each content word in some form."""
    tokens = tokenise(predicate)
    stems = {token.stem for token in tokenise(memory)}
    return 0 < len(tokens) <= MAX_PREDICATE_WORDS and all(
        token.stem in stems or token.lower in FUNCTION_WORDS or token.kind == "preposition" for token in tokens
    )
