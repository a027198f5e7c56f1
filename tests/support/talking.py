"""What tests of flushes by a model share: a scene whose extractor asks a fake endpoint."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from redis import Redis

from proof.fake_model import FakeModel
from slowwave.identity import SessionRef
from slowwave.settings import Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.flush.flusher import Flusher, FlushResult
from tests.support.flushing import Scene


class Talk:
    """A scene whose extractor asks a fake endpoint."""

    def __init__(self, scene: Scene, redis: Redis, url: str) -> None:
        self.scene = scene
        self._redis = redis
        self._url = url

    def extractor(self, fake: FakeModel, longest: float = 30, **llm: Any) -> Extractor:
        model = {"driver": "openai", "model": "fake-1", "base_url": fake.base_url, "timeout_seconds": 5} | llm
        flushing = {"extractor": {"max_extraction_seconds": longest}}
        settings = Settings.model_validate(
            {"database_url": self._url, "memory": {"llm": model, "auto_flush": flushing}}
        )
        return build_extractor(settings, self.scene.engine, self._redis, self.scene.clock)

    def flush(self, extractor: Extractor, session: str = "s1", agent: str = "maya") -> FlushResult:
        """Flush one window; a fresh offer each time."""
        flusher: Flusher = replace(self.scene.flusher, extractor=extractor)
        ref = SessionRef("default", agent, session)
        self.scene.queue.offer(ref, "normal")
        return flusher.flush(ref)

    def ledger(self) -> list[Mapping[str, Any]]:
        rows = self.scene.sql(
            "SELECT extractor, extractor_version, tokens, fallback, fallback_why, dropped, outcome, attempt"
            " FROM slowwave.flushes ORDER BY id"
        )
        return [row._mapping for row in rows]
