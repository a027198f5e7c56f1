"""No text makes a reader take longer than in proportion to its length, however its expressions might backtrack.

Each reader of texts that strangers write gets ones made to send a backtracking expression astray, short and ten times
as long.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

import pytest

from slowwave.recall.masking import mask
from slowwave.recall.query_plan import clean_question
from slowwave_server.domain.candidates import ExtractionContext
from slowwave_server.domain.dates import mentions
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.entities import entities
from slowwave_server.domain.extraction.sentences import sentences
from slowwave_server.domain.memory_files import parse_document
from slowwave_server.domain.memory_files.escapes import escape, unescape
from slowwave_server.domain.noise import is_chatter, without_machinery
from slowwave_server.domain.redaction import redact
from slowwave_server.domain.similarity.reading import read
from slowwave_server.domain.summaries.reading import read as read_day
from slowwave_server.domain.triples import triples
from tests.support.modelling import turns

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SHORT, LONG = 1_500, 15_000
MOST_TIMES = 35
"""For ten times the length. Caches and a busy machine make a line look like 20 times; a square would be 100."""
TOO_LITTLE_SECONDS = 0.05
"""What takes less is no attack, whatever its growth."""

SEEDS: Mapping[str, str] = {
    "letters": "a", "digits": "1", "blanks": " ", "newlines": "\n", "slashes": "\\", "dots": ".", "dashes": "-",
    "quotes": '"', "ticks": "`", "brackets": "[", "entities": "&#1", "breaks": "<br", "comments": "<!--", "at": "a@",
    "capitals": "Aa ", "names": "Maya and ", "dates": "1.1.", "days": "next ", "times": "12:", "keys": "key=",
    "tokens": "sk-",
    "pem": "-----BEGIN ", "urls": "http://a:", "commas": "a,", "not": "not ", "is": "is ", "equals": "=",
    "tabs": "\t", "base64": "QUJD", "jwt": "eyJ.", "I": "I ", "marks": "\u0301", "lines": "- a\n", "fences": "```\n",
}  # fmt: skip

READERS: Mapping[str, Callable[[str], Any]] = {
    "rules": lambda text: RulesExtractor().extract(turns(text), ExtractionContext("iris"), NOW),
    "days": lambda text: list(read_day(turns(text).events, agent="iris", time_zone="UTC")),
    "redaction": redact,
    "masking": mask,
    "noise": lambda text: (without_machinery(text), is_chatter(text)),
    "sentences": lambda text: list(sentences(text)),
    "dates": lambda text: mentions(text, date(2026, 3, 1)),
    "entities": lambda text: entities(text, ()),
    "similarity": lambda text: triples(read(text)),
    "questions": clean_question,
    "files": parse_document,
    "escapes": lambda text: unescape(escape(text)),
}


def seconds(reader: Callable[[str], Any], text: str) -> float:
    """The shorter of two, in seconds of this thread: other programs on the machine do not count."""
    best = float("inf")
    for _ in range(2):
        began = time.thread_time()
        reader(text)
        best = min(best, time.thread_time() - began)
        if best < TOO_LITTLE_SECONDS:
            break
    return best


@pytest.mark.parametrize("name", READERS)
def test_no_reader_takes_more_than_its_share_of_a_text_made_against_it(name: str) -> None:
    bad = {}
    for kind, seed in SEEDS.items():
        at_length = seconds(READERS[name], seed * (LONG // len(seed)) + "!")
        if at_length >= TOO_LITTLE_SECONDS:
            times = at_length / seconds(READERS[name], seed * (SHORT // len(seed)) + "!")
            if times > MOST_TIMES:
                bad[kind] = f"{times:.0f} times as long, {at_length:.2f} s"
    assert bad == {}
