"""Shared parts of the forms that send decisions: the memories that the person saw, and the outcome of the decisions."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from slowwave.errors import InvalidMessage
from slowwave_server.domain.spoken_time import pluralize
from slowwave_server.services.review.decisions import DecisionReport


def written(seen: Mapping[UUID, int]) -> str:
    """Write memories with their revisions as the value of a hidden form field."""
    return " ".join(f"{memory}:{revision}" for memory, revision in sorted(seen.items()))


def read_seen(fields: Iterable[str]) -> dict[UUID, int]:
    """Read memories and revisions back from all such fields of a form. Raises InvalidMessage."""
    seen = {}
    for word in " ".join(fields).split():
        memory, _, revision = word.partition(":")
        try:
            seen[UUID(memory)] = int(revision)
        except ValueError:
            raise InvalidMessage("the form does not say what it was decided by; load the page again") from None
    return seen


def told(report: DecisionReport, thing: str) -> str:
    """Describe the outcome of decisions in sentences, for the form that is shown again if a decision was not made."""
    said = [f"{thing.capitalize()} {result.number}: {result.text}." for result in report.results if result.text]
    if report.run is not None:
        done = f"{pluralize(report.decided, thing)} decided in run {report.run}, which can be undone."
        return " ".join([*said, done]) if len(said) == 1 else " ".join([done, *_left(report, thing)])
    return " ".join(["Nothing was changed.", *said])


def _left(report: DecisionReport, thing: str) -> list[str]:
    return [f"{thing.capitalize()} {one.number}: {one.text}." for one in report.results if one.outcome != "decided"]
