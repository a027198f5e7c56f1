"""One catalogue of troubles: well formed, each one found by the doctor or by an alert, and told in no other words."""

import re
from pathlib import Path

from slowwave_server.domain.health_issues import HEALTH_ISSUES, HealthIssue
from tests.support.tables import for_each

ROOT = Path(__file__).parent.parent.parent
REPORTS = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "services" / "reports").glob("*.py"))
# Seen only by whoever watches for a while, or from outside.
ALERTS_ALONE = {"tasks-fail", "exporter-away"}


@for_each("issue", HEALTH_ISSUES.values())
def test_each_trouble_is_a_sentence_with_a_cure(issue: HealthIssue) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", issue.name)
    assert re.fullmatch(r"[A-Z][^.]*\.", issue.title), "one sentence"
    assert re.fullmatch(r"[A-Z`].*\.", issue.cure)


def test_names_titles_and_alerts_are_each_their_own() -> None:
    for words in ("name", "title", "alert"):
        assert len({getattr(issue, words) for issue in HEALTH_ISSUES.values()}) == len(HEALTH_ISSUES)


def test_mistake_30_each_trouble_is_found_by_the_doctor_or_by_an_alert() -> None:
    named = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', REPORTS)) & set(HEALTH_ISSUES)
    assert named == set(HEALTH_ISSUES) - ALERTS_ALONE


def test_a_problem_is_made_of_the_catalogue_alone() -> None:
    made = re.findall(r'Check\([^)]*"problem"', REPORTS)
    assert len(made) == 1, "check.problem is the only place"
