"""The judge that scores whether proposals are worth remembering: the package slowwave-judge, if it is installed."""

from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

from slowwave.settings import Settings
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.extraction.worth import Proposal, Worth


class InstalledJudge:
    """The package as `Worth`. The first call loads the model, which takes 0.2 seconds, once in each process."""

    @cached_property
    def _judge(self) -> Any:
        from slowwave_judge import Judge  # noqa: PLC0415 (an optional package, whose weights few processes need)

        return Judge()

    @cached_property
    def name(self) -> str:
        """The name of the model, with the beginning of its hash."""
        from slowwave_judge import NAME  # noqa: PLC0415 (as above)

        return str(NAME)

    def __call__(self, proposals: Sequence[Proposal], /) -> Sequence[float]:
        judged: list[float] = self._judge.worth([(one.text, one.about) for one in proposals])
        return judged


@cache
def installed_judge() -> Worth | None:
    """Return the judge of this process, or None if the package is not installed."""
    return None if find_spec("slowwave_judge") is None else InstalledJudge()


def rules_extractor(settings: Settings) -> RulesExtractor:
    """Return the extraction rules, with the judge if installed and allowed. Call this after a fork."""
    return RulesExtractor(installed_judge() if settings.memory.auto_flush.extractor.judge else None)
