"""Exports: the files of a scope in one archive, the same as `slowwave memory export` writes."""

import io
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import insert

from slowwave_server.models import Scope
from slowwave_server.services.memory_files.export import export_scope
from tests.console.conftest import TENANT, Console
from tests.support.passing import Past

pytestmark = pytest.mark.servers


def test_an_archive_holds_what_an_export_writes(console: Console, tmp_path: Path) -> None:
    past = Past(console.engine, tenant=TENANT, agent="Maya/Zoë")
    memory = past.say("Maya lives in Lisbon.")
    with past.run() as run:
        run.set(memory, "promoted", status="active")
    assert "agent:Maya/Zoë" in console.get("/exports").text
    assert "No scope has such a name" in console.get("/exports?name=kitchen").text
    answer = console.get("/exports/download?scope=agent:Maya/Zo%C3%AB", who="curator")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    assert "filename*=UTF-8''agent-Maya%2FZo%C3%AB.zip" in answer.headers["content-disposition"]
    report = export_scope(console.engine, TENANT, "agent", "Maya/Zoë", tmp_path, append_only=True)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    written = {str(path.relative_to(report.folder)): path.read_bytes() for path in report.folder.rglob("*.md")}
    assert {name: found[name] for name in found if name.endswith(".md")} == written
    assert b"Maya lives in Lisbon." in b"".join(written.values())


def test_a_viewer_downloads_no_archive(console: Console) -> None:
    Past(console.engine, tenant=TENANT).say("Maya lives in Lisbon.")
    assert "/exports/download" not in console.get("/exports").text
    assert console.get("/exports/download?scope=agent:concierge").status_code == 403


def test_i8_a_scope_of_another_tenant_is_not_there(console: Console) -> None:
    Past(console.engine, tenant=TENANT).say("Maya lives in Lisbon.")
    assert "concierge" not in console.get("/exports", who="stranger").text
    for scope in ("agent:concierge", "room:nowhere", "concierge", "agent:", ""):
        assert console.get(f"/exports/download?scope={scope}", who="stranger").status_code == 404, scope


def test_scopes_are_listed_so_many_at_a_time(console: Console) -> None:
    with console.engine.begin() as connection:
        names = [{"tenant": TENANT, "kind": "agent", "name": f"agent {number:03}"} for number in range(101)]
        connection.execute(insert(Scope), names)
    first = console.get("/exports").text
    assert ("agent 099" in first, "agent 100" in first) == (True, False)
    assert "agent 100" in console.get("/exports?after=agent:agent+099").text
