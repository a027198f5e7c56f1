"""Sections of the settings: model, embeddings, mem0, Agno, files, consolidation, retention, gateway, console."""

import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

_PASSWORD = re.compile(r"(://[^/@:\s]*:)[^@\s]*@")


class Section(BaseModel):
    """A part of the settings. An unknown key is an error, and the values are frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Hide passwords in URLs, because settings appear in logs and error reports."""
        for name, value in super().__repr_args__():
            yield name, _PASSWORD.sub(r"\1***@", value) if isinstance(value, str) else value


class Llm(Section):
    """A model, its uses, and its budgets. Off by default; everything works without a model. A budget of 0 means no
    limit.

    driver: "openai" calls any endpoint with OpenAI's chat API at `base_url`; "command" runs a program that reads the
    prompt from stdin. Token budgets apply to the tenant; those with `agent` in their names apply to each agent.
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
    """Vectors of memories and events, made by workers. Off by default; a search without vectors is a full-text search.

    driver: "local" is a small model that runs here (the extra `embeddings`); "openai" is any endpoint with OpenAI's
    API.
    """

    driver: Literal["none", "local", "openai"] = "none"
    model: str = ""
    base_url: str = "https://api.openai.com/v1"
    api_key: SecretStr = SecretStr("")
    batch_size: int = Field(64, ge=1, le=2048)
    index_seconds: float = Field(15, ge=1, le=86_400)


class Mem0(Section):
    """The configuration of the package `mem0ai`: a YAML or JSON file in its own format; if empty, vectors are in
    Postgres.
    """

    config: str = ""


class Agno(Section):
    """The database in which Agno keeps its sessions, if events come from Agno: sqlite:///…, or postgresql://…."""

    db_url: str = ""
    session_table: str = ""


class Tools(Section):
    """Recording of tool calls and their results, and their maximum length."""

    record: bool = True
    max_characters: int = Field(2000, ge=200, le=100_000)


class Retention(Section):
    """Days after which data is removed; task_days: days after which an open task is no longer current. 0: never."""

    event_days: int = Field(0, ge=0, le=36_500)
    task_days: int = Field(30, ge=0, le=36_500)


class Webhooks(Section):
    """Changes that Slowwave sends to URLs. allow_private: comma-separated private networks that are allowed, such as
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
    """Slowwave over HTTP: limits of one request, one key and one tenant. A rate or quota of 0 means no limit.

    A bucket holds `burst` requests and refills at `requests_per_second`. streams_per_key: the highest number of streams
    of changes that a key may have at each process. cors_origins: comma-separated origins of browsers; none by default.
    access_log: True if each request is logged.
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
    """The console, which has web pages for people. session_hours: the lifetime of a login; flower_url: the URL of
    Flower, or "".
    """

    session_hours: float = Field(12, gt=0, le=8760)
    flower_url: str = ""


class Files(Section):
    """Folders of memory files, and how often Slowwave checks the files for hand edits."""

    root: Path = Path("~/.local/state/slowwave/memory")
    sync_seconds: float = Field(30, ge=1, le=86_400)


class Sessions(Section):
    """Limits of sessions that never end. 0: no limit."""

    session_ttl_minutes: int = Field(1440, ge=0, le=5_256_000)
    max_active_sessions: int = Field(0, ge=0, le=1_000_000)


class Curation(Section):
    """Curation moves notes of days into `MEMORY.md`, a few lines in each pass. append_only: True to keep them also in
    their day's file.
    """

    enabled: bool = False
    max_lines_per_pass: int = Field(20, ge=1, le=1000)
    max_passes_per_day: int = Field(1, ge=1, le=1000)
    append_only: bool = True


class Consolidation(Section):
    """Consolidation of memories. Thresholds are similarities or confidences from 0 to 1.

    judge: True if passes use slowwave-judge's model of pairs, if it is installed. learn_from_use: True if memories that
    replies use gain importance, and memories that contexts show but replies do not use lose some. replay_questions: the
    highest number of questions that a pass replays to prove that search still finds the evidence; 0 replays none.
    max_evidence_lost: the share of the evidence of these questions that the changes of one transaction may lose; a
    larger loss is rolled back.
    """

    enabled: bool = True
    judge: bool = True
    interval_seconds: float = Field(300, ge=1, le=86_400)
    min_importance: float = Field(0.4, ge=0, le=1)
    batch_size: int = Field(50, ge=1, le=10_000)
    working_ttl_seconds: float = Field(604_800, ge=1, le=31_536_000)
    duplicate_threshold: float = Field(0.85, ge=0, le=1)
    link_threshold: float = Field(0.7, ge=0, le=1)
    extract_triples: bool = True
    min_age_days: float = Field(0, ge=0, le=3660)
    merge_threshold: float = Field(0.9, ge=0, le=1)
    synthesize_threshold: float = Field(0.75, ge=0, le=1)
    promote_confidence: float = Field(0.7, ge=0, le=1)
    promote_importance: float = Field(0.5, ge=0, le=1)
    max_memories_per_run: int = Field(5000, ge=1, le=1_000_000)
    max_archived_share: float = Field(0.3, gt=0, le=1)
    learn_from_use: bool = True
    replay_questions: int = Field(1000, ge=0, le=100_000)
    max_evidence_lost: float = Field(0.1, ge=0, le=1)
