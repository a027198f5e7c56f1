"""Predict how useful a statement will be to an agent: a logistic model over readable features of its wording.

`python -m bench.fit_usefulness` fits the weights in usefulness.json to labels from blind readers.
"""

import json
import math
import re
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from slowwave_server.domain.extraction.outcomes import has_specifics
from slowwave_server.domain.extraction.standalone import content_words, is_named

CONTENT = (4, 5, 6, 8, 11)
"""Numbers of content words; one feature for each number that a statement reaches."""
LONG = 150
"""Characters."""
_ADDED_DATE = re.compile(r"\((?:week of )?\d{4}-\d\d(?:-\d\d)?\)")
_PATTERNS = {
    "digit": re.compile(r"\d"),
    "speaks_of_them": re.compile(r"\b(?:they|their|them)\b"),
    "points": re.compile(r"\b(?:it|this|that|these|those|there)\b"),
    "and_others": re.compile(r"\band others\b"),
    "but": re.compile(r"\bbut\b"),
    "is": re.compile(r"^(?:The user|[A-Z]\w+)(?:'s [\w ]+)? (?:is|was)\b"),
    "is_doing": re.compile(r"^(?:The user|[A-Z]\w+) is \w+ing\b"),
    "has": re.compile(r"^(?:The user|[A-Z]\w+) (?:has|have|had)\b"),
    "will": re.compile(r"^(?:The user|[A-Z]\w+) will\b"),
    "wants": re.compile(r"^(?:The user|[A-Z]\w+) (?:really |also |just )?(?:wants?|needs?)\b"),
    "own_thing": re.compile(r"^(?:The user|[A-Z]\w+)'s\b"),
    "just": re.compile(r"^(?:The user|[A-Z]\w+)(?: and others)? (?:has |have )?(?:just|now|already|still)\b"),
    "feels": re.compile(r"^(?:The user|[A-Z]\w+) (?:\w+ly )?(?:feels?|felt|thinks?|hopes?|knows?|remembers?|sees?)\b"),
    "trouble": re.compile(r"\b(?:errors?|fails?|failing|failed|crash\w*|issues?|problems?|bugs?|not work\w*|stuck)\b"),
    "to_them": re.compile(r"\b(?:for|to|gives?|shows?|tells?|with|helps?|lets?) (?:the user|them)\b"),
    "quoted": re.compile(r"[\"`]|(?<!\w)'\w"),
    "path": re.compile(r"\w/\w|\w\.(?:py|js|ts|md|json|ya?ml|toml|sql|sh|cs|go|rs)\b|_\w+_"),
    "begins_otherwise": re.compile(
        r"^(?!The user|agent|assistant)[A-Z][a-z]+,? (?:the|a|an|this|when|it|his|her|their)\b"
    ),
    "of_no_subject": re.compile(r"^[A-Z]\w+: "),
}
_SIGNALS = frozenset(
    """
    settled delivered outcome tool_result tool_lesson standing listed decision habit family job pet home food body
    leisure thing money age taste change possess proper_name modal you you_and_i childhood commitment hedge i_think
    completed
    act_accept remember rule the_x_is i_am i_am_a i_have i_have_done i_like i_will i_want i_cannot my_x_is my_favourite
    group negation hypothetical reaction about_you agreement courtesy exclaims starts_with_it words_1_2 words_3_4
    """.split()
)


def usefulness(content: str, kind: str, fired: Collection[str], names: Collection[str]) -> float:
    """Return the log-odds that a reader calls a statement useful. names: of its speakers."""
    weights = _weights()
    return sum(weights.get(name, 0.0) for name in features(content, kind, fired, names))


def share(log_odds: float) -> float:
    """Convert log-odds to a probability, 0 to 1."""
    return 1 / (1 + math.exp(-log_odds))


def features(content: str, kind: str, fired: Collection[str], names: Collection[str]) -> list[str]:
    """Return the names of a statement's features."""
    bare = _ADDED_DATE.sub("", content)
    for name in names:
        bare = bare.replace(name, " ")
    many = len(set(content_words(bare)))
    found = ["bias", f"type_{kind}", *(f"content_{least}" for least in CONTENT if many >= least)]
    found += [name for name, pattern in _PATTERNS.items() if pattern.search(bare if name == "digit" else content)]
    found += [name for name, has in (("named", is_named(bare)), ("specific", has_specifics(bare))) if has]
    found += ["long"] if len(content) > LONG else []
    return found + [f"signal_{name}" for name in sorted(_SIGNALS.intersection(fired))]


@cache
def _weights() -> dict[str, float]:
    """Load the fitted weights by feature name."""
    text = (files("slowwave_server.domain.extraction") / "usefulness.json").read_text("utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded["weights"]
