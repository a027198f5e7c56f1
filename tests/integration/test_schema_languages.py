"""The migration that gives every row a language indexes what was there before in that language."""

import pytest
from sqlalchemy import Engine

from slowwave_server.models.schema import migrate
from tests.support.recalling import Shelf, search

pytestmark = pytest.mark.servers

INDEXED = (
    "SELECT session_id::text AS id, seq, language, search::text FROM slowwave.passages"
    " UNION ALL SELECT id::text, 0, language, search::text FROM slowwave.memories ORDER BY 1, 2"
)


def test_migration_indexes_rows_that_were_there_before(engine: Engine, shelf: Shelf) -> None:
    shelf.say("de", "Die Rechnungen gehen mit der Post an die Müller GmbH.", "Gut.", speaker="Maya")
    shelf.say("en", "The wrapper lives in /srv/jobs/tail_wrapper.sh now.", *(f"Line {n} of it." for n in range(600)))
    shelf.say("zh", "我们决定用Superset做销售看板。")
    memory = shelf.keep("Der Kunde bevorzugt gedruckte Rechnungen.")
    indexed = shelf.sql(INDEXED)
    migrate(engine, "0100")
    shelf.sql("UPDATE slowwave.passages SET search = ''")
    shelf.sql("UPDATE slowwave.memories SET search = ''")
    migrate(engine)
    assert shelf.sql(INDEXED) == indexed
    hits = [hit.id for hit in search(shelf.connection, "default", "maya", "gedruckte Rechnung")]
    assert set(hits[:2]) == {memory, "de#1"}
