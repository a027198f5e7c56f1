"""Whether a later statement tells of a change of what an earlier one said, without a model and with one."""

import pytest

from slowwave_server.domain.similarity import Meaning, MeaningOf, changes, read
from slowwave_server.domain.similarity.quotes import plain_words, with_user_for_speaker
from tests.support.tables import for_each


def meaning(*, by_first: float = 0.0, by_second: float = 0.0, conflict: float = 0.0) -> MeaningOf:
    """A model with one answer. by_first: that the statement first in alphabetical order ends the other one."""
    update = by_first + by_second
    return lambda _a, _b: Meaning(0.1, conflict, update, 0.9 - update - conflict, 0.0, 0.8, 0.7, by_first)


def sees_update(older: str, newer: str, chance: float) -> MeaningOf:
    """A model that says with this chance that the newer one ends the older one."""
    before, after = with_user_for_speaker(older, newer)
    return meaning(by_first=chance * (after < before), by_second=chance * (before < after))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('The user: "I\'ve sold my boat (2024-05-03)."', "The user has sold the user's boat."),
        ('Maya to Jonas: "I am in Oslo."', "Maya is in Oslo."),
        ('Maya (asked \u201cwhere?\u201d): "I am in Oslo."', "Maya is in Oslo."),
        ('Maya: \u201cI am in "Little Oslo".\u201d', 'Maya is in "Little Oslo".'),
        ("The user sold a boat (week of 2024-05-03).", "The user sold a boat."),
        ('Maya said "no".', 'Maya said "no".'),
    ],
)
def test_quotes_are_read_in_plain_words(text: str, plain: str) -> None:
    assert plain_words(text) == plain


@for_each(
    ("older", "newer"),
    [
        ("The harbour bot runs on Node 18.", "The harbour bot was upgraded to Node 20."),
        ("The gold plan costs 12 euros a month.", 'The user: "From today the gold plan is 15 euros a month."'),
        ("The user rows at Northern Oars.", "The user quit Northern Oars in May."),
        ("The user drinks three coffees a day.", "The user no longer drinks coffee, because of the heart."),
        ("The build runs on Hudson.", "The team no longer uses Hudson."),
        ("The user plays tennis on Sundays with Tom.", "The user does not play tennis any more since the surgery."),
        ("The report store is on host rs-03.", "We failed over: the report store now lives on rs-11."),
        (
            "The user has fencing lessons with a coach named Weil.",
            "Weil retired, and it's Brandt who teaches me fencing.",
        ),
        ('The user: "We keep 30 ducks on the pond."', 'The user: "A fox was here, we keep 24 ducks now."'),
        ("The user is driving a Saab.", "The Saab made way for a Kia, which the user drives everywhere."),
        ("The user is a vegan.", 'The user: "I eat cheese again, I am not a vegan any more."'),
        ('The user: "We live at 12 Elm Close in Derby."', 'The user: "Our new address is 40 Quay Street in Whitby."'),
        ("The wiki is hosted on srv-12.", 'The user: "We moved the wiki to srv-31."'),
        ("The user's vet is Hanna Weil.", "The user's vet is Joel Brandt now."),
        ("The user's Elo is 1180.", "The user's Elo is 1260."),
        ("The kitchen renovation is in progress.", "The kitchen renovation is finished."),
        ("Our landlord is Mr Sands.", "Mr Sands sold the house, the landlord is Ines Tal now."),
        ("The mail queue keeps 4 workers.", 'The user: "Bumped the mail queue to 9 workers before the sale."'),
        (
            'The user: "Bumped the mail queue to 9 workers before the sale."',
            "The mail queue is back down to 5 workers.",
        ),
        ('The user: "Entry fee for adults: 14 EUR."', 'The user: "Adults pay an entry fee of 16 EUR since March."'),
        (
            "The grant report is due on 3 May.",
            'The user: "They gave us an extension, the grant report is due by 9 June."',
        ),
        (
            'The user: "Olga is on call for search this week."',
            'The user: "Search on-call has been handed over to Pim."',
        ),
        (
            "Olga Ros is the manager of the mobile team.",
            'The user: "Since Olga left, Pim Dahl manages the mobile team."',
        ),
        ("The user's tutor is Olga.", 'The user: "Pim replaces Olga as my tutor."'),
        ("The user's record over 10 km is 51:20.", 'The user: "Ran 49:10 over 10 km in Lund, my fastest ever."'),
        ('The user: "Parcel 118 is being sorted."', 'The user: "Parcel 118 was delivered at noon."'),
        ('The user: "The Norrby deal is in negotiation."', 'The user: "Norrby signed, the deal is won!"'),
        ("The user is learning the cello with Mrs. Dahl.", 'The user: "I gave up the cello and play the oboe now."'),
        ('The user: "Pim can\'t eat shrimps."', "The doctor says Pim can eat shrimps again."),
        ('The user: "I work at a bakery in Lund."', 'The user: "I have a new job, I am a cook in a school."'),
        (
            'The user: "Format with blue before each commit."',
            'The user: "blue is gone, format with ruff before each commit."',
        ),
        ("The chess club meets in room B2.", 'The user: "Since the flood the chess club meets in the Lindner Hall."'),
        (
            "The harbour bot uses the model tern-small.",
            'The user: "We switched the harbour bot to tern-2."',
        ),
        ('The user: "Photo cache TTL: 300 seconds."', "The photo cache TTL is now 90 seconds."),
        ('The user: "Olga has borrowed my tent."', 'The user: "Olga gave the tent back."'),
        ('The user: "We live in Lund."', 'The user: "We\'re living in Malmo now."'),
        ("Our CTO is Olga.", 'The user: "Olga stepped down, Pim is our CTO."'),
        ('The user: "Please ship my orders to 2 Elm Close."', "The user's new shipping address is 9 Quay Street."),
    ],
)
def test_a_change_needs_no_model_if_the_words_say_it(older: str, newer: str) -> None:
    assert changes(read(newer), read(older), None)


