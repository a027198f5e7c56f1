"""What stands in every context: standing instructions and the profile, through the real pipeline."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from redis import Redis
from sqlalchemy import Engine, text

from slowwave.identity import SessionRef
from slowwave.integrations.safe import MAX_TOKENS
from slowwave.recall import Context
from slowwave_server.domain.extraction import RulesExtractor
from tests.support.flushing import Scene, make_scene
from tests.support.instructing import INSTRUCTIONS
from tests.support.recalling import context

pytestmark = pytest.mark.servers

MANY = 10_000
ANSWERS = {"en": "Noted.", "de": "Alles klar.", "fr": "C'est noté.", "es": "Entendido.", "zh": "好的，我记住了。"}
FILLER = """
    INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,
        valid_from, reaffirmed_at, recorded_at, search)
    SELECT k.id, 'fact', c, sha256(c::bytea), 'active', 0.8, (i % 97) / 100.0, 'user', n, n, n,
           slowwave.memory_search_vector(k.id, c, n, '{}')
    FROM slowwave.scopes k, generate_series(1, :many) AS i,
        LATERAL (SELECT CAST(:now AS timestamptz) - i * interval '1 hour' AS n,
            'The user always keeps ledger ' || i || ' in drawer ' || i % 31 || ' of the emoji archive.' AS c) AS t
