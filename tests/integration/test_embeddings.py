"""Vectors of memories and events: made in batches, kept current, gone with what they are of, never across scopes."""

from calendar import month_name
from collections.abc import Iterator, Sequence
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Engine, event

from slowwave.embedding import EmbeddingFailed
from slowwave.recall import Hit, Questions
from slowwave_server.models.engine import make_engine
from slowwave_server.services.embeddings.indexing import Indexing, IndexReport, index
from slowwave_server.services.embeddings.spaces import VectorsUnavailable, require_extension, retire_all
from slowwave_server.services.reports.embeddings import read_embeddings
from tests.support.embedding import Meanings, Models
from tests.support.recalling import NOW, Shelf, context, search

pytestmark = pytest.mark.servers


@pytest.fixture
def workers(database_url: str) -> Iterator[Engine]:
    """An engine as workers have it: each statement by itself, unless it is told otherwise."""
    engine = make_engine(database_url, autocommit=True)
    yield engine
    engine.dispose()


MONTHS = tuple(month_name)[1:]


def make(engine: Engine, models: Models, *, batches: int = 1000) -> IndexReport:
    left = iter(range(batches))
    return index(Indexing(engine, models, 3, lambda: next(left, None) is not None))


def ask(shelf: Shelf, models: Models, question: str, *, agent: str = "maya", limit: int = 10) -> list[Hit]:
    vector = Questions(models).vector(lambda work: work(shelf.connection), question)
    return search(shelf.connection, "default", agent, question, limit=limit, vector=vector)


def contents(hits: list[Hit]) -> list[str]:
    return [hit.content for hit in hits]


def count(shelf: Shelf, table: str) -> int:
    return int(shelf.sql(f"SELECT count(*) AS n FROM slowwave.{table}")[0]["n"])


