"""A secret that somebody said is shown by no view: not as a memory, not in evidence, not in a day's segments."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from redis import Redis
from sqlalchemy import text

from slowwave.identity import SessionRef
from slowwave.settings import AutoFlush
from slowwave_server.domain.bare_secrets import tells_only_a_secret
from slowwave_server.domain.events import Event
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.domain.redaction import load_forms, redact
from slowwave_server.domain.summaries.segment import summarize_segment
from slowwave_server.models.engine import make_engine
from slowwave_server.services.memories.masking import RevealRefused, check_reveal, masked_values
from slowwave_server.services.reports.dead_letters import list_dead_letters
from slowwave_server.services.reports.explain import explain_memory
from slowwave_server.services.reports.quarantine import list_quarantined
from slowwave_server.services.review.conflict_sides import read_sides
from slowwave_server.workers.cli.main import app as shell_app
from tests.support.flushing import Scene, make_scene
from tests.support.recalling import search
from tests.support.roles import deployed
from tests.support.shelling import CliRunner

AT = datetime(2025, 3, 3, 12, tzinfo=UTC)
SECRET = "Tulip77" + "secret"
SAID = (
    f"I want a flight to Oslo and my password is {SECRET}.",
    f"Ich will einen Flug nach Oslo, und mein Passwort lautet {SECRET}.",
    f"Je veux un vol pour Oslo et mon mot de passe est {SECRET}.",
    f"Quiero un vuelo a Oslo y mi contraseña es {SECRET}.",
    f"Quero um voo para Oslo e minha senha é {SECRET}.",
    f"Voglio un volo per Oslo e la mia password è {SECRET}.",
    f"Я хочу билет в Осло, мой пароль — {SECRET}.",
    f"我想订去奥斯陆的机票。我的密码是{SECRET}。",
)


@pytest.fixture
def scene(database_url: str, redis_client: Redis) -> Iterator[Scene]:
    scene = make_scene(make_engine(database_url), redis_client, AutoFlush())
    yield scene
    scene.engine.dispose()


def _flush(scene: Scene, session: str) -> None:
    scene.queue.offer(SessionRef("default", "maya", session), "normal")
    flusher = replace(scene.flusher, extractor=RulesExtractor())
    assert flusher.flush(SessionRef("default", "maya", session)).outcome in {"stored", "no_reply"}


@pytest.mark.servers
def test_a_statement_that_is_only_a_secret_is_not_kept(scene: Scene) -> None:
    scene.say("s1", f"My password is {SECRET}", "My API token is ghp_" + "a1B2" * 9 + ", please don't lose it.")
    scene.say("s1", "I live in Porto.", trigger="idle")
    _flush(scene, "s1")
    kept = [row.content for row in scene.sql("SELECT content FROM slowwave.memories")]
    assert any("Porto" in content for content in kept)
    assert not any("redacted" in content for content in kept)


@pytest.mark.servers
def test_evidence_shows_no_secret_unless_revealed(scene: Scene) -> None:
    scene.say("s1", f"I live in Porto. My password is {SECRET}.", trigger="idle")
    _flush(scene, "s1")
    memory = next(row.id for row in scene.sql("SELECT id FROM slowwave.memories"))
    with scene.engine.connect() as connection:
        shown = explain_memory(connection, "default", memory)
        sides = read_sides(connection, "default", [memory])
        revealed = explain_memory(connection, "default", memory, reveal=True)
    assert SECRET not in repr(shown) + repr(sides)
    assert "[redacted:password]" in shown.sources[0].content
    assert SECRET in revealed.sources[0].content


@pytest.mark.servers
def test_searches_show_no_secret_before_and_after_a_flush(scene: Scene) -> None:
    for number, said in enumerate(SAID):
        scene.say(f"s{number}", said, trigger="idle")
    url = scene.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    for flushed in (False, True):
        if flushed:
            for number in range(len(SAID)):
                _flush(scene, f"s{number}")
        with psycopg.connect(url) as reader:
            hits = search(reader, "default", "maya", "Oslo Flug vol vuelo voo volo", limit=50)
        assert hits
        assert SECRET not in json.dumps([hit.to_json() for hit in hits])


@pytest.mark.parametrize("said", SAID)
def test_segments_of_a_day_hold_no_password_in_any_language(said: str) -> None:
    events = (Event(1, "user", "user", said, AT, name="Maya"), Event(2, "user", "user", "I want tea.", AT, name="Maya"))
    lines = summarize_segment(events, session="s", agent="helper")
    assert lines
    assert SECRET not in json.dumps([line.to_json() for line in lines])


@pytest.mark.servers
def test_only_operators_reveal_secrets_and_each_is_logged(database_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with deployed(database_url) as deployment:
        for part, may in (("worker", True), ("acme desk", False)):
            with deployment.engine(part).connect() as connection, caplog.at_level(logging.WARNING):
                if may:
                    check_reveal(connection, "evidence of memory 1", "maya")
                else:
                    with pytest.raises(RevealRefused, match="owner"):
                        check_reveal(connection, "evidence of memory 2", "jonas")
    told = [record.getMessage() for record in caplog.records]
    assert "secrets revealed: evidence of memory 1 by maya" in told
    assert not any("memory 2" in line for line in told)


@pytest.mark.parametrize(
    ("said", "names", "bare"),
    [
        ("Maya's API token is ghp_" + "a1B2" * 9 + ", please don't lose it.", ["Maya"], True),
        ("Maya says the password is hunter2.", ["Maya"], True),
        ("Mein Passwort lautet tulpe77", [], True),
        ("我的密码是tulip77。", [], True),
        ("Maya's password for the office router is hunter2.", ["Maya"], False),
        ("Maya lives in Porto, and her password is hunter2.", ["Maya"], False),
        ("Maya lives in Porto.", ["Maya"], False),
        ("", [], False),
    ],
)
def test_a_bare_secret_is_told_from_a_fact(said: str, names: list[str], *, bare: bool) -> None:
    assert tells_only_a_secret(redact(said).text, names) is bare


def test_payloads_are_masked_in_all_their_texts() -> None:
    payload = {"events": [{"content": f"my password is {SECRET}", "seq": 1}], "agent": "maya"}
    assert SECRET not in json.dumps(masked_values(payload))
    assert masked_values(payload)["agent"] == "maya"


def test_times_need_no_patterns_of_tokens() -> None:
    load_forms.cache_clear()
    times = [f"2026-03-05T21:38:59{part}+00:00" for part in ("", ".487502", ".4875", ".5")]
    assert masked_values(times) == times
    assert load_forms.cache_info().currsize == 0


@pytest.mark.servers
def test_explain_masks_evidence_until_an_operator_reveals_it(scene: Scene) -> None:
    scene.say("s1", f"I live in Porto. My password is {SECRET}.", trigger="idle")
    _flush(scene, "s1")
    memory = scene.sql("SELECT id FROM slowwave.memories")[0].id
    url = scene.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    settings = {"SLOWWAVE_DATABASE_URL": url}
    shown = CliRunner().invoke(shell_app, ["memory", "show", str(memory)], env=settings)
    assert shown.exit_code == 0
    assert SECRET not in shown.output
    assert "[redacted:password]" in shown.output
    revealed = CliRunner().invoke(shell_app, ["memory", "show", str(memory), "--reveal", "--json"], env=settings)
    assert revealed.exit_code == 0
    assert SECRET in revealed.output


@pytest.mark.servers
def test_dead_letters_and_quarantine_show_no_secret(scene: Scene) -> None:
    scene.say("s1", f"My password is {SECRET}.", trigger="idle")
    payload = json.dumps({"content": f"mein Passwort lautet {SECRET}"})
    with scene.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO slowwave.dead_letters (tenant, task, error, payload) VALUES ('default', 'x', :error,"
                " CAST(:payload AS jsonb))"
            ),
            {"error": f"password={SECRET}", "payload": payload},
        )
        connection.execute(text("UPDATE slowwave.events SET quarantined_at = now()"))
        letters = list_dead_letters(connection, "default")
        events = list_quarantined(connection, "default")
    assert SECRET not in repr(letters) + repr(events)
    assert letters
