"""A dry run uses up no number of a run, and leaves no trace of one."""

import pytest
from sqlalchemy import Engine

from slowwave.settings import Consolidation, Curation
from slowwave_server.services.curation.curate import CurationRules, curate
from slowwave_server.services.working.consolidate import consolidate_working
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers


def test_dry_runs_use_up_no_numbers(engine: Engine) -> None:
    hearer = Hearer(engine)
    hearer.hear("The user prefers dark mode.", importance=0.9)
    hearer.hear("The user prefers the dark mode.", session="b")
    rules = CurationRules(Curation(enabled=True), Consolidation())
    for _ in range(3):
        assert hearer.run("light", dry_run=True).changes
        assert curate(engine, hearer.scope_id, rules=rules, clock=lambda: hearer.now, dry_run=True).changes
        consolidate_working(
            engine, hearer.scope_id, settings=rules.consolidation, clock=lambda: hearer.now, dry_run=True
        )
    assert hearer.sql("SELECT id FROM slowwave.maintenance_runs") == []
    assert hearer.run("light").run == 1