def test_what_means_the_same_is_found_without_a_common_word(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    shelf.say("monday", "My puppy sleeps all day", "Bread is cheap in May")
    shelf.keep("Jonas relocated to Oslo")
    question = "who has a dog"
    assert ask(shelf, models, question) == []
    assert make(workers, models) == IndexReport("done", memories=1, events=2)
    assert contents(ask(shelf, models, question))[0] == "My puppy sleeps all day"
    assert contents(ask(shelf, models, "where does Jonas live? lives"))[0] == "Jonas relocated to Oslo"
    vector = Questions(models).vector(lambda work: work(shelf.connection), "Jonas moved")
    found = context(shelf.connection, "default", "maya", query="Jonas moved", now=NOW, vector=vector)
    assert contents(list(found.memories)) == ["Jonas relocated to Oslo"]


def test_words_still_count_and_what_has_no_vector_yet_is_found_by_them(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    shelf.say("monday", "The hound barks", "Invoice 4711 is paid")
    make(workers, models)
    shelf.say("monday", "Invoice 4712 is open", flushed=False)
    shelf.keep("Invoice 4713 is lost")
    assert set(contents(ask(shelf, models, "invoice 4712"))[:1]) == {"Invoice 4712 is open"}
    assert "Invoice 4713 is lost" in contents(ask(shelf, models, "invoice"))


def test_an_answer_gains_from_the_vector_of_its_question(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    shelf.say("bakery", "Bread is cheap in May", "Good.", "There are two of them")
    shelf.say("pets", "Does Jonas have a puppy?", "Good.", "There are two of them")
    make(workers, models)
    hits = {hit.id: hit for hit in ask(shelf, models, "who has two and a dog")}
    near, far = hits["pets#3"].why, hits["bakery#3"].why
    assert near is not None
    assert far is not None
    assert (near.cosine, near.words) == (far.cosine, far.words)
    assert near.vector > far.vector


def test_a_question_without_a_word_to_search_for_is_answered_by_its_vector(shelf: Shelf, workers: Engine) -> None:
    class Same(Meanings):
        def _vector(self, text: str) -> list[float]:
            return [1.0, *[0.0] * 15]

    models = Models(Same())
    shelf.keep("Priya drinks tea")
    make(workers, models)
    assert contents(ask(shelf, models, "what is it?")) == ["Priya drinks tea"]
    assert search(shelf.connection, "default", "maya", "what is it?") == []


def test_mistake_39_i8_nearness_does_not_reach_into_another_scope(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    for tenant, agent, scope in (("default", "jonas", None), ("default", "maya", "room:den"), ("other", "maya", None)):
        shelf.say(f"s-{agent}-{tenant}", "A puppy for everyone", agent=agent, scope=scope, tenant=tenant)
        shelf.keep("The dog is a hound", agent=agent, scope=scope, tenant=tenant)
    shelf.keep("Bread is cheap")
    make(workers, models)
    assert contents(ask(shelf, models, "dog")) == []
    assert len(ask(shelf, models, "dog", agent="jonas")) == 2
    assert ask(shelf, models, "dog", agent="nobody") == []


def test_i8_an_index_over_all_scopes_answers_with_one_and_finds_the_nearest(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    shelf.keep("seed")
    own, other = shelf.scope("maya"), shelf.scope("jonas")
    make(workers, models)
    shelf.sql("SELECT setseed(0.4)")
    # An index is made faster of what is there than row by row.
    shelf.sql("DROP INDEX slowwave.memory_vectors_space_1_idx")
    for scope, rows in ((own, 4050), (other, 150)):
        shelf.sql(
            "WITH m AS (INSERT INTO slowwave.memories (scope_id, type, content, content_hash, confidence, importance,"
            " trust, status, valid_from, reaffirmed_at, recorded_at, search) SELECT %s, 'fact', 'made ' || n,"
            " sha256(convert_to(n::text, 'UTF8')), 0.5, 0.5, 'user', 'active', now(), now(), now(), ''"
            " FROM generate_series(1, %s) n RETURNING *)"
            " INSERT INTO slowwave.memory_vectors SELECT m.id, (SELECT id FROM slowwave.vector_spaces), m.scope_id,"
            " m.content_hash, current_date, l2_normalize((SELECT array_agg((random() - 0.5)::real)"
            " FROM generate_series(1, 16) WHERE m.id IS NOT NULL)::vector)::real[] FROM m",
            *(scope, rows),
        )
    shelf.sql("SELECT slowwave.create_vector_index(1, 16)")
    shelf.sql("ANALYZE slowwave.memory_vectors")
    question = [1.0, *[0.0] * 15]
    numbers = "{" + ",".join(map(str, question)) + "}"
    space = shelf.sql("SELECT id FROM slowwave.vector_spaces")[0]["id"]
    nearest = (
        "SELECT n.*, m.scope_id FROM slowwave.nearest_vectors('memory', %s, 16, %s, %s, 20) n JOIN slowwave.memories m"
    )
    found = shelf.sql(f"{nearest} ON m.id = n.memory_id", space, [own], numbers)
    exact = shelf.sql(
        "SELECT -(embedding::vector <#> %s::real[]::vector) AS cosine FROM slowwave.memory_vectors"
        " WHERE scope_id = %s ORDER BY 1 DESC LIMIT 20",
        *(numbers, own),
    )
    assert {row["scope_id"] for row in found} == {own}
    assert len(found) == 20
    # Many lie equally near: how near counts, and not which.
    assert min(row["cosine"] for row in found) > exact[-1]["cosine"] - 0.02
    assert len(shelf.sql(f"{nearest} ON m.id = n.memory_id", space, [other], numbers)) == 20
    assert shelf.sql(f"{nearest} ON m.id = n.memory_id", space, [], numbers) == []


def test_new_words_get_a_new_vector_and_what_is_archived_keeps_none(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    memory = shelf.keep("Maya has a dog")
    shelf.keep("Bread is cheap")
    make(workers, models)
    assert make(workers, models) == IndexReport("done")
    shelf.sql("UPDATE slowwave.memories SET content = 'Maya has a car', content_hash = 'x' WHERE id = %s", memory)
    assert make(workers, models).memories == 1
    assert contents(ask(shelf, models, "vehicle"))[0] == "Maya has a car"
    shelf.sql("UPDATE slowwave.memories SET status = 'archived' WHERE id = %s", memory)
    assert "Maya has a car" not in contents(ask(shelf, models, "vehicle"))
    make(workers, models)
    assert count(shelf, "memory_vectors") == 1


def test_i10_vectors_go_with_what_they_were_made_of_and_do_not_come_back(shelf: Shelf, workers: Engine) -> None:
    """What is removed while its vector is being made gets none."""

    class Slow(Meanings):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if any("secret" in line for line in texts):
                shelf.sql("DELETE FROM slowwave.passages")
                shelf.sql("DELETE FROM slowwave.memories")
            return super().embed(texts)

    models = Models(Slow())
    shelf.say("monday", "A dog")
    shelf.keep("Maya has a dog")
    make(workers, models)
    assert (count(shelf, "memory_vectors"), count(shelf, "passage_vectors")) == (1, 1)
    shelf.keep("The secret dog")
    assert make(workers, models).state == "done"
    assert (count(shelf, "memory_vectors"), count(shelf, "passage_vectors")) == (0, 0)


def test_a_change_of_model_serves_the_old_vectors_until_the_new_ones_are_there(shelf: Shelf, workers: Engine) -> None:
    old, new = Meanings("test old"), Meanings("test new", dimension=12)
    shelf.say("monday", *(f"The hound barks {n} times" for n in range(10)))
    make(workers, Models(old))
    both = Models(new, old)
    shelf.say("monday", "A pilot flies")
    assert make(workers, both, batches=3).state == "more"
    states = {space["model"]: space["state"] for space in shelf.sql("SELECT model, state FROM slowwave.vector_spaces")}
    assert states == {"test old": "serving", "test new": "building"}
    assert "hound" in contents(ask(shelf, both, "dog"))[0]
    # Settings that know the new model alone: words do it.
    assert ask(shelf, Models(new), "dog") == []
    report = make(workers, both)
    assert (report.state, report.switched) == ("done", "test new")
    assert "hound" in contents(ask(shelf, Models(new), "dog"))[0]
    assert [space["model"] for space in shelf.sql("SELECT model FROM slowwave.vector_spaces")] == ["test new"]
    indexes = shelf.sql("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%%vectors_space%%'")
    assert len(indexes) == 2


def test_a_model_that_was_given_up_half_way_leaves_nothing(shelf: Shelf, workers: Engine) -> None:
    first, second = Meanings("test first"), Meanings("test second")
    shelf.say("monday", *(f"The hound barks {n} times" for n in range(10)))
    make(workers, Models(first))
    assert make(workers, Models(second, first), batches=2).state == "more"
    assert make(workers, Models(first)).state == "done"
    assert [space["model"] for space in shelf.sql("SELECT model FROM slowwave.vector_spaces")] == ["test first"]
    assert count(shelf, "passage_vectors") == 10


def test_mistake_16_a_text_that_the_model_refuses_holds_up_no_other(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings(refuses="poison"))
    shelf.say("monday", "A dog", "poison", "A car", "A brew")
    shelf.keep("poison is a memory")
    report = make(workers, models)
    # An event and the memory hold the word.
    assert (report.state, report.memories, report.events, report.refused) == ("done", 1, 4, 2)
    assert "A dog" in contents(ask(shelf, models, "hound"))
    assert contents(ask(shelf, models, "poison"))
    models.own.texts.clear()
    assert make(workers, models) == IndexReport("done")
    assert models.own.texts == []


def test_mistake_10_an_endpoint_that_is_away_consumes_nothing(shelf: Shelf, workers: Engine) -> None:
    own = Meanings()
    models = Models(own)
    shelf.say("monday", "A dog")
    make(workers, models)
    shelf.say("monday", "A car")
    own.fails = EmbeddingFailed("it is away", transient=True)
    with pytest.raises(EmbeddingFailed):
        make(workers, models)
    assert contents(ask(shelf, models, "dog"))[0] == "A dog"
    own.fails = None
    assert make(workers, models).events == 1


def test_one_indexer_at_a_time(shelf: Shelf, workers: Engine, engine: Engine) -> None:
    states: list[str] = []

    class Nosy(Meanings):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            states.append(make(engine, Models(Meanings())).state)
            return super().embed(texts)

    shelf.keep("A dog")
    assert make(workers, Models(Nosy())).state == "done"
    assert set(states) == {"busy"}
    assert make(workers, Models(None)).state == "off"


def test_a_passages_vector_has_its_speaker_and_heading_and_no_secrets(shelf: Shelf, workers: Engine) -> None:
    own = Meanings()
    shelf.say("monday", "What do you drive?", "my key is hunter2", speaker="Jonas")
    shelf.sql("UPDATE slowwave.passages SET redacted = 'my key is [secret]', ends = 18 WHERE seq = 2")
    doses = "\n".join(f"- the dose of {month} is {number} milligrams a day" for number, month in enumerate(MONTHS))
    shelf.say("tuesday", f"## Doses\n\n{doses}", speaker="Jonas")
    shelf.keep("Maya has a dog", since=NOW - timedelta(days=3))
    make(workers, Models(own))
    assert "Jonas: my key is [secret]" in own.texts
    assert [line[:13] for line in own.texts if "the dose of June" in line] == ["Jonas: Doses:"]
    assert "(7 May 2024) Maya has a dog" in own.texts
    assert not any("hunter2" in line for line in own.texts)


def test_a_report_counts_what_is_there_and_what_waits(shelf: Shelf, workers: Engine) -> None:
    models = Models(Meanings())
    shelf.say("monday", "A dog")
    make(workers, models)
    shelf.keep("Maya has a dog")
    with workers.connect() as connection:
        (space,) = read_embeddings(connection, "test meanings").spaces
    assert (space.state, space.dimension, space.memories, space.events) == ("serving", 16, 0, 1)
    assert (space.memories_waiting, space.sessions_waiting, space.refused) == (1, 0, 0)


def test_a_database_that_may_not_have_the_extension_says_what_to_do(shelf: Shelf, database_url: str) -> None:
    shelf.sql("DROP EXTENSION IF EXISTS vector")
    role = f"plain_{shelf.connection.info.dbname}"
    shelf.sql(f"CREATE ROLE {role}")
    plain = make_engine(database_url)

    @event.listens_for(plain, "connect")
    def become(driver: psycopg.Connection, _: object) -> None:
        driver.execute(f"SET ROLE {role}")
        driver.commit()

    try:
        with pytest.raises(VectorsUnavailable, match="words alone: install pgvector"):
            require_extension(plain)
    finally:
        plain.dispose()
        shelf.sql(f"DROP ROLE {role}")


def test_mistake_16_vectors_that_are_thrown_away_meanwhile_are_not_made_for_ever(shelf: Shelf, workers: Engine) -> None:
    """`slowwave backend sync vectors --again`, while a worker is at it."""

    class Thrown(Meanings):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if any("dog" in line for line in texts) and not self.texts[4:]:
                retire_all(workers)
            return super().embed(texts)

    own = Thrown()
    for n in range(4):
        shelf.keep(f"Maya has dog {n}")
    assert make(workers, Models(own), batches=50) == IndexReport("more")
    assert len(own.texts) == 4, "one to learn the dimension, and one batch"
    own.texts.append("from now on they are kept")
    assert make(workers, Models(own)).memories == 4


def test_memories_are_looked_through_once_for_many_batches(shelf: Shelf, workers: Engine) -> None:
    looked: list[str] = []

    @event.listens_for(workers, "before_cursor_execute")
    def note(*call: object) -> None:
        looked.extend(["once"] if "content_hash <> m.content_hash" in str(call[2]) else [])

    for n in range(8):
        shelf.keep(f"Maya has dog {n}")
    own = Meanings()
    assert make(workers, Models(own)).memories == 8
    assert len(looked) == 2, "once for all of them, and once to see that none is left"
