"""Settings: `SLOWWAVE_…` variables over `slowwave.yaml` over defaults, validated and frozen.

A process builds them once at its start and passes them on; there is no global.
"""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from slowwave.errors import InvalidSettings
from slowwave.settings_sections import (
    Agno,
    Console,
    Consolidation,
    Curation,
    Embeddings,
    Files,
    Gateway,
    Llm,
    Mem0,
    Retention,
    Section,
    Sessions,
    Tools,
)
from slowwave.unknown_settings import LONGEST_NAME, suggest_name
from slowwave.validation_errors import plain_problems

__all__ = [
    "Agno",
    "AutoFlush",
    "Console",
    "Consolidation",
    "Days",
    "Embeddings",
    "Files",
    "Llm",
    "Maintenance",
    "Mem0",
    "MemorySettings",
    "Settings",
    "Tools",
    "load_settings",
]

PREFIX = "SLOWWAVE_"
FILE_VARIABLE = "SLOWWAVE_CONFIG"
DEFAULT_FILE = "slowwave.yaml"
OTHER_VARIABLES = frozenset(f"{PREFIX}{name}" for name in ("CONFIG", "URL", "KEY", "SHARED", "TEST_MODEL_URL"))


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        close = difflib.get_close_matches(name, available_timezones(), n=1)
        raise ValueError(f"{name!r} is not an IANA time zone" + (f"; did you mean {close[0]!r}?" if close else ""))
    return name


class Batch(Section):
    """Limits of one sweep: they limit its burst, never the throughput."""

    max_sessions_per_cycle: int = Field(200, ge=1, le=10_000)
    max_sessions_per_agent_per_cycle: int = Field(3, ge=1, le=10_000)


class MemoryContext(Section):
    """Limits of the context that a model gets beside its window. The context is not evidence. 0: no context of this
    kind.
    """

    daily_tail_lines: int = Field(20, ge=0, le=500)
    memory_snippets: int = Field(5, ge=0, le=100)
    snippet_max_chars: int = Field(400, ge=20, le=10_000)


class ExtractorSettings(Section):
    """Limits of one window. judge: True if the rules use slowwave-judge, if it is installed, to select memories."""

    judge: bool = True
    no_reply_token: str = Field("NO_REPLY", min_length=1, max_length=100)
    include_memory_context: MemoryContext = MemoryContext()
    max_messages_per_flush: int = Field(20, ge=1, le=1000)
    max_chars_per_flush: int = Field(12_000, ge=100, le=1_000_000)
    max_extraction_seconds: float = Field(30, gt=0, le=3600)
    max_retries: int = Field(3, ge=0, le=100)


class AutoFlush(Section):
    """When a session is flushed, and how sessions of one agent share the workers. All times are in seconds."""

    enabled: bool = True
    flush_interval_seconds: float = Field(5, gt=0, le=3600)
    idle_seconds: float = Field(120, ge=0, le=86_400)
    max_dirty_age_seconds: float = Field(600, ge=0, le=604_800)
    stale_ttl_seconds: float = Field(86_400, ge=60)
    turn_threshold: int = Field(5, ge=0, le=10_000)
    max_cross_session_reprioritize: int = Field(5, ge=0, le=1000)
    per_agent_concurrency: int = Field(1, ge=1, le=1000)
    lease_seconds: float = Field(8, ge=1, le=600)
    ticket_seconds: float = Field(60, ge=1, le=3600)
    retry_interval_seconds: float = Field(30, ge=0.5, le=3600)
    max_queued: int = Field(1000, ge=1)
    batch_seconds: float = Field(0.1, ge=0, le=10)
    batch: Batch = Batch()
    extractor: ExtractorSettings = ExtractorSettings()
    curation: Curation = Curation()


class Days(Section):
    """The day boundary of a new agent (known agents keep their own), and when days are summarised."""

    timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    cutoff_hour: int = Field(0, ge=0, le=23)
    autoload_summary_days: int = Field(2, ge=0, le=366)
    realtime_summary_turn_threshold: int = Field(20, ge=1, le=100_000)
    quiet_seconds: float = Field(600, ge=1, le=604_800)
    max_summary_words: int = Field(220, ge=20, le=5000)
    daily_summary_use_model: bool = False


class Maintenance(Section):
    """The opportunistic scheduler: how often it checks, and how long a run counts as alive without a heartbeat."""

    tick_seconds: float = Field(900, ge=1, le=86_400)
    lease_seconds: float = Field(60, ge=1, le=3600)
    tick_after_writes: bool = False


class MemorySettings(Section):
    """All settings under `memory.`."""

    backend: Literal["postgres", "file", "mem0"] = "postgres"
    source: Literal["events", "agno"] = "events"
    tools: Tools = Tools()
    auto_flush: AutoFlush = AutoFlush()
    consolidation: Consolidation = Consolidation()
    maintenance: Maintenance = Maintenance()
    days: Days = Days()
    files: Files = Files()
    sessions: Sessions = Sessions()
    retention: Retention = Retention()
    llm: Llm = Llm()
    embeddings: Embeddings = Embeddings()
    mem0: Mem0 = Mem0()
    agno: Agno = Agno()


