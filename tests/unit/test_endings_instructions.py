"""Instructions: a newer one on the same matter replaces an older one; exceptions and further ones do not."""

import pytest

from slowwave_server.domain.endings.instructions import replaces


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("answer in English.", "always answer in German."),
        ("please reply in French from now on.", "respond in Spanish."),
        ("send the report every Tuesday.", "send the report every Monday."),
        ("keep answers brief.", "give long, detailed answers."),
        ("always use imperial units.", "use metric units."),
        ("limit the summary to 100 words.", "limit the summary to 250 words."),
        ("call me Maya.", "call me Dr. Okafor."),
        ("stop cc'ing Bob.", "always cc Bob on emails to clients."),
        ("never use emojis.", "always use emojis."),
        ("write the notes in Markdown.", "write the notes in HTML."),
    ],
)
def test_newer_instruction_on_the_same_matter_replaces(newer: str, older: str) -> None:
    assert replaces(newer, older)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("answer in German.", "always answer in German."),
        ("answer emails to Hans in German.", "answer in English."),
        ("don't cc Bob on invoices.", "always cc Bob on emails."),
        ("use metric units.", "answer in German."),
        ("never deploy on Fridays.", "send the report every Monday."),
        ("cite sources.", "use footnotes."),
        ("round amounts to two decimals.", "limit the summary to 250 words."),
        ("don't use emojis in commit messages.", "use emojis in headings."),
        ("use pnpm instead of npm.", "don't use npm audit."),
        ("never mention prices.", "mention the delivery date."),
    ],
)
def test_other_instruction_replaces_nothing(newer: str, older: str) -> None:
    assert replaces(newer, older) is None
