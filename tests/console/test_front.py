"""The first page, and what its frame does on every page."""

import pytest

from tests.console.conftest import Console

pytestmark = pytest.mark.servers


def test_the_overview_says_how_a_tenant_stands(console: Console) -> None:
    answer = console.get("/")
    assert answer.status_code == 200
    assert "0 dirty sessions" in answer.text
    assert 'aria-current="page">Overview' in answer.text


def test_who_is_not_logged_in_is_sent_to_the_login_and_from_there_to_where_they_wanted(console: Console) -> None:
    answer = console.visitor(None).get("/account?a=b%20c")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/account%3Fa%3Db%2520c")
