"""What a run of the model showed.

Must not know: how it came about.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """What a run of `seconds` showed. lags: of each turn that was flushed, by when it was captured.

    waits: of each flush, from its message to its claim. turn_seconds: how long turns were unread, all of them together,
    including turns still unread. used: of each resource, 0..1.
    """

    seconds: float = 0.0
    captured: int = 0
    flushes: int = 0
    failed: int = 0
    parked: int = 0
    unread: int = 0
    lags: list[tuple[float, float]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    turn_seconds: float = 0.0
    commits: int = 0
    used: dict[str, float] = field(default_factory=dict)

    def lag(self, quantile: float, after: float = 0.0) -> float:
        """Of the turns that were captured after so many seconds."""
        return at_quantile([lag for at, lag in self.lags if at >= after], quantile)


def at_quantile(values: list[float], quantile: float) -> float:
    """The value that this part of all does not exceed; 0 for none."""
    return sorted(values)[min(len(values) - 1, int(quantile * len(values)))] if values else 0.0
