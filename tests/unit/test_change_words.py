"""Changes of memories as sentences for people."""

from uuid import UUID

from slowwave_server.domain.change_words import change_sentences, day_words, mentioned, value_change

BOSCH = UUID(int=7)
END = "2025-06-10T09:30:00+00:00"


def test_replaced_value_names_attribute_and_day() -> None:
    after = {"valid_to": END, "superseded_by": str(BOSCH)}
    before = {"valid_to": None, "superseded_by": None}
    said = change_sentences(before, after, "Maya works at Siemens.", {BOSCH: "Maya works at Bosch."})
    assert said == ["employer: Siemens → Bosch on 10 June 2025"]
    assert mentioned(before, after) == {BOSCH}


def test_replacement_without_attribute_quotes_successor() -> None:
    after = {"valid_to": END, "superseded_by": str(BOSCH)}
    said = change_sentences({"valid_to": None}, after, "The door is red.", {BOSCH: "It was painted."})
    assert said == ["replaced by “It was painted.” on 10 June 2025"]
    gone = change_sentences({"valid_to": None}, after, "The door is red.", {})
    assert gone == ["replaced by a memory that no longer exists on 10 June 2025"]


def test_status_and_figures_are_words() -> None:
    before = {"status": "inbox", "confidence": 0.61, "importance": 0.5}
    after = {"status": "active", "confidence": 0.72, "importance": 0.5, "sources": [4, 5]}
    assert change_sentences(before, after, "x", {}) == [
        "status: new → active",
        "2 sources more: #4, #5",
        "confidence: 0.61 → 0.72",
    ]
    archived = {"status": "archived", "archive_reason": "rejected"}
    assert change_sentences({"status": "active"}, archived, "x", {}) == ["archived: rejected"]


def test_merge_and_link_name_the_other_memory() -> None:
    merged = {"status": "archived", "archive_reason": "merged", "merged_into": str(BOSCH)}
    others = {BOSCH: "Maya likes tea."}
    assert change_sentences({"status": "inbox", "merged_into": None}, merged, "x", others) == [
        "merged into “Maya likes tea.”"
    ]
    linked = {"target": str(BOSCH), "predicate": "related_to", "confidence": 0.8}
    assert change_sentences(None, linked, "x", others) == ["related to “Maya likes tea.”"]


def test_decision_of_contradiction_says_its_resolution() -> None:
    after = {"conflict": 4, "status": "resolved", "resolution": "both hold"}
    assert change_sentences({"conflict": 4, "status": "open"}, after, "x", {}) == [
        "contradiction 4 closed",
        "both hold",
    ]
    asked = {"review_item": 9, "state": "accepted"}
    assert change_sentences({"review_item": 9, "state": "open"}, asked, "x", {}) == ["question 9: accepted"]


def test_resolution_names_memories_by_their_text() -> None:
    after = {"conflict": 4, "status": "resolved", "resolution": f"{BOSCH} was said later and holds", "with": str(BOSCH)}
    assert change_sentences(None, after, "x", {BOSCH: "Maya works at Bosch."})[1] == (
        "“Maya works at Bosch.” was said later and holds"
    )
    assert change_sentences(None, after, "x", {})[1] == "this memory was said later and holds"


def test_undone_end_holds_again() -> None:
    back = change_sentences({"valid_to": END, "superseded_by": str(BOSCH)}, {"valid_to": None}, "x", {})
    assert back == ["holds again; before, it held until 10 June 2025"]


def test_other_subject_is_no_value_change() -> None:
    assert value_change("Maya works at Siemens.", "Jonas works at Bosch.") is None
    assert value_change("Maya lives in Oslo.", "Maya lives in Bergen.") == "lives in: Oslo → Bergen"
    assert value_change("Maya prefers tea.", "Maya prefers coffee.") == "prefers: tea → coffee"
    assert day_words("2025-06-10") == "10 June 2025"
