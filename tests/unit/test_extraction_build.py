"""Who reads windows is what the settings say; what is missing is said in a sentence, before anything is asked."""

from datetime import UTC, datetime
from typing import Any

import pytest
from redis import Redis

from slowwave.errors import InvalidSettings
from slowwave.settings import Settings
from slowwave_server.domain.candidates import Extractor
from slowwave_server.domain.extraction import RulesExtractor
from slowwave_server.models.engine import make_engine
from slowwave_server.services.extraction.build import build_extractor
from slowwave_server.services.extraction.judging import rules_extractor
from slowwave_server.services.extraction.model_extractor import ModelExtractor

NOWHERE = "postgresql://slowwave@127.0.0.1:1/slowwave"


def built(**llm: Any) -> Extractor:
    settings = Settings.model_validate({"database_url": NOWHERE, "memory": {"llm": llm}})
    engine = make_engine(NOWHERE)
    try:
        return build_extractor(settings, engine, Redis(port=1), lambda: datetime.now(UTC))
    finally:
        engine.dispose()


def test_without_a_model_or_where_it_may_not_read_the_rules_do() -> None:
    assert isinstance(built(), RulesExtractor)
    assert isinstance(built(driver="openai", model="small", extract=False), RulesExtractor)


def test_a_model_of_the_settings_reads_and_is_named_in_the_ledger() -> None:
    extractor = built(driver="openai", model="small")
    assert isinstance(extractor, ModelExtractor)
    assert (extractor.name, extractor.version) == (
        "model openai small",
        f"extract/2 + rules {rules_extractor(Settings()).version}",
    )


def test_a_model_that_is_not_set_up_is_said_at_once() -> None:
    with pytest.raises(InvalidSettings, match=r"memory\.llm\.model names no model"):
        built(driver="openai")
