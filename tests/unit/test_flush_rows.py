import json
from datetime import UTC, datetime
from typing import Any

from slowwave_server.domain.candidates import Candidate, Window
from slowwave_server.domain.events import Event, EventKind
from slowwave_server.services.flush.rows import candidates_json, passages_json

AT = datetime(2024, 5, 10, tzinfo=UTC)


def event(seq: int, content: str, kind: EventKind = "user") -> Event:
    return Event(seq=seq, kind=kind, role=kind, content=content, happened_at=AT)


def languages(events: list[Event], preceding: tuple[Event, ...] = ()) -> dict[int, str]:
    window = Window(tuple(events))
    rows: list[dict[str, Any]] = json.loads(passages_json(window, preceding))
    return {row["seq"]: row["language"] for row in rows}


def test_each_event_names_its_language() -> None:
    said = [
        event(1, "Ich wohne seit März in Bonn."),
        event(2, "Where is the report?"),
        event(3, "Mieszkam w Krakowie."),
    ]
    assert languages(said) == {1: "de", 2: "en", 3: "pl"}


def test_short_events_have_the_language_of_what_was_said_before() -> None:
    before = (event(1, "Prefiero el café sin azúcar por la mañana."), event(2, "ok"), event(3, "vale"))
    assert languages([event(4, "gracias"), event(5, "12")], before) == {2: "es", 3: "es", 4: "es", 5: "es"}


def test_output_of_tools_counts_as_english() -> None:
    said = [event(1, "Wo liegt die Datei mit den Rechnungen?"), event(2, "Ordner leer, nichts gefunden", "tool")]
    assert languages(said) == {1: "de", 2: "en"}


def test_short_memories_have_the_language_of_their_window() -> None:
    made = Candidate(
        content="Mag Tee.", type="preference", confidence=0.7, importance=0.5, trust="user", entities=(), valid_from=AT,
        sources=(1,), signals=(),
    )  # fmt: skip
    (row,) = json.loads(candidates_json((made,), [event(1, "Ich trinke morgens am liebsten grünen Tee.")]))
    assert row["language"] == "de"
    (row,) = json.loads(candidates_json((made,)))
    assert row["language"] == "en"
