"""The model of pairs in the package slowwave-judge, if it is installed."""

from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

from slowwave.settings import Consolidation
from slowwave_server.domain.similarity import Meaning, MeaningOf

PACKAGE = "slowwave_judge"
MOST_CHARACTERS = 400
"""The model of pairs reads 96 tokens of both statements together. Of longer texts it would judge only the start."""


class InstalledPairJudge:
    """The package's model of pairs as `MeaningOf`. The first question loads the model, once in each process."""

    @cached_property
    def _judge(self) -> Any:
        from slowwave_judge import PairJudge  # noqa: PLC0415 (an optional package, whose weights few processes need)

        return PairJudge()

    def __call__(self, a: str, b: str, /) -> Meaning | None:
        if max(len(a), len(b)) > MOST_CHARACTERS:
            return None
        told, judge = self._judge.relation(a, b), self._judge
        return Meaning(
            duplicate=told.duplicate,
            conflict=told.conflict,
            update=told.update + told.updated,
            related=told.related,
            distinct=told.distinct,
            duplicate_from=judge.duplicate_from,
            contradiction_from=judge.conflict_from,
        )


@cache
def installed_pair_judge() -> MeaningOf | None:
    """The model of pairs of this process; None if the package is not installed."""
    return None if find_spec(PACKAGE) is None else InstalledPairJudge()


def pair_judge(rules: Consolidation) -> MeaningOf | None:
    """The model of pairs, if it is installed and the settings allow it. Call this after a fork."""
    return installed_pair_judge() if rules.judge else None