class Settings(Section):
    """The settings of a process, as `load_settings` reads them.

    Attributes:
        database_url: the URL of Postgres, postgresql://…
        read_database_url: the URL of a streaming replica that answers `context` and `search`, or "".
        broker_url: the URL of the broker: redis://…, rediss://… or sentinel://…;sentinel://…
        broker_master: the master's name among the sentinels.
        broker_ca: a file with the certificate authorities of a rediss:// broker.
        spool: the folder for events while Postgres can't be reached.
        tenant: the tenant of the agents.
        tracing: True if hooks and tasks make OpenTelemetry spans.
        log_format: the log format of all processes.
        liveness_file: the file that a worker or beat touches.
        memory: the settings of memory.
        gateway: the settings of the gateway.
        console: the settings of the console.
    """

    database_url: str = "postgresql://slowwave@localhost:5432/slowwave"
    read_database_url: str = ""
    broker_url: str = "redis://localhost:6379/0"
    broker_master: str = Field("mymaster", min_length=1)
    broker_ca: str = ""
    tenant: str = Field("default", min_length=1, max_length=200)
    spool: Path = Path("~/.local/state/slowwave/spool")
    liveness_file: str = ""
    tracing: bool = False
    log_format: Literal["text", "json"] = "text"
    memory: MemorySettings = MemorySettings()
    console: Console = Console()
    gateway: Gateway = Gateway()


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> dict[str, Any]:
    """Return every leaf key with its default: {"memory.auto_flush.idle_seconds": 120, …}."""
    keys: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            keys |= known_keys(field.annotation, f"{path}.")
        else:
            keys[path] = field.get_default()
    return keys


def variable_of(key: str) -> str:
    """Return the variable of a key: `memory.auto_flush.idle_seconds` → `SLOWWAVE_MEMORY__AUTO_FLUSH__IDLE_SECONDS`."""
    return PREFIX + key.replace(".", "__").upper()


def load_settings(
    environment: Mapping[str, str] | None = None, *, file: Path | None = None, **overrides: Any
) -> Settings:
    """Read the settings of this process from a YAML file and the environment.

    Args:
        environment: the variables; by default those of this process.
        file: the YAML file; by default $SLOWWAVE_CONFIG, else `slowwave.yaml` in the working directory if it exists.
        overrides: top-level settings that win over both.

    Returns:
        The settings.

    Raises:
        InvalidSettings: names every invalid key, the allowed form of its value, and the nearest known key.

    Example:
        >>> settings = load_settings(tenant="acme")
    """
    environment = os.environ if environment is None else environment
    problems: list[str] = []
    tree = _read_file(file or _named_file(environment), problems)
    for variable, value in environment.items():
        if variable.startswith(PREFIX) and variable not in OTHER_VARIABLES:
            _put(tree, variable, value, problems)
    tree |= overrides
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        problems += (f"{key} ({variable_of(key)}): {told}" for key, told in plain_problems(Settings, error))
    if problems:
        raise InvalidSettings(*problems)
    return settings


def _named_file(environment: Mapping[str, str]) -> Path | None:
    if named := environment.get(FILE_VARIABLE):
        if not Path(named).is_file():
            raise InvalidSettings(f"{FILE_VARIABLE} names {named}, and there is no such file")
        return Path(named)
    return Path(DEFAULT_FILE) if Path(DEFAULT_FILE).is_file() else None


def _read_file(file: Path | None, problems: list[str]) -> dict[str, Any]:
    """Return a file's settings without unknown keys, which go to `problems`. Raises InvalidSettings."""
    if file is None:
        return {}
    import yaml  # noqa: PLC0415 (most processes have no file)

    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        raise InvalidSettings(f"{file} can't be read as YAML: {error}") from None
    if isinstance(tree, dict):
        return _known_part(tree, str(file), problems)
    raise InvalidSettings(f"{file} must hold keys and values, and holds a {type(tree).__name__}")


def _known_part(tree: Mapping[str, Any], where: str, problems: list[str], prefix: str = "") -> dict[str, Any]:
    known, kept = known_keys(), {}
    for name, value in tree.items():
        key = f"{prefix}{name}"
        is_section = any(k.startswith(f"{key}.") for k in known)
        if isinstance(value, Mapping) and is_section:
            kept[name] = _known_part(value, where, problems, f"{key}.")
        elif key in known or is_section:
            kept[name] = value
        else:
            problems.append(f"{where}: unknown key {key[:LONGEST_NAME]!r}{suggest_name(key, known)}")
    return kept


def _put(tree: dict[str, Any], variable: str, value: str, problems: list[str]) -> None:
    known = {variable_of(key): key for key in known_keys()}
    if variable not in known:
        problems.append(f"unknown variable {variable[:LONGEST_NAME]}{suggest_name(variable, known)}")
        return
    *path, leaf = known[variable].split(".")
    for part in path:
        inner: Any = tree.setdefault(part, {})
        if not isinstance(inner, dict):
            return  # another type of value is at this key; validation refuses it by its name
        tree = inner
    tree[leaf] = value
