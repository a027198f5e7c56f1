"""Make one mem0 client per process from the settings, on first use.

mem0 reads its environment at import, so this module first switches off telemetry and sets mem0's folder, which is
beside the memory files. mem0 runs without its history, without its model, and without optional parts that would
download language data.
"""

import logging
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from slowwave.call_timeout import CallTimeout
from slowwave.embedding import Embedder, EmbeddingFailed, build_embedder
from slowwave.errors import InvalidSettings, SlowwaveError
from slowwave.mem0_backend.copy_store import BatchEmbedder, CopyStore, Mem0Failed, Mem0Store, NoHistory, NoModel
from slowwave.mem0_backend.rows import TABLE, Connections
from slowwave.settings import Embeddings, Settings

TELEMETRY = "MEM0_TELEMETRY"
WAIT_SECONDS = 10.0
"""A reader waits no longer; the first one of a process waits for mem0 to be imported, too."""

# mem0 always makes a client for this model, but never calls it.
_LOCAL = Embeddings(driver="local")
_NOBODY: dict[str, Any] = {"provider": "openai", "config": {"api_key": "none"}}


class Mem0Connection:
    """The mem0 client of the settings, connected on first use and after a fork. call_timeout: the timeout of reads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.call_timeout = CallTimeout(WAIT_SECONDS)
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._store: CopyStore | None = None
        self._pid = os.getpid()

    def warm(self) -> None:
        """Start to connect in a thread. A failure is raised on first use of the store."""
        threading.Thread(target=self._connect_ahead, name="slowwave-mem0", daemon=True).start()

    def _connect_ahead(self) -> None:
        with suppress(SlowwaveError):
            self.store()

    def store(self) -> CopyStore:
        """Return the store. Raises Mem0Failed, EmbeddingFailed, and InvalidSettings with what is missing."""
        if self._pid != os.getpid():
            self._begin()
        with self._lock:
            if self._store is None:
                self._store = connect(self._settings)
            return self._store


def connect(settings: Settings, embedder: Embedder | None = None) -> CopyStore:
    """Return a mem0 client with these settings. Raises InvalidSettings, Mem0Failed, EmbeddingFailed."""
    given = _given(settings.memory.mem0.config)
    mem0 = _import(settings.memory.files.root.expanduser())
    own: dict[str, Any] = given.get("embedder") or {}
    embedder = None if own else embedder or _embedder(settings.memory.embeddings)
    identity = _identity(own) if embedder is None else embedder.name
    config = given | {"llm": _NOBODY, "history_db_path": ":memory:", "embedder": own or _NOBODY}
    config["vector_store"] = _vector_store(given.get("vector_store"), settings.database_url, embedder)
    try:
        memory = mem0.Memory.from_config(config)
    except (ValueError, TypeError, ImportError) as error:
        where = settings.memory.mem0.config or "the default"
        raise InvalidSettings(f"memory.mem0.config: mem0 can't be made of {where}: {type(error).__name__}") from error
    except Exception as error:
        # Some vector stores connect at once and raise their own errors.
        raise Mem0Failed(f"mem0 can't be connected: {type(error).__name__}") from error
    memory.db.close()
    memory.db, memory.llm = NoHistory(), NoModel()
    ours = None if embedder is None else BatchEmbedder(embedder)
    if ours is not None:
        memory.embedding_model = ours
    return Mem0Store(memory, identity, ours)


def identity_of(settings: Settings) -> str:
    """Return the name of the model that makes mem0's vectors, without loading it. Raises InvalidSettings."""
    if own := _given(settings.memory.mem0.config).get("embedder"):
        return _identity(own)
    chosen = build_embedder(settings.memory.embeddings) or build_embedder(_LOCAL)
    return chosen.name if chosen is not None else ""


def _identity(own: Mapping[str, Any]) -> str:
    return f"mem0 {own.get('provider', 'openai')} {(own.get('config') or {}).get('model', '')}".rstrip()


def needs_rows(settings: Settings) -> bool:
    """Return True if mem0 stores its rows in this Postgres, because no other vector store is configured."""
    return not _given(settings.memory.mem0.config).get("vector_store")


def _given(file: str) -> dict[str, Any]:
    if not file:
        return {}
    try:
        # JSON is valid YAML.
        tree = yaml.safe_load(Path(file).expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidSettings(f"memory.mem0.config: {file} can't be read: {type(error).__name__}") from None
    sections = ("vector_store", "embedder")
    if not isinstance(tree, dict) or not all(isinstance(tree.get(section, {}), dict) for section in sections):
        raise InvalidSettings(f"memory.mem0.config: {file} must hold what mem0's `Memory.from_config` takes")
    return tree


def _embedder(settings: Embeddings) -> Embedder:
    """Return the configured embedder, else the local model: mem0 needs vectors. Raises InvalidSettings."""
    if chosen := build_embedder(settings):
        return chosen
    local = build_embedder(_LOCAL)
    try:
        if local is not None and local.embed(["Is it here?"]):
            return local
    except EmbeddingFailed as error:
        raise InvalidSettings(
            "memory.backend mem0 needs vectors: set memory.embeddings.driver, or give mem0 an embedder of its own in"
            f" memory.mem0.config. The local one can't be used: {error}"
        ) from None
    raise AssertionError("not reached")


def _vector_store(given: dict[str, Any] | None, database_url: str, embedder: Embedder | None) -> dict[str, Any]:
    if given:
        if embedder is None:
            return given
        # By default, mem0 assumes vectors with 1,536 dimensions.
        config = {"embedding_model_dims": len(embedder.embed(["How long is it?"])[0])} | (given.get("config") or {})
        return given | {"config": config}
    # An index finds the rows of one scope, and they are compared one by one. This is exact, while a vector index would
    # search the nearest rows of all scopes.
    rows = {"connection_pool": Connections(database_url), "collection_name": TABLE, "hnsw": False}
    return {"provider": "pgvector", "config": rows}


def _import(root: Path) -> Any:
    # mem0 reads both variables only when it is imported.
    os.environ[TELEMETRY] = "False"
    os.environ.setdefault("MEM0_DIR", str(root.parent / "mem0"))
    began = "mem0" not in sys.modules
    try:
        import mem0  # noqa: PLC0415 (an optional extra, and what it reads is set above)
        from mem0.memory import telemetry  # noqa: PLC0415 (as above)
        from mem0.utils import spacy_models  # noqa: PLC0415 (as above)
    except ImportError as error:
        raise InvalidSettings(
            f"memory.backend is mem0, and the package {error.name} is not installed: "
            "install the extra `mem0` of slowwave (docs/install.md)"
        ) from None
    except OSError as error:
        folder = os.environ["MEM0_DIR"]
        raise InvalidSettings(
            f"mem0 can't keep its settings in {folder} ({error.strerror}): set MEM0_DIR to a folder that it may write"
        ) from None
    if not began and telemetry.MEM0_TELEMETRY:
        raise InvalidSettings(
            f"mem0 was imported with its telemetry on before Slowwave used it: set {TELEMETRY}=False for this process"
        )
    # If spaCy is installed, mem0 would download a language model, and processes could then produce different copies.
    spacy_models._load_failed_full = spacy_models._load_failed_lemma = True  # noqa: SLF001 (it has no setting for that)
    # Below this level mem0 logs the text of memories.
    logging.getLogger("mem0").setLevel(logging.WARNING)
    return mem0
