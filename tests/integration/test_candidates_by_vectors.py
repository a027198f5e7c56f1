"""Memories without a common word are candidates of each other, if their vectors are near."""

import pytest
from sqlalchemy import Engine

from slowwave_server.domain.similarity import Thresholds
from slowwave_server.services.consolidation.neighbours import NEAREST, load
from slowwave_server.services.consolidation.world import World
from slowwave_server.services.embeddings.spaces import require_extension
from tests.support.consolidating import Hearer

pytestmark = pytest.mark.servers


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    require_extension(engine)
    hearer = Hearer(engine)
    hearer.sql("INSERT INTO slowwave.vector_spaces (model, dimension, state) VALUES ('test', 2, 'serving')")
    return hearer


def give_vector(hearer: Hearer, memory: object, vector: list[float]) -> None:
    hearer.sql(
        "INSERT INTO slowwave.memory_vectors (memory_id, space_id, scope_id, content_hash, said_on, embedding)"
        " SELECT m.id, s.id, m.scope_id, m.content_hash, m.valid_from, :vector"
        " FROM slowwave.memories m, slowwave.vector_spaces s WHERE m.id = :memory",
        memory=memory,
        vector=vector,
    )


def neighbours_of(hearer: Hearer, memory: object) -> list[object]:
    with hearer.engine.connect() as connection:
        world = World(connection, hearer.scope_id, Thresholds())
        found = load(connection, hearer.scope_id, [memory])  # type: ignore[list-item]
        world.look(list(found.values()))
    return list(world.near[memory])  # type: ignore[index]


def test_near_vectors_make_candidates_in_one_scope(hearer: Hearer) -> None:
    violin = hearer.hear("Maya plays the violin")
    fiddle = hearer.hear("Weekly fiddle lessons continue", days_ago=20)
    assert neighbours_of(hearer, violin) == []
    other = Hearer(hearer.engine, agent="jonas")
    strange = other.hear("Jonas took up a string instrument")
    for memory in (violin, fiddle, strange):
        give_vector(hearer, memory, [1.0, 0.0])
    assert neighbours_of(hearer, violin) == [fiddle]


def test_a_memory_has_a_bounded_number_of_near_vectors(hearer: Hearer) -> None:
    violin = hearer.hear("Maya plays the violin")
    give_vector(hearer, violin, [1.0, 0.0])
    for number in range(NEAREST + 3):
        give_vector(hearer, hearer.hear(f"{'abcdefghijkl'[number] * 7} matters"), [0.9, 0.1])
    assert len(neighbours_of(hearer, violin)) == NEAREST
