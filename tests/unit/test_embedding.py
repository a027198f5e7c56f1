"""Vectors of texts: the model in this process, endpoints that misbehave, and what is loaded when."""

import logging
import math
import subprocess
import sys
import threading
import time

import pytest
from pydantic import SecretStr

from proof.fake_model import FakeModel
from proof.fake_replies import Reply, cut_connection, rate_limited, refused, server_error
from slowwave.embedding import Embedders, EmbeddingFailed, LazyEmbedder, build_embedder
from slowwave.embedding.endpoint import EndpointEmbedder
from slowwave.errors import InvalidSettings
from slowwave.settings import Embeddings
from tests.support.embedding import Meanings


@pytest.fixture(scope="module")
def local() -> LazyEmbedder:
    pytest.importorskip("onnxruntime", reason="install the extra `embeddings`")
    embedder = build_embedder(Embeddings(driver="local"))
    assert embedder is not None
    return embedder


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_what_means_the_same_in_other_words_is_near(local: LazyEmbedder) -> None:
    question, near, far = local.embed(
        ["Which pet does Priya have?", "Priya adopted a puppy.", "The invoice is due on Monday."]
    )
    assert len(question) == 384
    assert math.isclose(cosine(near, near), 1, abs_tol=1e-4)
    assert cosine(question, near) > 0.45
    assert cosine(question, far) < 0.2


def test_a_text_keeps_its_place_and_about_its_vector_in_any_batch(local: LazyEmbedder) -> None:
    texts = ["tea " * n + f"for {n}" for n in (1, 40, 300)] * 2
    together = local.embed(texts)
    assert all(cosine(vector, local.embed([text])[0]) > 0.98 for vector, text in zip(together, texts[:3], strict=False))
    assert [cosine(a, b) > 0.97 for a, b in zip(together[:3], together[3:], strict=True)] == [True] * 3


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "🧵" * 50, "x" * 100_000])
def test_no_text_is_too_odd_for_the_local_model(local: LazyEmbedder, text: str) -> None:
    (vector,) = local.embed([text])
    assert all(math.isfinite(x) for x in vector)
    assert len(vector) == 384


def test_threads_share_one_model() -> None:
    made: list[Meanings] = []

    def make() -> Meanings:
        made.append(Meanings())
        return made[-1]

    lazy = LazyEmbedder("test meanings", make)
    assert lazy.embed([]) == []
    assert made == []
    threads = [threading.Thread(target=lazy.embed, args=(["a dog"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(made[0].texts) == 8


def test_nothing_is_loaded_before_the_first_text_and_what_is_missing_then_is_a_sentence() -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from slowwave.embedding import EmbedderMissing, build_embedder; from slowwave.settings import Embeddings\n"
        "embedder = build_embedder(Embeddings(driver='local'))\n"
        "print(embedder.name, {'numpy', 'tokenizers', 'openai'} & set(sys.modules))\n"
        "try: embedder.embed(['tea'])\n"
        "except EmbedderMissing as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    name, missing = done.stdout.splitlines()
    assert name == "local all-MiniLM-L6-v2 set()"
    assert missing.endswith(
        "needs the package onnxruntime: install the extra `embeddings` of slowwave (docs/install.md)"
    )


def test_settings_that_name_no_model_are_refused() -> None:
    assert build_embedder(Embeddings()) is None
    with pytest.raises(InvalidSettings, match="needs the name of a model"):
        build_embedder(Embeddings(driver="openai"))
    with pytest.raises(InvalidSettings, match="knows all-MiniLM-L6-v2 alone"):
        build_embedder(Embeddings(driver="local", model="other"))


def test_a_model_that_still_serves_is_reached_through_the_settings_of_the_next() -> None:
    models = Embedders(Embeddings(driver="openai", model="new", api_key=SecretStr("k")))
    assert [getattr(models.named(name), "name", None) for name in ("openai new", "openai old", "local other")] == [
        "openai new",
        "openai old",
        None,
    ]
    assert getattr(models.named("local all-MiniLM-L6-v2"), "name", None) == "local all-MiniLM-L6-v2"
    off = Embedders(Embeddings())
    assert (off.own, off.named("local all-MiniLM-L6-v2")) == (None, None)


def endpoint(fake: FakeModel, *, batch: int = 64) -> EndpointEmbedder:
    return EndpointEmbedder(
        model="small", base_url=fake.base_url, api_key="s3cret", batch_size=batch, timeout_seconds=5
    )


def test_an_endpoint_gets_batches_and_its_vectors_get_length_one() -> None:
    with FakeModel() as fake:
        texts = [f"line {n}" for n in range(5)]
        vectors = endpoint(fake, batch=2).embed(texts)
        assert fake.calls == 3
        again = endpoint(fake).embed(list(reversed(texts)))
    assert all(math.isclose(cosine(vector, vector), 1, abs_tol=1e-6) for vector in vectors)
    assert [cosine(a, b) > 0.999 for a, b in zip(vectors, reversed(again), strict=True)] == [True] * 5


@pytest.mark.parametrize(
    ("reply", "transient", "by_text"),
    [
        (rate_limited(1), True, False),
        (server_error(503), True, False),
        (cut_connection(), True, False),
        (refused(400), False, True),
        (refused(401), False, False),
    ],
)
def test_mistake_17_one_call_one_try_and_whether_later_helps(reply: object, transient: bool, by_text: bool) -> None:
    with FakeModel(answer=reply) as fake, pytest.raises(EmbeddingFailed) as caught:
        endpoint(fake).embed(["my secret plan"])
    assert (caught.value.transient, caught.value.by_text) == (transient, by_text)
    assert fake.calls == 1
    assert "secret plan" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_mistake_17_an_endpoint_that_sends_blanks_for_ever_is_left_in_time() -> None:
    began = time.monotonic()
    with FakeModel(answer=Reply(drip=0.02)) as fake, pytest.raises(EmbeddingFailed, match=r"after 0.2 s") as caught:
        EndpointEmbedder(model="small", base_url=fake.base_url, api_key="k", timeout_seconds=0.2).embed(["tea"])
    assert caught.value.transient
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "body",
    [
        b"<html>welcome</html>",
        b"[" * 5000,
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": 0, "embedding": [1e999, 1]}]},
        {"data": [{"index": 0, "embedding": ["a"]}]},
        {"data": [{"index": 0, "embedding": [0, 0]}]},
        {"data": []},
        {"data": "my secret plan"},
        {"error": "my secret plan"},
    ],
)
def test_what_is_no_vector_is_a_failure_and_never_quoted(body: object, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.NOTSET)
    with FakeModel(answer=Reply(body=body)) as fake, pytest.raises(EmbeddingFailed) as caught:
        endpoint(fake).embed(["my secret plan"])
    assert not caught.value.transient
    assert "secret plan" not in str(caught.value) + caplog.text
    # Tools that report errors show the context of one, too: a request, with its key.
    assert caught.value.__context__ is None
