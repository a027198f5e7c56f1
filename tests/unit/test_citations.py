"""Citations: a reply that plainly repeats a memory, and only that."""

from uuid import UUID

import pytest

from slowwave_server.domain.citations import cites

MEMORY = UUID("0190a1b2-0000-7000-8000-33cc5f035705")
INVOICES = "Rita: Please send invoices to billing@example.com from now on."


@pytest.mark.parametrize(
    ("reply", "content", "asked"),
    [
        ("Invoices go to billing@example.com.", INVOICES, "Where do invoices go?"),
        ("I look at osprey-12 first.", "Service 12 runs on osprey-12.", "The service is down."),
        ("You left Porto for Lisbon, so I book from Lisbon.", "Maya moved from Porto to Lisbon.", "Book me a flight."),
        ("As noted [memory 5f035705].", "Maya prefers tea.", "What do I drink?"),
    ],
    ids=["address", "identifier", "words", "mark"],
)
def test_a_reply_that_repeats_a_memory_cites_it(reply: str, content: str, asked: str) -> None:
    assert cites(reply, MEMORY, content, [asked])


@pytest.mark.parametrize(
    ("reply", "content", "asked"),
    [
        ("Thank you, have a nice day!", "Maya said that the day was nice.", "Bye."),
        ("Lisbon is lovely in May, and Porto too.", "Maya moved from Porto to Lisbon.", "Porto or Lisbon in May?"),
        ("Shall I order green tea?", "Maya prefers tea.", "I am thirsty."),
        ("In 2024 sales rose.", "Maya joined Northwind in 2024.", "How were sales?"),
        ("", INVOICES, "Where do invoices go?"),
    ],
    ids=["chatter", "the user's own words", "one word", "a year", "nothing"],
)
def test_a_reply_that_has_its_words_from_elsewhere_does_not(reply: str, content: str, asked: str) -> None:
    assert not cites(reply, MEMORY, content, [asked])
