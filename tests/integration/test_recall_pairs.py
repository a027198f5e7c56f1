"""Changes and contradictions in `search` and `context`, on a database."""

import pytest

from slowwave.recall import Hit
from tests.support.recalling import NOW, Shelf, context, search

pytestmark = pytest.mark.servers


def found(shelf: Shelf, query: str, limit: int = 10, scopes: tuple[str, ...] = ()) -> list[Hit]:
    return search(shelf.connection, "default", "maya", query, limit=limit, scopes=scopes)


def dispute(shelf: Shelf, one: str, other: str, scope: str | None = None) -> None:
    shelf.sql(
        "INSERT INTO slowwave.memory_conflicts (scope_id, memory_id, conflicting_memory_id, reason, evidence)"
        " VALUES (%s, least(%s::uuid, %s::uuid), greatest(%s::uuid, %s::uuid), 'two values', '{}')",
        *(shelf.scope(scope=scope), one, other, one, other),
    )


def test_old_value_found_brings_the_current_one(shelf: Shelf) -> None:
    newest = shelf.keep("Tegel is closed.")
    middle = shelf.keep("Flights leave from Schoenefeld.", superseded_by=newest)
    oldest = shelf.keep("Maya flies from Tempelhof.", superseded_by=middle)
    hits = found(shelf, "Tempelhof")
    assert [hit.id for hit in hits] == [newest, oldest]
    assert hits[0].valid_to is None
    assert hits[1].to_json()["valid_to"].startswith("2024-05-06")


def test_current_value_found_shows_what_it_replaced_with_until(shelf: Shelf) -> None:
    new = shelf.keep("Maya rents a flat in Bergen.")
    old = shelf.keep("Maya shares a house by the sea.", superseded_by=new)
    assert [hit.id for hit in found(shelf, "Bergen flat")] == [new, old]
    text = context(shelf.connection, "default", "maya", query="Bergen flat", now=NOW).to_text()
    assert f"- 2024-05-05 until 2024-05-06 Maya shares a house by the sea. [memory {old[-8:]}]" in text


def test_both_sides_of_an_open_conflict_come_with_either(shelf: Shelf) -> None:
    one, other = shelf.keep("Kilian keeps goats."), shelf.keep("No animals live on the farm.")
    for filler in ("Goats eat grass.", "Goats climb."):
        shelf.keep(filler)
    dispute(shelf, one, other)
    assert [hit.id for hit in found(shelf, "Kilian")] == [one, other]
    assert [hit.id for hit in found(shelf, "farm animals")] == [other, one]
    assert [hit.contradicts for hit in found(shelf, "Kilian")] == [(other,), (one,)]
    shelf.sql("UPDATE slowwave.memory_conflicts SET status = 'dismissed'")
    assert [hit.contradicts for hit in found(shelf, "Kilian")] == [()]


def test_i8_companions_never_come_from_another_scope(shelf: Shelf) -> None:
    elsewhere = shelf.keep("The farm has no animals.", scope="room:farm")
    here = shelf.keep("Kilian keeps goats.")
    dispute(shelf, here, elsewhere)
    shelf.sql("UPDATE slowwave.memories SET superseded_by = %s, valid_to = now() WHERE id = %s", elsewhere, here)
    assert [hit.id for hit in found(shelf, "Kilian")] == [here]
    assert found(shelf, "Kilian", scopes=("room:farm",))[0].id == elsewhere


def test_archived_companions_stay_out(shelf: Shelf) -> None:
    new = shelf.keep("Maya rents a flat in Bergen.")
    shelf.keep("Maya shares a house by the sea.", superseded_by=new, status="archived")
    other = shelf.keep("Nobody rents in Bergen.", status="review")
    dispute(shelf, new, other)
    assert [(hit.id, hit.contradicts) for hit in found(shelf, "Bergen flat")] == [(new, ())]
