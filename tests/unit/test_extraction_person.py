"""From "I" to the speaker's name: agreement, contractions, we and you, and what must stay as it was said."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave_server.domain.extraction.person import Speaker, third_person
from tests.support.tables import for_each

MAYA = Speaker("Maya", "Jonas")


@for_each(
    ("said", "told"),
    [
        ("I adopted a dog last week.", "Maya adopted a dog last week."),
        ("I walk to work and don't own a car", "Maya walks to work and doesn't own a car."),
        ("I carry it and go home", "Maya carries it and goes home."),
        ("I'm a nurse!", "Maya is a nurse."),
        ("im a nurse", "Maya is a nurse."),
        ("I've two cats", "Maya has two cats."),
        ("I'll call them", "Maya will call them."),
        ("I'd love that", "Maya would love that."),
        ("I'd never been there", "Maya had never been there."),
        ("I also really enjoy chess", "Maya also really enjoys chess."),
        ("I need a rest", "Maya needs a rest."),
        ("I LOVE tea", "Maya LOVES tea."),
        ("I no longer smoke", "Maya no longer smokes."),
        ("I kind of miss it", "Maya kind of misses it."),
        ("I wanna sail and I gotta rest", "Maya wants to sail and they gotta rest."),
        ("I read it a few years ago.", "Maya read it a few years ago."),
        ("I want to go out and have fun", "Maya wants to go out and have fun."),
        ("I live in Bath and have a cat", "Maya lives in Bath and has a cat."),
        ("I finished it and am now free", "Maya finished it and is now free."),
        ('I like "On Tides."', 'Maya likes "On Tides."'),
        ("I rely on the bus", "Maya relies on the bus."),
        ("I read a lot", "Maya reads a lot."),
        ("I read it when I was ten", "Maya read it when they were ten."),
        ("i dont like it", "Maya doesn't like it."),
        ("My sister gave me her bike", "Maya's sister gave them her bike."),
        ("That cup is mine", "That cup is Maya's."),
        ("I taught myself", "Maya taught themselves."),
        ("My wife and I love opera", "Maya's wife and Maya love opera."),
        ("She hopes that I can't come", "She hopes that Maya can't come."),
        ("Nor do I like rain", "Nor does Maya like rain."),
        ("All I do is work", "All Maya does is work."),
        ("What I have is enough", "What Maya has is enough."),
    ],
)
def test_the_speaker_is_kept_and_the_verb_agrees(said: str, told: str) -> None:
    assert third_person(said, MAYA) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I am tall and so am I happy", "Maya is tall and so are they happy."),
        ("I was tired but never was I bored", "Maya was tired but never were they bored."),
        ("I cook when I'm sad and my dog sleeps", "Maya cooks when they are sad and their dog sleeps."),
        ("My aunt taught me to cook when I was six", "Maya's aunt taught them to cook when they were six."),
    ],
)
def test_after_the_name_pronouns_follow(said: str, told: str) -> None:
    assert third_person(said, MAYA) == told


@pytest.mark.parametrize(
    "name",
    [
        "my-service", "us-east-1", "my_table", "our_orders.csv", "https://my.site.example/me/you", "/home/me/notes",
        "@me", "me@us.example", "I_AM_ROOT", "`us`", "WE-77", "my.settings.ini",
    ],
)  # fmt: skip
def test_pronouns_inside_identifiers_stay(name: str) -> None:
    assert f" {name} " in third_person(f"I moved {name} to my old server", MAYA)


def test_quoted_pronouns_stay_after_the_name() -> None:
    told = third_person('I read "My Life and I" to my class', MAYA)
    assert told == 'Maya reads "My Life and I" to their class.'


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("We moved to Leeds", "Maya and others moved to Leeds."),
        ("We're selling our house", "Maya and others are selling their house."),
        ("Our dog likes us", "Maya's dog likes Maya and others."),
    ],
)
def test_we_is_the_speaker_and_others(said: str, told: str) -> None:
    assert third_person(said, MAYA) == told


def test_you_is_the_other_of_two_speakers() -> None:
    assert (
        third_person("I think you are right about your boss", MAYA) == "Maya thinks Jonas is right about Jonas's boss."
    )
    assert third_person("I admire you", MAYA) == "Maya admires Jonas."


def test_you_stays_where_it_means_anyone_or_nobody_is_known() -> None:
    assert third_person("I rise early when you have cows", MAYA) == "Maya rises early when you have cows."
    assert third_person("I like your hat", Speaker("Maya")) == "Maya likes your hat."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Went to Bath yesterday", "Maya went to Bath yesterday."),
        ("Just got back from Rome!", "Maya just got back from Rome."),
        ("Hoping to sell it", "Maya is hoping to sell it."),
        ("Been busy with exams", "Maya has been busy with exams."),
        ("Love hiking", "Maya loves hiking."),
    ],
)
def test_a_subject_that_was_left_out_comes_back(said: str, told: str) -> None:
    assert third_person(said, MAYA) == told


@pytest.mark.parametrize("bidding", ["Don't worry about the car.", "Have a great day with him.", "Enjoy the trip."])
def test_a_bidding_is_nobodys_deed(bidding: str) -> None:
    assert third_person(bidding, MAYA) == f"Maya: {bidding}"


def test_a_gerund_is_a_subject_of_its_own() -> None:
    assert third_person("Learning to sail is hard", MAYA) == "Maya: Learning to sail is hard."


def test_fillers_go_and_words_stay() -> None:
    assert third_person("Oh yes, well, I sold my car lol :)", MAYA) == "Maya sold their car."
    assert third_person("So much snow fell on my roof", MAYA) == "So much snow fell on Maya's roof."


def test_a_sentence_without_its_speaker_gets_the_name_in_front() -> None:
    assert third_person("The kids hate rain.", MAYA) == "Maya: The kids hate rain."
    assert third_person("The office is in Lyon.", Speaker("The user")) == "The office is in Lyon."


def test_an_unnamed_user_reads_as_a_sentence() -> None:
    assert third_person("I told my team", Speaker("The user")) == "The user told their team."
    assert third_person("Yesterday I left", Speaker("The user")) == "Yesterday the user left."


@pytest.mark.parametrize(
    "kept",
    [
        'She said "I hate my job" to Ann.',
        "World War I ended in 1918.",
        "The loop sets i = 0 at first.",
        "I/O is slow here.",
    ],
)
def test_what_is_not_the_speaker_stays(kept: str) -> None:
    assert third_person(kept, MAYA) == f"Maya: {kept}"


@given(st.text(max_size=300))
def test_any_text_is_rewritten_without_losing_its_digits(text: str) -> None:
    told = third_person(text, MAYA)
    assert [c for c in told if c.isdigit()] == [c for c in text if c.isdigit()]


@pytest.mark.parametrize("junk", ["I ", "i'", "well ", "so, ", "! ", '"I" ', "and I ", "don't ", "lol ", "... "])
def test_hostile_text_is_rewritten_in_bounded_time(junk: str) -> None:
    began = time.process_time()
    third_person(junk * (2_000 // len(junk)), MAYA)
    assert time.process_time() - began < 2
