"""Statements as rules draw them from talk: many are thin, lean on what was said before, or are about feelings.

Thin statements ("Maya hasn't.", "Maya loves it.") say too little to contradict or to repeat anything; a claim has one
value at a time only where its attribute is of that kind (employer, home, age, deadline, a named favourite), its subject
is somebody or something that was named, and its value is a name, a noun phrase, a number or a date.
"""

import itertools

import pytest

from slowwave_server.domain.similarity import judge, read
from tests.support.tables import for_each

TALK = [
    "Maya hasn't.",
    "Maya hasn't done pottery yet.",
    "Maya couldn't have done it without them.",
    "Jonas is not giving up.",
    "Jonas won't quit.",
    "Priya: Never been to something like that.",
    "Maya loves it.",
    "Maya would love to.",
    "Maya loves them for that.",
    "Maya really appreciates it.",
    "Maya loves painting on weekends.",
    "Being around people who back Maya up is beyond words.",
    "The guitar gives Jonas an escape from work.",
    "It gives Jonas the energy to keep chasing his dreams.",
    "Maya is still looking into nursing jobs.",
    "Recently, Maya had a not-so-great experience on a hike.",
    "Jonas finished the race with the cheers of his friends.",
    "Jonas hasn't been to the lake in a while.",
    "Here's a picture of Jonas's last trip to the lake.",
    "Maya has been working on something exciting.",
    "Maya has been working on it for a while, such a relief.",
    "Maya has been doing it for 3 years.",
    "Maya has had her for two years now.",
    "Maya is always here for Priya.",
]


@for_each(("a", "b"), list(itertools.combinations(TALK, 2)))
def test_thin_statements_neither_contradict_nor_repeat_each_other(a: str, b: str) -> None:
    assert judge(read(a), read(b)).verdict in {"distinct", "related", "synthesise"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Losing Maya's job was hard", "Losing Maya's job was a chance"),
        ("Dance is Maya's passion", "Dance is Priya's way to relax"),
        ("Maya's dogs are doing better already", "Maya's dogs will be waiting too"),
        ("Maya's mom's house had a bench near the window", "Maya's mom was interested in art"),
        ("Maya's favourite is a park with a trail", "One of Maya's favourites is a song called Savannah"),
        ("Maya's goal is to finish the thesis this year", "Maya's goal is to be kind to people"),
        ("Maya prefers tea to coffee", "Maya prefers window seats"),
        ("Maya's friends are coming to dinner", "Maya's friends are very kind"),
        ("Maya plans to visit Rome", "Maya plans to learn the cello"),
    ],
)
def test_what_need_not_be_one_value_is_no_conflict(a: str, b: str) -> None:
    assert judge(read(a), read(b)).verdict != "conflict"
    mine, other = read(a).claims, read(b).claims
    assert not {(c.subject, c.attribute) for c in mine if c.single} & {
        (c.subject, c.attribute) for c in other if c.single
    }


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Maya prefers dark mode", "Maya prefers light mode"),
        ("Maya's favourite colour is green", "Maya's favourite colour is orange"),
        ("The deadline of the report is Friday", "The deadline of the report is Monday"),
        ("Maya works at Northwind", "Maya works at Contoso"),
        ("Maya lives in Oslo", "Maya lives in Bergen"),
        ("Maya likes sushi", "Maya doesn't like sushi any more"),
        ("The service uses PostgreSQL", "The service uses MySQL"),
    ],
)
def test_one_value_at_a_time_is_a_conflict_with_its_attribute(a: str, b: str) -> None:
    assert judge(read(a), read(b)).verdict == "conflict"
    mine = {(c.subject, c.attribute): c.value for c in read(a).claims if c.single}
    other = {(c.subject, c.attribute): c.value for c in read(b).claims if c.single}
    shared = mine.keys() & other.keys()
    assert shared
    assert all(mine[key] != other[key] for key in shared)