@for_each(
    ("older", "newer"),
    [
        ("The silver plan costs 9 euros a month.", "From today the gold plan is 15 euros a month."),
        ("The harbour bot runs on Node 18.", "The harbour bot runs on Node 18 in Oslo, too, since May."),
        ("The user rows at Northern Oars.", "The user met Ines at Northern Oars."),
        ("The user is saving for an electric teapot.", "The user is no longer proud of a Japanese teapot."),
        ("The user is afraid of the harmonica in the holidays.", "The user is no longer proud in the holidays."),
        ("The user reads the news at breakfast.", "The user no longer eats breakfast."),
        ("The team deploys on Fridays.", "The team no longer deploys from laptops."),
        ("The user's brother Tom lives in Berlin.", "The user no longer works with Tom."),
        ("Acme pays its invoices within 30 days.", "Lena left Acme."),
        ("Maya went to Oslo in May.", "Maya left Oslo and moved on."),
        ('Ola: "I row for fun these days."', 'Ines to Ola: "Ola, do not quit!"'),
        ("Ola is allergic to cats.", "Ines is no longer allergic to nuts."),
        ("The user's cousin Ola is allergic to cats.", "Ines was tested, she is no longer allergic to nuts."),
        ("The user is a vegan.", "Ines is not a vegan any more."),
        ("The report store is on host rs-03.", "The report store is now also on rs-11."),
        ("The report store is on host rs-03.", "The mail store now lives on rs-11."),
        ("The report store is on host rs-03.", "The report store was upgraded to v2."),
        ("The mail queue keeps 4 workers.", "Bumped the photo queue to 9 workers."),
        ("A weekly pass is 32 euros.", 'The user: "Day passes went up to 9 euros."'),
        ("The download limit is 1 GB.", "The upload limit was raised to 50 MB."),
        ("The user's co-founder is based in Riga.", "The user relocated to Vilnius."),
        ("The user's assistant is at desk@firm.test.", "The user's new e-mail is kim@firm.test."),
        ("The budget for the fair is 9,000 euros.", "The budget for the film is now 8,000 euros."),
        ("The user's rating is 1500.", "The user's brother's rating dropped to 1400."),
        ("The user ran 5 km on Monday.", "The user ran 8 km on Tuesday."),
        ("The user ran 5 km in 31 minutes.", "The user ran 5 km in 30 minutes again."),
        ("The user's half marathon best is 1:54.", "The user's marathon best is 3:58 now."),
        ("The limit is 40 requests.", "The user: we could raise the limit to 60 requests now."),
        ("The user speaks Danish.", "The user speaks Finnish, too, now."),
        ("Olga is on the search team.", "Pim is on the search team now."),
        ("Ticket 12 is waiting for Olga.", "Ticket 14 was resolved."),
        ("The user plays the cello.", "The user's sister gave up the cello."),
        ("The user's husband works in a bank.", "The user has a new job, the user is a cook."),
        ("Pim's fastest 50 back is 1:02.3.", 'The user: "1:01.8 in the 50 back, a new personal best!"'),
        (
            'The user: "Swam 1:15 in the 50 back, nowhere near my record."',
            "The user's record in the 50 back is 1:01.8 now.",
        ),
        ("The under-14s train on Thursdays.", 'The user: "Training of the under-12s was shifted to Tuesdays."'),
        ("Pim lives with Ines in the blue flat.", "Pim is tired, and Ines painted the flat with Tal."),
        (
            'Pim: "Bray beach is one of my favorites."',
            'Ines: "I have never been to Bray beach. I like the coves of Faro."',
        ),
        ("The user knows Pim.", "The user knows Ines now."),
        ("Nils has a dog of twelve years.", "Nils has owned the dog for a dozen years now."),
        ("The user's fastest kilometre is 3:59.", "The user ran a mile in 6:31 today, the user's fastest yet."),
        ("Tim's class teacher is Mr. Kraft.", 'The user: "Lena has a new class teacher, Mr. Sand."'),
        ("The secretary of the club is Noa.", 'The user: "Petra was elected treasurer of the club."'),
        ('The user: "We keep backups for 90 days."', 'The user: "Logs are kept for 30 days now."'),
        (
            'The user: "A new project came up, so the Faro project: Route 1 is paused."',
            'assistant: "First, the tender of Lima Base is now marked as Red in the project list."',
        ),
    ],
)
def test_another_thing_or_no_change_ends_nothing(older: str, newer: str) -> None:
    assert not changes(read(newer), read(older), None)


