"""Sentences of a second writer, who saw neither the rules nor the wordings.

Every second sentence was available when the rules were fitted. The others are measured: no rule may be fitted on them.
"""

import json
from collections.abc import Iterator, Mapping

from proof.redaction.cases import DATA, Case

ORDINARY = "none"
"""The kind of a sentence that holds no secret."""


def _rows() -> list[Mapping[str, str]]:
    return [json.loads(line) for line in (DATA / "independent.jsonl").read_text("utf-8").splitlines()[::2]]


def independent_cases() -> Iterator[Case]:
    """Return the sentences with a secret on which no rule was fitted."""
    for row in _rows():
        if row["kind"] != ORDINARY:
            yield Case(row["kind"], False, row["lang"], "as people type", row["text"], row["secret"])


def independent_ordinary() -> list[str]:
    """Return the sentences without a secret on which no rule was fitted."""
    return [row["text"] for row in _rows() if row["kind"] == ORDINARY]
