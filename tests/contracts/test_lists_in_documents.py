"""Lists in documents are complete, such as the systems to import from."""

import re
from collections.abc import Collection
from typing import get_args

import pytest

from slowwave.changes import ChangeType
from slowwave.hosts.protocols import HOSTS
from slowwave.recall.instructions import SEVERAL, SINGLE
from slowwave_server.domain.moving_in.records import SYSTEMS
from slowwave_server.workers.cli.connect import Host
from tests.support.documents import ROOT

LISTS: dict[str, tuple[str, Collection[str]]] = {
    "docs/client.md": ("`{}`", (*SINGLE, *SEVERAL)),
    "docs/changes.md": ("| `{}` |", get_args(ChangeType)),
    "docs/moving-in.md": ("| `{}` |", SYSTEMS),
    "docs/coding-agents.md": ("slowwave connect {}", HOSTS),
}


@pytest.mark.parametrize("page", LISTS)
def test_a_page_names_each_of_a_list(page: str) -> None:
    form, names = LISTS[page]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert names
    assert [name for name in names if form.format(name) not in text] == []


def test_connect_knows_the_hosts_of_the_hook() -> None:
    assert {host.value for host in Host} == set(HOSTS)


def test_the_feed_gives_the_types_that_its_clients_know() -> None:
    source = (ROOT / "models" / "functions" / "change_type.sql").read_text(encoding="utf-8")
    given = set(re.findall(r"(?:THEN|ELSE) '(\w+)'", source)) | {"created", "removed", "forgotten"}
    assert given == set(get_args(ChangeType))