@for_each(
    ("older", "newer"),
    [
        ("The user drives a Volvo.", "The user drives a Kia now."),
        ("The Oslo train leaves from track 7.", "Attention: the Oslo train leaves from track 9."),
        ("The ferry ticket office is on Quay Street.", "The ticket office is in the Lindner Hall now."),
        ('The user: "Send receipts to a@norrby.test."', "Receipts should go to b@norrby.test from now on."),
        ('The user: "We buy flour from Tal."', "Tal's van broke, flour comes from Weil."),
        ("Facilities may spend 900 euros on the roof repair.", "The board trimmed the roof repair budget to 700."),
    ],
)
def test_strong_evidence_of_an_update_ends_a_statement(older: str, newer: str) -> None:
    first, second = plain_words(older), plain_words(newer)
    told = meaning(by_first=0.8 * (second < first), by_second=0.8 * (first < second))
    assert changes(read(newer), read(older), told)
    assert not changes(read(newer), read(older), meaning())


def test_an_update_in_the_other_direction_ends_nothing() -> None:
    older, newer = read("The user drives a Volvo."), read("The user drives a Kia now.")
    assert changes(newer, older, meaning(by_first=0.3))
    assert not changes(newer, older, meaning(by_second=0.8))


def test_rules_need_some_evidence_if_a_model_answers() -> None:
    older, newer = read("The user's Elo is 1180."), read("The user's Elo is 1260.")
    assert changes(newer, older, None)
    assert changes(newer, older, meaning(by_second=0.05))
    assert not changes(newer, older, meaning(by_second=0.001))


def test_evidence_of_an_update_does_not_end_what_another_person_said() -> None:
    older, newer = read('Pim: "I drive a Volvo."'), read('Ines: "I drive a Kia now."')
    assert not changes(newer, older, meaning(by_first=0.9))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Invoice 31 is unpaid.", "Invoice 40 was paid."),
        ("The upload limit is 10 MB.", "The download limit is 1 GB now."),
        ("The user's rating is 1500.", "Pim's rating is 1400 now."),
        ("The lens of the left eye has -2.5.", "The lens of the right eye has -2.75 now."),
        ("The baby sleeps in our room.", "If the baby sleeps in her own room now, we rest."),
        ('Ola: "I am tired since I lost my notes."', "Ola finally finished that yesterday."),
        (
            "Ola works in blocks of 25 minutes, so that her breaks have an end.",
            'Ola: "I have been sad since I lost my notes."',
        ),
        ('Ola: "Reading gives me peace."', 'Ola: "Yep, it has become a part of my day now."'),
        (
            'assistant: "The hotel in Faro is booked."',
            'assistant: "With Faro settled, the open points of Plan Lima are done."',
        ),
    ],
)
def test_the_model_ends_nothing_of_another_thing(older: str, newer: str) -> None:
    first, second = plain_words(older), plain_words(newer)
    told = meaning(by_first=0.3 * (second < first), by_second=0.3 * (first < second))
    assert not changes(read(newer), read(older), told)