"""


@dataclass
class House:
    """An agent and the people who talk with it."""

    scene: Scene
    engine: Engine
    url: str

    def talk(self, session: str, *lines: str, days: float = 0, answer: str = "Noted.", **event: Any) -> None:
        """Say these, each followed by an answer, and flush."""
        events: list[dict[str, Any]] = []
        for line in lines:
            for kind, content in (("user", line), ("assistant", answer)):
                at = self.scene.clock() + timedelta(days=days, seconds=len(events))
                said = {"kind": kind, "step": len(events) + 1, "content": content, "at": at.isoformat()}
                events.append(said | (event if kind == "user" else {}))
        item = {"agent": "maya", "session": session, "trigger": "idle", "events": events}
        self.scene.sql(
            "SELECT due FROM slowwave.capture_batch('default', :batch, 0, 0, 5, 'UTC', 0, :now)",
            batch=json.dumps([item]),
            now=self.scene.clock(),
        )
        ref = SessionRef("default", "maya", session)
        self.scene.queue.offer(ref, "normal")
        assert replace(self.scene.flusher, extractor=RulesExtractor()).flush(ref).outcome != "failed"

    def change(self, statement: str) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement))

    def know(self, **options: Any) -> Context:
        with psycopg.connect(self.url.replace("+psycopg", ""), autocommit=True) as connection:
            return context(connection, "default", "maya", now=self.scene.clock(), **options)

    def instructions(self, **options: Any) -> list[str]:
        return [one.text for one in self.know(**options).instructions]

    def profile(self, **options: Any) -> dict[str, str]:
        return {trait.attribute: trait.content for trait in self.know(**options).profile}


@pytest.fixture
def house(database_url: str, redis_client: Redis, engine: Engine) -> Iterator[House]:
    scene = make_scene(engine, redis_client)
    return House(scene, engine, database_url)


def test_current_instructions_of_five_languages_stand_in_the_default_context(house: House) -> None:
    for place, (code, planted) in enumerate(INSTRUCTIONS.items()):
        for begin in range(0, len(planted), 4):
            said = [one for one, _ in planted[begin : begin + 4]]
            house.talk(f"{code}{begin}", *said, days=-60 + place + begin, answer=ANSWERS[code])
    for place, (code, planted) in enumerate(INSTRUCTIONS.items()):
        later = [end for _, end in planted if end is not None]
        house.talk(f"{code}-later", *later, days=-10 + place, answer=ANSWERS[code])
    with house.engine.begin() as connection:
        connection.execute(text(FILLER), {"many": MANY, "now": house.scene.clock()})
    for form in ("messages", "markdown"):
        found = house.know(max_tokens=MAX_TOKENS, format=form)
        told = found.to_text().casefold()
        assert found.tokens is not None
        assert found.tokens <= MAX_TOKENS
        missing = [said for said, end in _all() if end is None and _key(said) not in told]
        stale = [said for said, end in _all() if end is not None and f"- {_key(said)}\n" in told]
        assert (missing, stale, found.instructions_left_out) == ([], [], 0)


def test_lifted_instruction_is_gone_right_after_the_flush(house: House) -> None:
    house.talk("s1", "Never use emojis in your replies.", "Always answer in bullet points.", days=-3)
    assert house.instructions() == ["always answer in bullet points", "never use emojis in your replies"]
    house.talk("s2", "You can use emojis again.")
    assert house.instructions() == ["always answer in bullet points"]
    assert house.instructions(query="emojis") == ["always answer in bullet points"]


def test_agents_own_notes_and_review_are_no_instructions(house: House) -> None:
    house.talk("s1", "Never use emojis in your replies.")
    house.change("UPDATE slowwave.memories SET trust = 'assistant'")
    assert house.instructions() == []
    house.change("UPDATE slowwave.memories SET trust = 'user', status = 'review'")
    assert house.instructions() == []


def test_hundreds_of_instructions_are_counted(house: House) -> None:
    house.talk("s1", "Never use emojis in your replies.")
    house.change(
        "INSERT INTO slowwave.memories (scope_id, type, content, content_hash, status, confidence, importance, trust,"
        " valid_from, reaffirmed_at, recorded_at, search) SELECT scope_id, 'instruction',"
        " 'The user instructs: never touch file ' || i || '.', sha256(CAST(CAST(i AS text) AS bytea)), 'inbox', 0.8,"
        " 0.8, 'user', valid_from, reaffirmed_at, recorded_at, '' FROM slowwave.memories, generate_series(1, 399) AS i"
        " WHERE type = 'instruction'"
    )
    found = house.know()
    assert len(found.instructions) + found.instructions_left_out == 400


def test_profile_follows_what_the_person_says_of_themselves(house: House) -> None:
    house.talk("s1", "My name is Maya Chen and I live in Porto.", "I'm a software engineer at Spotify.", days=-30)
    house.talk("s1", "My sister lives in Oslo.", "I speak German and Portuguese.", "I'm vegan.", days=-20)
    assert house.profile() == {
        "name": "Maya Chen",
        "home": "Porto",
        "role": "software engineer",
        "employer": "Spotify",
        "languages": "German and Portuguese",
        "diet": "vegan",
    }
    house.talk("s2", "I moved to Bergen in March.", "I'm no longer vegan.", days=-1)
    assert house.profile()["home"] == "Bergen"
    assert "diet" not in house.profile()


def test_profile_of_other_languages(house: House) -> None:
    house.talk("s1", "Ich heiße Maya Keller.", "Ich wohne in Bergen.", "Ich bin Veganerin.", days=-30, answer="Gut.")
    house.talk("s2", "J'habite maintenant à Lyon.", "Je travaille chez Airbus.", days=-10, answer="D'accord.")
    assert house.profile() == {"name": "Maya Keller", "home": "Lyon", "employer": "Airbus", "diet": "Veganerin"}


def test_profile_is_of_the_person_who_speaks_in_the_session(house: House) -> None:
    house.talk("s1", "I live in Porto.", name="Maya")
    house.talk("s2", "I live in Oslo.", name="Tom")
    assert house.profile(session="s1") == {"home": "Porto"}
    assert house.profile(session="s2") == {"home": "Oslo"}
    assert house.profile() == {}


def _all() -> list[tuple[str, str | None]]:
    return [one for planted in INSTRUCTIONS.values() for one in planted]


def _key(said: str) -> str:
    """The words of an instruction as every form of it has them."""
    return said.casefold().rstrip(" .。").removeprefix("please ").removeprefix("pls ")
