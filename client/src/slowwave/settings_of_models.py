"""Settings of the optional parts: a model, embeddings, mem0, Agno, retention, the console.

Must not know: the readers of these settings.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^@\s]*@")


class Section(BaseModel):
    """A part of the tree: an unknown key is an error, and nothing changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Hide passwords in URLs, because settings appear in logs and error reports."""
        for name, value in super().__repr_args__():
            yield name, _PASSWORD.sub(r"\1***@", value) if isinstance(value, str) else value


class Llm(Section):
    """A model, what it may do, and what it may cost. Off by default; everything works without. Budgets of 0: no bound.

    driver openai: any endpoint that speaks OpenAI's chat API, at `base_url`; command: a program that reads the prompt
    on its stdin. Token budgets hold for the tenant, and those of an agent for each agent apart.
    """

    driver: Literal["none", "openai", "command"] = "none"
    model: str = ""
    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr = SecretStr("")
    command: str = ""
    timeout_seconds: float = Field(25, gt=0, le=3600)
    max_output_tokens: int = Field(1500, ge=16, le=100_000)
    max_concurrency: int = Field(4, ge=1, le=1000)
    breaker_failures: int = Field(5, ge=1, le=1000)
    breaker_seconds: float = Field(60, ge=1, le=86_400)
    extract: bool = True
    synthesize: bool = True
    adjudicate: bool = True
    triples: bool = False
    max_calls_per_run: int = Field(20, ge=0, le=100_000)
    daily_token_budget: int = Field(500_000, ge=0)
    weekly_token_budget: int = Field(2_000_000, ge=0)
    agent_daily_token_budget: int = Field(0, ge=0)
    agent_weekly_token_budget: int = Field(0, ge=0)


class Embeddings(Section):
    """Vectors of memories and events, made by workers. Off by default; search without them is full text.

    local: a small model that runs here (the extra `embeddings`); openai: any endpoint that speaks OpenAI's API.
    """

    driver: Literal["none", "local", "openai"] = "none"
    model: str = ""
    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr = SecretStr("")
    batch_size: int = Field(64, ge=1, le=2048)
    index_seconds: float = Field(15, ge=1, le=86_400)


class Mem0(Section):
    """How the package `mem0ai` is set up: a YAML or JSON file of its own settings; empty: vectors in Postgres."""

    config: str = ""


class Agno(Section):
    """Where Agno keeps its sessions, if events come from there: sqlite:///…, or postgresql://…."""

    db_url: str = ""
    session_table: str = ""


class Tools(Section):
    """Whether calls of tools and their results are recorded, and how much of each."""

    record: bool = True
    max_characters: int = Field(2000, ge=200, le=100_000)


class Retention(Section):
    """Days after which data is removed, and after which an open task is no longer current (task_days); 0: never."""

    event_days: int = Field(0, ge=0, le=36_500)
    session_log_days: int = Field(30, ge=0, le=36_500)
    task_days: int = Field(30, ge=0, le=36_500)


class Webhooks(Section):
    """Changes that Slowwave sends to URLs. allow_private: comma-separated private networks that are allowed, as
    10.1.0.0/16; other addresses that are not public are refused. disable_after_days: days of failures after which an
    endpoint is disabled.
    """

    allow_private: str = ""
    timeout_seconds: float = Field(15, gt=0, le=60)
    disable_after_days: float = Field(5, gt=0, le=365)

    @field_validator("allow_private")
    @classmethod
    def _networks(cls, value: str) -> str:
        for network in filter(None, map(str.strip, value.split(","))):
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"must be networks between commas, as '10.1.0.0/16'; {error}") from None
        return value


class Gateway(Section):
    """Slowwave over HTTP: bounds of one request, of one key and of one tenant. Rates and quotas of 0: no bound.

    A bucket holds `burst` requests and fills at `requests_per_second`. streams_per_key: as many streams of changes may
    a key have at each process. cors_origins: of browsers that may ask, between commas; none unless set. access_log:
    whether each request is a line of the log.
    """

    max_body_bytes: int = Field(1_048_576, ge=1024, le=67_108_864)
    body_seconds: float = Field(10, gt=0, le=600)
    requests_per_second: float = Field(100, ge=0, le=1_000_000)
    burst: int = Field(200, ge=1, le=1_000_000)
    tenant_requests_per_second: float = Field(500, ge=0, le=1_000_000)
    tenant_burst: int = Field(1000, ge=1, le=1_000_000)
    tenant_events_per_day: int = Field(0, ge=0)
    streams_per_key: int = Field(1000, ge=1, le=1_000_000)
    cors_origins: str = ""
    access_log: bool = False
    webhooks: Webhooks = Webhooks()


class Console(Section):
    """Pages for people. session_hours: how long a login lasts; flower_url: where people reach Flower, or nothing."""

    session_hours: float = Field(12, gt=0, le=8760)
    flower_url: str = ""
