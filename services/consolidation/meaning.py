"""The model of pairs in the package slowwave-judge, if it is installed."""

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from slowwave.settings import Consolidation
from slowwave_server.domain.similarity import Meaning, MeaningOf

MOST_CHARACTERS = 400
"""The model of pairs reads 96 tokens of both statements together. Of longer texts it would judge only the start."""
KEPT_ANSWERS = 1024
"""The batches of a pass, and the pass after it, meet many pairs again."""


@cache
def installed_pair_judge() -> MeaningOf | None:
    """The model of pairs of this process; None if the package is not installed. The first question loads the model."""
    return None if find_spec("slowwave_judge") is None else _judge_pair


def pair_judge(rules: Consolidation) -> MeaningOf | None:
    """Return the model of pairs, if it is installed and the settings allow it. Call this after a fork."""
    return installed_pair_judge() if rules.judge else None


def _judge_pair(a: str, b: str, /) -> Meaning | None:
    return None if max(len(a), len(b)) > MOST_CHARACTERS else _ask(*sorted((a, b)))


@lru_cache(maxsize=KEPT_ANSWERS)
def _ask(first: str, second: str) -> Meaning:
    judge = _model()
    told = judge.relation(first, second)
    return Meaning(
        duplicate=told.duplicate,
        conflict=told.conflict,
        update=told.update + told.updated,
        related=told.related,
        distinct=told.distinct,
        duplicate_from=judge.duplicate_from,
        contradiction_from=judge.conflict_from,
        by_first=told.updated,
    )


@cache
def _model() -> Any:
    from slowwave_judge import PairJudge  # noqa: PLC0415 (an optional package, whose weights few processes need)

    return PairJudge()
