"""Vectors for the scope of bench/search_speed.py: topics with noise, copied in Postgres' binary form, then the index.

A million vectors by an embedding model would take hours. Search costs the same for any vectors of this dimension that
have near neighbors: each vector is one of 2,000 topics with noise, so that its cosine with others of its topic is
about 0.5.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import TupleRow
from sqlalchemy import Engine

from slowwave.recall import QuestionVector
from slowwave_server.services.embeddings.spaces import analyze, require_extension

MODEL = "bench"
DIMENSION = 384
TOPICS = 2000
AT_ONCE = 10_000
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
_FLOAT4 = 700
_ROW = np.dtype(
    [
        *(("fields", ">i2"), ("size1", ">i4"), ("session", ">i8"), ("size2", ">i4"), ("seq", ">i8")),
        *(("size3", ">i4"), ("part", ">i4"), ("size4", ">i4"), ("space", ">i8"), ("size5", ">i4"), ("scope", ">i8")),
        *(("size6", ">i4"), ("axes", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("length", ">i4"), ("first", ">i4")),
        ("items", [("size", ">i4"), ("value", ">f4")], (DIMENSION,)),
    ]
)
"""One row of passage_vectors in the binary form of COPY: the size of each field before its value."""
_COLUMNS = "session_id, seq, part, space_id, scope_id, embedding"
_SPACE = (
    "INSERT INTO slowwave.vector_spaces (model, dimension, state) VALUES (%s, %s, 'serving') RETURNING id",
    (MODEL, DIMENSION),
)
_OF_MEMORIES = """
    INSERT INTO slowwave.memory_vectors (memory_id, space_id, scope_id, content_hash, said_on, embedding)
    SELECT m.id, v.space_id, m.scope_id, m.content_hash, m.valid_from::date, v.embedding
    FROM slowwave.memory_sources x JOIN slowwave.memories m ON m.id = x.memory_id
    JOIN slowwave.passage_vectors v ON v.session_id = x.session_id AND v.seq = x.seq"""


def fill_vectors(connection: psycopg.Connection[TupleRow], engine: Engine, passages: int, per_session: int) -> None:
    """Give each passage and each memory of scope 1 a vector in a space that serves, and build the index."""
    require_extension(engine)
    ((space,),) = connection.execute(*_SPACE).fetchall()
    chance = np.random.default_rng(passages)
    topics = _directions(chance.standard_normal((TOPICS, DIMENSION), dtype=np.float32))
    with connection.cursor().copy(f"COPY slowwave.passage_vectors ({_COLUMNS}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_HEADER)
        for begin in range(0, passages, AT_ONCE):
            places = np.arange(begin, min(begin + AT_ONCE, passages))
            copy.write(_rows(chance, topics, places, per_session, space).tobytes())
        copy.write(_TRAILER)
    connection.execute(_OF_MEMORIES)
    connection.execute("SET maintenance_work_mem = '3GB'")
    connection.execute("SELECT slowwave.create_vector_index(%s, %s)", (space, DIMENSION))
    connection.execute("RESET maintenance_work_mem")
    analyze(engine)


def vectors_near(
    connection: psycopg.Connection[TupleRow], places: Sequence[int], per_session: int
) -> list[QuestionVector]:
    """Return a query's vector for each event: that of the event with noise."""
    chance, found = np.random.default_rng(1), []
    for place in places:
        ((embedding,),) = connection.execute(
            "SELECT embedding FROM slowwave.passage_vectors WHERE session_id = %s AND seq = %s",
            (place // per_session + 1, place % per_session + 1),
        ).fetchall()
        noise = chance.standard_normal((1, DIMENSION)) / DIMENSION**0.5
        found.append(QuestionVector(MODEL, _directions(np.array([embedding]) + noise)[0].tolist()))
    return found


def _rows(chance: np.random.Generator, topics: Any, places: Any, per_session: int, space: int) -> Any:
    noise = chance.standard_normal((len(places), DIMENSION), dtype=np.float32) / DIMENSION**0.5
    rows = np.zeros(len(places), _ROW)
    for name in ("size1", "size2", "size4", "size5"):
        rows[name] = 8
    rows["fields"], rows["size3"], rows["size6"] = 6, 4, 20 + 8 * DIMENSION
    rows["session"], rows["seq"] = places // per_session + 1, places % per_session + 1
    rows["space"], rows["scope"] = space, 1
    rows["axes"], rows["type"], rows["length"], rows["first"] = 1, _FLOAT4, DIMENSION, 1
    rows["items"]["size"] = 4
    rows["items"]["value"] = _directions(topics[chance.integers(TOPICS, size=len(places))] + noise)
    return rows


def _directions(vectors: Any) -> Any:
    """Return the vectors with length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
