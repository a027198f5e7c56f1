"""An upgrade to revision 0131 indexes emoji, accents and parts of German words of what is stored already."""

import pytest
from sqlalchemy import Engine

from slowwave_server.models.schema import migrate
from tests.support.recalling import Shelf

pytestmark = pytest.mark.servers

_ALL = (
    "SELECT session_id::text AS id, seq, part, search::text FROM slowwave.passages"
    " UNION ALL SELECT id::text, 0, 0, search::text FROM slowwave.memories ORDER BY 1, 2, 3"
)
_NEW = (
    "UPDATE slowwave.{0} SET search = ts_delete(search, ARRAY(SELECT lexeme FROM unnest(search)"
    " WHERE lexeme ~ ':[<>]' OR lexeme ~ '(\U0001f98a|cafe|urlaub)'))"
)


def test_upgrade_indexes_stored_rows_as_new_ones(shelf: Shelf, engine: Engine) -> None:
    shelf.say("en", "Our sign is \U0001f98a now.", "The café is closed.", "Plain words.")
    shelf.say(
        "de", "Das Urlaubsfoto hängt im Flur.", "\n\n".join(f"Tag {n}: das Urlaubsfoto im Café. " * 9 for n in range(6))
    )
    shelf.keep("Zoë likes the café.")
    shelf.keep("Die Rechnungen für den Urlaubsanspruch liegen im Keller.")
    fresh = shelf.sql(_ALL)
    assert max(row["part"] for row in fresh) > 1
    for table in ("passages", "memories"):
        shelf.sql(_NEW.format(table))
    assert shelf.sql(_ALL) != fresh
    migrate(engine, "0130")
    migrate(engine)
    assert shelf.sql(_ALL) == fresh