@for_each(
    ("older", "newer", "chance"),
    [
        ('Ola: "My goat pen is open."', 'Ola: "Hey Pim, my goat pen has been a joy."', 0.3),
        ('Ola: "Try the Faro soup first."', 'Ola: "Now I\'m gonna order some soup for tonight."', 0.5),
        ('Ola: "My last class went well. I am ready to row."', 'Ola: "My class was a help, I am ready now."', 0.1),
        ('Ola: "I grew up with Tal and Weil and old songs."', 'Ola: "My favorite old song now is by Brandt."', 0.01),
    ],
)
def test_talk_without_another_value_ends_nothing(older: str, newer: str, chance: float) -> None:
    assert not changes(read(newer), read(older), sees_update(older, newer, chance))


@for_each(
    ("older", "newer"),
    [
        ('Ola: "I come from Lund. I live in Faro."', 'Ola: "I moved, now I live in Oslo."'),
        ('Ola: "My bus to work is line 4."', 'Ola: "My bus to work is line 9 now."'),
        ('Ola: "I eat no eggs these days."', 'Ola: "I eat eggs once more."'),
        ('Ola: "Our choir is led by Tal."', 'Ola: "Tal retired, so Brandt leads our choir now."'),
        ("Ola's choir begins at seven.", 'Ola: "From today my choir begins at eight."'),
    ],
)
def test_talk_that_gives_another_value_ends_one(older: str, newer: str) -> None:
    assert changes(read(newer), read(older), sees_update(older, newer, 0.3))


@for_each(
    ("older", "newer"),
    [
        (
            'Ola: "Not much is new. I am busy with my goats."',
            'Ola: "Sounds like a new and busy task! Getting to row is fun."',
        ),
        (
            'Ola: "The youngest goat is full of life and I adore Tal."',
            'Pim: "I have wanted to go since May, but it is hard as the youngest goat Toto is new."',
        ),
        ('Ola: "I don\'t row here any more."', 'Ola: "I am sorry, I don\'t row here any more."'),
        ("Ola is going to Pim's.", "Pim: Toto moved out."),
    ],
)
def test_names_of_speakers_and_first_words_are_no_values(older: str, newer: str) -> None:
    assert not changes(read(newer), read(older), None)


@pytest.mark.parametrize(
    ("one", "other", "plain"),
    [
        ('Ola: "I row."', 'Ola: "My goat is ill."', ("The user row.", "The user's goat is ill.")),
        ("Ola rows.", 'Ola: "I rest."', ("The user rows.", "The user rest.")),
        ("The user agreed.", 'assistant: "I booked."', ("The user agreed.", "Assistant booked.")),
        ('Ola: "I row."', 'Pim: "I rest."', ("Ola row.", "Pim rest.")),
        ("Ola rows.", "Pim rests.", ("Ola rows.", "Pim rests.")),
    ],
)
def test_the_only_speaker_is_read_as_the_user(one: str, other: str, plain: tuple[str, str]) -> None:
    assert with_user_for_speaker(one, other) == plain


def test_statements_longer_than_those_that_the_model_learned_end_nothing() -> None:
    older, newer = read("The harbour bot runs on Node 18."), read("The harbour bot was upgraded to Node 20.")
    long = read(f"The harbour bot was upgraded to Node 20{', and Ines in Oslo is glad' * 5}.")
    sure = meaning(by_second=0.9)
    assert changes(newer, older, sure)
    assert not changes(long, older, sure)
    assert not changes(newer, read(f"The harbour bot runs on Node 18{', and Ines in Oslo is glad' * 5}."), sure)
