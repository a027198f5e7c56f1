"""Names in the console: where aliases come from, and adding and removing them in the person's name."""

import pytest
from sqlalchemy import Engine

from tests.console.conftest import TENANT, Console
from tests.support.passing import Past

pytestmark = pytest.mark.servers


@pytest.fixture
def past(engine: Engine) -> Past:
    past = Past(engine, agent="maya", tenant=TENANT)
    past.say("Kubernetes is our platform")
    return past


def add(console: Console, who: str = "curator", **form: str) -> object:
    return console.post("/aliases/add", who=who, **{"agent": "maya", "name": "Kubernetes", "alias": "k8s", **form})


def test_alias_is_added_and_removed_in_the_persons_name(console: Console, past: Past) -> None:
    assert "This scope has no alias" in console.get("/aliases?agent=maya").text
    answer = console.post("/aliases/add", who="curator", agent="maya", name="Kubernetes", alias="k8s")
    assert answer.headers["location"] == "/aliases?agent=maya"
    page = console.get("/aliases?agent=maya", who="curator").text
    assert "Kubernetes · k8s: added; run" in page
    assert "by curator" in page
    console.post("/aliases/remove", who="curator", agent="maya", name="Kubernetes", alias="k8s")
    assert "This scope has no alias" in console.get("/aliases?agent=maya").text
    page = console.get("/aliases?agent=maya&removed=yes").text
    assert "removed" in page
    assert "by curator" in page


def test_edit_is_undone_at_its_run(console: Console, past: Past) -> None:
    add(console)
    with console.engine.connect() as connection:
        run = connection.exec_driver_sql("SELECT run_id FROM slowwave.alias_changes").scalar_one()
    assert "1 alias added by hand" in console.get(f"/runs/{run}").text
    assert console.post(f"/runs/{run}/undo").status_code == 303
    assert "This scope has no alias" in console.get("/aliases?agent=maya&removed=yes").text


def test_refused_edit_says_why_and_keeps_what_was_typed(console: Console, past: Past) -> None:
    add(console)
    answer = console.post("/aliases/add", who="curator", agent="maya", name="kubernetes", alias="K8S")
    assert answer.status_code == 409
    assert "Nothing was changed: &#39;K8S&#39; is an alias of &#39;kubernetes&#39; already" in answer.text
    assert 'value="K8S"' in answer.text


def test_viewer_reads_names_alone(console: Console, past: Past) -> None:
    add(console)
    page = console.get("/aliases?agent=maya").text
    assert "k8s" in page
    assert 'action="/aliases/remove"' not in page
    assert (
        console.post("/aliases/remove", who="viewer", agent="maya", name="Kubernetes", alias="k8s").status_code == 403
    )


def test_form_without_its_token_changes_nothing(console: Console, past: Past) -> None:
    sent = {"agent": "maya", "name": "Kubernetes", "alias": "k8s", "token": "x"}
    assert console.visitor("curator").post("/aliases/add", data=sent).status_code == 403
    assert "This scope has no alias" in console.get("/aliases?agent=maya").text


def test_i8_names_of_another_tenant_are_not_there(console: Console, past: Past) -> None:
    add(console)
    assert console.get("/aliases?agent=maya", who="stranger").status_code == 404
    refused = console.post("/aliases/add", who="stranger", agent="maya", name="Kubernetes", alias="kates")
    assert refused.status_code in {404, 409}
    assert "kates" not in console.get("/aliases?agent=maya").text
