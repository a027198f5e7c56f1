"""The model of pairs in the package slowwave-judge, if it is installed."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from threading import Lock
from typing import Any

from slowwave.settings import Consolidation
from slowwave_server.domain.similarity import Meaning, MeaningOf

MOST_CHARACTERS = 400
"""The model of pairs reads 96 tokens of both statements together. Of longer texts it would judge only the start."""
KEPT_ANSWERS = 1024
"""The batches of a pass, and the pass after it, meet many pairs again."""


class PairAnswers:
    """Asks the model once about a pair, in either order, and keeps the latest answers.

    An answer's key is a digest of the two texts, so no text stays in this process after a forget.
    """

    def __init__(self, ask: Callable[[str, str], Meaning], *, most: int = KEPT_ANSWERS) -> None:
        self._ask = ask
        self._most = most
        self._answers: OrderedDict[bytes, Meaning] = OrderedDict()
        self._lock = Lock()

    def __call__(self, a: str, b: str, /) -> Meaning | None:
        """Return the relation of two texts; None if one is longer than MOST_CHARACTERS."""
        if max(len(a), len(b)) > MOST_CHARACTERS:
            return None
        first, second = sorted((a, b))
        pair = f"{len(first)} {first}{second}".encode("utf-8", "surrogatepass")
        key = blake2b(pair, digest_size=16).digest()
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        meaning = self._ask(first, second)
        with self._lock:
            self._answers[key] = meaning
            if len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return meaning


@cache
def installed_pair_judge() -> MeaningOf | None:
    """The model of pairs of this process; None if the package is not installed. The first question loads the model."""
    return None if find_spec("slowwave_judge") is None else PairAnswers(_ask)


def pair_judge(rules: Consolidation) -> MeaningOf | None:
    """Return the model of pairs, if it is installed and the settings allow it. Call this after a fork."""
    return installed_pair_judge() if rules.judge else None


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
